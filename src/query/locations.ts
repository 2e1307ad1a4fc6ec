/**
 * Locations of final assembly in `exclude_assembly_location`. Its separator `+` also encodes a space, and the names of locations have spaces, so
 * that only the locations of the data show where one ends.
 */
import { refuse } from "../contract/errors.ts";
import type { Dimensions } from "../serving/dimensions.ts";

/** The most locations of an `exclude_assembly_location`, like the `maxItems` of other lists. */
const locationsMax = 100;

interface DividedLocations {
  /** Locations as the data spells them. */
  readonly known: readonly string[];
  /** The text between locations. */
  readonly unknown: readonly string[];
}

/**
 * Divides values, which `%2B` separates in the query string, into known locations: with as few words as possible outside of them, and the
 * longest ones. Refuses more than `locationsMax` of them.
 */
export function divideLocations(values: readonly string[], dimensions: Dimensions): DividedLocations {
  const words = wordsOfList(values);
  const best = bestRuns(words, locationsOf(dimensions));
  const known: string[] = [];
  const unknown: string[] = [];
  let isAfterUnknown = false;
  for (let at = 0; at < words.length; ) {
    const { end, location } = best[at] ?? { end: words.length };
    const { text, separator } = words[at] ?? noWord;
    if (location !== undefined) known.push(location);
    else unknown.push(isAfterUnknown && separator === " " ? `${unknown.pop()} ${text}` : text);
    isAfterUnknown = location === undefined;
    at = end;
  }
  const divided = { known: [...new Set(known)], unknown: [...new Set(unknown)] };
  const count = divided.known.length + divided.unknown.length;
  if (count <= locationsMax) return divided;
  const allowed = `a list of at most ${locationsMax} items`;
  throw refuse("invalid_parameter_value", {
    parameter: "exclude_assembly_location",
    value: `(${count} items)`,
    allowed,
    hint: "",
  });
}

/** A word of a list, after a space or the separator `+`. */
interface Word {
  readonly text: string;
  readonly separator: " " | "+";
}

const noWord: Word = { text: "", separator: " " };

const wordsOfList = (values: readonly string[]): readonly Word[] =>
  values.flatMap((value) =>
    // Only a value in quotes has a plus, which is then a part of it.
    value
      .replaceAll(/ *\+ */g, "+")
      .split(/\s+/)
      .map((text, index): Word => ({ text, separator: index === 0 ? "+" : " " })),
  );

/** The locations of a version by name, and the most words that one has. */
interface KnownLocations {
  readonly byName: ReadonlyMap<string, string>;
  readonly wordsMax: number;
}

const knownByDimensions = new WeakMap<Dimensions, KnownLocations>();

function locationsOf(dimensions: Dimensions): KnownLocations {
  const cached = knownByDimensions.get(dimensions);
  if (cached !== undefined) return cached;
  const named = [...dimensions.valuesOf("assembly_location")].flatMap((location): (readonly [string, string])[] => {
    const name = location.toLowerCase().replaceAll(/ *\+ */g, "+");
    return [
      [name.replaceAll("+", " "), location],
      [name, location],
    ];
  });
  const wordsMax = Math.max(0, ...named.map(([name]) => name.split(" ").length));
  const locations = { byName: new Map(named), wordsMax };
  knownByDimensions.set(dimensions, locations);
  return locations;
}

/** The words from one on that are a location, or one word that belongs to none. */
interface Run {
  /** Exclusive. */
  readonly end: number;
  readonly location?: string;
  /** The cost of the best division from here on. */
  readonly cost: number;
}

/** More than the number of locations in a list. */
const unknownWordCost = 1_000_000;

/** Returns the run of the best division that starts at each word. */
function bestRuns(words: readonly Word[], { byName, wordsMax }: KnownLocations): readonly Run[] {
  const best: Run[] = [];
  for (let start = words.length - 1; start >= 0; start -= 1) {
    let run: Run = { end: start + 1, cost: unknownWordCost + (best[start + 1]?.cost ?? 0) };
    let name = "";
    for (let end = start + 1; end <= Math.min(words.length, start + wordsMax); end += 1) {
      const { text, separator } = words[end - 1] ?? noWord;
      name = end === start + 1 ? text.toLowerCase() : `${name}${separator}${text.toLowerCase()}`;
      const location = byName.get(name);
      const cost = 1 + (best[end]?.cost ?? 0);
      if (location !== undefined && cost <= run.cost) run = { end, location, cost };
    }
    best[start] = run;
  }
  return best;
}
