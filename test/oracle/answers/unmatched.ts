/** Oracle of `meta.unmatched`, and of the places in `exclude_assembly_location`. */
import { decodeValue, itemsOf, type Query } from "../random-requests/query.ts";
import type { OracleInventory } from "./inventory.ts";
import { meantBy, nearestTo, openAttributes, wordless } from "./vocabulary.ts";

interface Unmatched {
  readonly parameter: string;
  readonly value: string;
  readonly did_you_mean?: string;
}

const fold = (text: string): string => text.toLowerCase();

/** Letters and digits without accents, which a name and its slug share. */
export const nameKey = (name: string): string => fold(name.normalize("NFD").replaceAll(/[^\p{L}\p{N}]/gu, ""));

/** Returns the part of `meta` that reports values which the data has never had. */
export function oracleUnmatched(
  inventory: OracleInventory,
  query: Query,
): { readonly unmatched?: readonly Unmatched[] } {
  const values = openAttributes.flatMap((attribute) =>
    [attribute, `exclude_${attribute}`].flatMap((parameter) => {
      const raw = query.get(parameter);
      if (raw === undefined || parameter === "exclude_assembly_location") return [];
      const items = itemsOf(raw, parameter === "assembly_location" ? "|" : ",").map((item) => item.trim());
      return [...new Set(items)]
        .filter((item) => !isKnown(inventory, attribute, item))
        .map((value) => ({ attribute, parameter, value }));
    }),
  );
  const locations = query.get("exclude_assembly_location");
  const attribute = "assembly_location";
  const parameter = "exclude_assembly_location";
  if (locations !== undefined)
    values.push(...oracleLocations(inventory, locations).unknown.map((value) => ({ attribute, parameter, value })));
  const unmatched = values.map(({ attribute, parameter, value }, index) => {
    const words = wordless.includes(attribute) ? [] : (inventory.vocabulary.get(attribute) ?? []);
    const nearest = index < 10 ? (meantBy(attribute, value, words) ?? nearestTo(value, words)) : undefined;
    return { parameter, value, ...(nearest === undefined ? {} : { did_you_mean: nearest }) };
  });
  return unmatched.length === 0 ? {} : { unmatched };
}

function isKnown({ vocabulary }: OracleInventory, attribute: string, value: string): boolean {
  const isName = attribute === "make" || attribute === "model";
  return (vocabulary.get(attribute) ?? []).some(
    (known) =>
      fold(known) === fold(value) || (isName && /[\p{L}\p{N}]/u.test(value) && nameKey(known) === nameKey(value)),
  );
}

interface Division {
  readonly known: readonly string[];
  readonly unknown: readonly string[];
  readonly unknownWords: number;
}

/**
 * Divides a value into known places with the fewest words outside of them, then the fewest places. `+` in the decoded value, sent as
 * `%2B`, separates unless a place has it.
 */
export function oracleLocations({ assemblyLocations }: OracleInventory, raw: string): Division {
  const text = decodeValue(raw);
  const tries = new Map<number, Division>();
  const isBoundary = (at: number): boolean => at === text.length || text[at] === " " || text[at] === "+";
  const divide = (from: number): Division => {
    const known = tries.get(from);
    if (known !== undefined) return known;
    const best = isBoundary(from) ? afterSeparator(from) : fewestUnknown(from);
    tries.set(from, best);
    return best;
  };
  const afterSeparator = (at: number): Division =>
    at === text.length ? { known: [], unknown: [], unknownWords: 0 } : divide(at + 1);
  const fewestUnknown = (from: number): Division => {
    const ends = Array.from({ length: text.length - from }, (_, index) => from + index + 1).filter(isBoundary);
    const places = ends.toReversed().flatMap((end) => {
      const place = placeNamed(text.slice(from, end));
      const rest = place === undefined ? undefined : divide(end);
      return place === undefined || rest === undefined ? [] : [{ ...rest, known: [place, ...rest.known] }];
    });
    const end = ends[0] ?? text.length;
    const rest = divide(end);
    const skipped = { ...rest, unknown: [`${from}:${end}`, ...rest.unknown], unknownWords: rest.unknownWords + 1 };
    return [...places, skipped].reduce((best, one) => (isBetter(one, best) ? one : best));
  };
  const isBetter = (one: Division, other: Division): boolean =>
    one.unknownWords - other.unknownWords < 0 ||
    (one.unknownWords === other.unknownWords && one.known.length < other.known.length);
  const placeNamed = (name: string): string | undefined =>
    assemblyLocations.findLast((place) => fold(place) === fold(name)) ??
    assemblyLocations.findLast((place) => fold(place).replaceAll("+", " ") === fold(name));
  const division = divide(0);
  return { ...division, unknown: joined(text, division.unknown) };
}

/** Joins adjacent unknown words, given by their positions in a text. */
function joined(text: string, words: readonly string[]): readonly string[] {
  const runs: [from: number, to: number][] = [];
  for (const word of words) {
    const [from = 0, to = 0] = word.split(":").map(Number);
    const last = runs.at(-1);
    if (last !== undefined && text.slice(last[1], from) === " ") last[1] = to;
    else runs.push([from, to]);
  }
  return [...new Set(runs.map(([from, to]) => text.slice(from, to)))];
}
