/**
 * Lexicon of a version: what words of a question stand for. It consists of the version's names, the spellings of values and the phrases in
 * `data/reference/`. The meanings of a word are in the order of `precedence`.
 */
import { ownValue } from "../../base/json.ts";
import { joinList } from "../../contract/lists.ts";
import { matchKeyOf } from "../../db/text-matching.ts";
import { oncePerVersion } from "../../serving/kept-versions.ts";
import { listingParameters } from "./merge-filters.ts";
import { nearestKeys } from "./misspellings.ts";
import { type Name, namesOfVersion, type Suggestion, trimKeyOf, type VersionNames } from "./names.ts";
import type { Meaning } from "./reading.ts";
import { referenceWords, spellingsOf } from "./reference-words.ts";

/** Which meaning of a word counts. The makes of which it is another spelling come after models: Range Rover is a model. */
const precedence = [
  ...["inventory_type", "inventory_status", "availability_status", "keywords", "exclude_keywords", "min_price_drops"],
  ...["value_rating", "sort"],
  ...["dealer_type", "make", "body_type", "fuel_type", "powertrain_type", "drivetrain", "transmission"],
  ...["base_exterior_color", "model", "spelling of make", "features", "cylinders", "trim", "state", "dealer_id"],
];

interface RankedMeaning extends Meaning {
  readonly rank: number;
}

export class Lexicon {
  private readonly meanings: ReadonlyMap<string, readonly Meaning[]>;
  /** The keys that misspelt words are compared with. */
  private readonly correctKeys: readonly string[];

  constructor(
    private readonly version: VersionNames,
    readonly years: readonly number[],
    readonly asOf: string,
  ) {
    const collected = new Map<string, RankedMeaning[]>();
    for (const [key, meaning] of [
      ...[...meaningsOfNames(version.names)].filter(([key, { attribute }]) => !isPhrase(attribute, key)),
      ...meaningsOfReferences(),
      ...families(version.names),
    ])
      collected.set(key, [...(collected.get(key) ?? []), meaning]);
    this.meanings = new Map([...collected].map(([key, meanings]) => [key, inOrder(meanings)]));
    this.correctKeys = [...this.meanings.keys()].filter((key) =>
      this.meanings.get(key)?.some(({ attribute }) => attribute !== "dealer_id"),
    );
  }

  get names(): readonly Name[] {
    return this.version.names;
  }

  /**
   * Returns what a key stands for, the meaning that counts first. If its last word can be a plural, this is the plural of a make, a model and so on, and
   * no name that ends with S, such as Turbo S.
   */
  meaningsOf(key: string, lastWord = key): readonly Meaning[] {
    const meanings = this.meanings.get(key) ?? [];
    if (!/(\p{L}{3}|\d)s$/u.test(lastWord)) return meanings;
    const singular = (this.meanings.get(key.slice(0, -1)) ?? []).filter(({ attribute }) => attribute !== "trim");
    const others = meanings.filter(({ value }) => !/ S$/.test(value));
    return others.length > 0 ? others : singular;
  }

  isTrimOf(model: string, trim: string): boolean {
    return this.version.trims.has(trimKeyOf(model, trim));
  }

  /** Returns the meanings of the one known word that a misspelt one is nearest to. */
  correct(key: string): readonly Meaning[] {
    const nearest = nearestKeys(key, this.correctKeys);
    const meanings = nearest.map((known) => this.meaningsOf(known));
    const values = new Set(meanings.map(([first]) => `${first?.attribute} ${first?.value}`));
    return values.size === 1 ? (meanings[0] ?? []) : [];
  }
}

function* meaningsOfNames(names: readonly Name[]): Iterable<readonly [string, RankedMeaning]> {
  for (const { suggestion, keys } of names)
    for (const [index, key] of keys.entries()) {
      if (index >= ownKeys && isCode(key)) continue;
      const { attribute, value, filters } = suggestion;
      const meaning = { attribute, value, filters, rank: rankOf(attribute, index < ownKeys) };
      yield [key, meaning];
      const [, material] = attribute === "features" ? (seats.exec(key) ?? []) : [];
      if (material !== undefined && materials().has(material)) yield [material, meaning];
    }
}

/** Whether a table says what a word stands for, whichever value has its name: used cars are also those that are sold as certified. */
function isPhrase(attribute: string, key: string): boolean {
  phraseKeys ??= new Set(referenceWords("phrases").map((phrase) => `${phrase.kind} ${phrase.key}`));
  return phraseKeys.has(`${attribute} ${key}`);
}

let phraseKeys: ReadonlySet<string> | undefined;

/** One letter is a code of feeds, not a word. */
const isCode = (key: string): boolean => key.length === 1;

/** Leather stands for leather seats. */
const seats = /^(\p{L}+?)(seats|seating|upholstery|interior)$/u;
const materials = (): ReadonlySet<string> =>
  new Set(referenceWords("phrases").flatMap(({ kind, key }) => (kind === "material" ? [key] : [])));

/** The number of keys of a name that are no other spellings. */
const ownKeys = 2;

const rankOf = (attribute: string, isName: boolean): number =>
  precedence.indexOf(attribute === "make" && !isName ? "spelling of make" : attribute);

function* meaningsOfReferences(): Iterable<readonly [string, RankedMeaning]> {
  for (const table of ["spellings", "phrases"] as const)
    for (const { kind, key, value } of referenceWords(table)) {
      const attribute = kind === "base_color" ? "base_exterior_color" : kind;
      if (!(attribute in listingParameters) || isCode(key)) continue;
      const rank = rankOf(attribute, key === matchKeyOf(value));
      if (rank >= 0) yield [key, { attribute, value, filters: { [attribute]: value }, rank }];
    }
}

/** Words that names have in common, with what they are called: the kind of a transmission, and its gears; a model without its number (Silverado), and up to it (F-250). */
const commonParts: Readonly<Record<string, (name: string) => readonly (readonly [words: string, value: string])[]>> = {
  transmission: (name) => {
    const gears = /\b(\d+|single)[- ]speed\b/i;
    const kind = name.replace(gears, "").trim();
    const ofGears = gears.exec(name)?.[0] ?? "";
    return [[ofGears, ofGears], ...[kind, ...spellingsOf("transmission", kind)].map((word) => [word, kind] as const)];
  },
  model: (name) =>
    [/^(.*?\D)[- ](?=\d)/, /^(.*\d)(?=\D+$)/].map((pattern) => {
      const part = pattern.exec(name)?.[1] ?? "";
      return [part, part];
    }),
};

/** Returns words that several names have in common, each with all of them; names themselves are no such words. */
function families(names: readonly Name[]): readonly (readonly [string, RankedMeaning])[] {
  const known = new Set(names.flatMap(({ suggestion, keys }) => (suggestion.attribute in commonParts ? keys : [])));
  const found = new Map<string, { readonly key: string; readonly value: string; readonly names: Set<Suggestion> }>();
  for (const { suggestion } of names)
    for (const [words, value] of ownValue(commonParts, suggestion.attribute)?.(suggestion.value) ?? []) {
      const key = matchKeyOf(words);
      if (key.length < 2 || known.has(key)) continue;
      const id = [suggestion.attribute, suggestion.filters.make, key].join("\n");
      const family = found.get(id) ?? { key, value, names: new Set() };
      found.set(id, family);
      family.names.add(suggestion);
    }
  return [...found.values()].map(({ key, value, names: all }) => {
    const [{ attribute, filters } = { attribute: "", filters: {} }] = all;
    const values = joinList([...all].map((name) => name.value));
    return [
      key,
      { attribute, value, filters: { ...filters, [attribute]: values }, rank: rankOf(attribute, true) - 0.5 },
    ];
  });
}

/** Returns meanings in their order, each once. Words for both are fuels, not powertrains. */
function inOrder(meanings: readonly RankedMeaning[]): readonly Meaning[] {
  const sorted = meanings.toSorted((one, other) => one.rank - other.rank);
  const isFuel = sorted.some(({ attribute }) => attribute === "fuel_type");
  const distinct = new Map<string, Meaning>();
  for (const { rank: _, ...meaning } of sorted) {
    const key = `${meaning.attribute} ${meaning.value}`;
    if (!(isFuel && meaning.attribute === "powertrain_type") && !distinct.has(key)) distinct.set(key, meaning);
  }
  return [...distinct.values()];
}

/** Returns the lexicon of a version. It is created once. */
export const lexiconOf = oncePerVersion(async (version) => {
  const years = version.dimensions.valuesOf("year").map(Number);
  return new Lexicon(
    await namesOfVersion(version),
    years.sort((one, other) => one - other),
    version.manifest.as_of,
  );
});
