/** The names that a version suggests: makes, models, trims, features and so on of its active listings, and its dealers, in memory. */
import { listItem } from "../../contract/lists.ts";
import { sql } from "../../db/sql.ts";
import { matchKeyOf, wordsOf } from "../../db/text-matching.ts";
import type { CountedName } from "../../listing/schema.ts";
import { oncePerVersion } from "../../serving/kept-versions.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { spellingsOf } from "./reference-words.ts";

/** Schema `Suggestion`. */
export interface Suggestion {
  readonly text: string;
  readonly attribute: string;
  readonly value: string;
  readonly count: number;
  /** Parameters of listing search. */
  readonly filters: Readonly<Record<string, string>>;
}

/** A suggestion, and what it is found by. */
export interface Name {
  readonly suggestion: Suggestion;
  /** The match keys of its text and its value, and of other spellings. */
  readonly keys: readonly string[];
  readonly words: readonly string[];
}

export const findable = (suggestion: Suggestion, others: readonly string[] = []): Name => ({
  suggestion,
  keys: [matchKeyOf(suggestion.text), matchKeyOf(suggestion.value), ...others.map(matchKeyOf)],
  words: wordsOf(suggestion.text),
});

/** The names of a version, and which model has which trim. */
export interface VersionNames {
  readonly names: readonly Name[];
  /** `trimKeyOf` a model and a trim that a build has. */
  readonly trims: ReadonlySet<string>;
}

export const trimKeyOf = (model: string, trim: string): string => `${model}\n${trim}`.toLowerCase();

const namedAttributes = [
  "make",
  "model",
  "trim",
  "body_type",
  "drivetrain",
  "fuel_type",
  "powertrain_type",
  "transmission",
  "base_exterior_color",
  "inventory_type",
  "features",
  "state",
] as const satisfies readonly CountedName[];

/** More than the values of any attribute. */
const valuesMax = 1_000_000;

/** Returns the names of a version. They are read once, on behalf of all requests. */
export const namesOfVersion = oncePerVersion(readNames);

async function readNames(version: LakeVersion): Promise<VersionNames> {
  const request = { filters: [], attributes: namedAttributes, limit: valuesMax, sort: "-count", numbers: [] } as const;
  const [{ values }, models, trims] = await Promise.all([
    version.activeOn(version.manifest.as_of).countValues(request),
    makesOfModels(version),
    trimsOfModels(version),
  ]);
  const ofListings = namedAttributes.flatMap((attribute) =>
    (values.get(attribute) ?? []).map(({ value, count }): Name => {
      const make = attribute === "model" ? models.get(value.toLowerCase()) : undefined;
      const filters = { ...(make === undefined ? {} : { make: listItem(make) }), [attribute]: listItem(value) };
      const text = make === undefined ? value : `${make} ${value}`;
      return findable({ text, attribute, value, count, filters }, spellingsOf(attribute, value));
    }),
  );
  const ofDealers = version.dealers.dealers.map(({ profile }): Name => {
    const { name, city, state, dealer_id: id, listing_count: count } = profile;
    const place = [city, state].filter((part) => typeof part === "string").join(", ");
    const text = place === "" ? String(name) : `${String(name)} (${place})`;
    const dealer = { text, attribute: "dealer_id", value: String(id), count: Number(count) };
    return findable({ ...dealer, filters: { dealer_id: String(id) } }, [String(name)]);
  });
  return { names: [...ofListings, ...ofDealers], trims };
}

/** Returns `trimKeyOf` each model and trim that a build has. */
async function trimsOfModels(version: LakeVersion): Promise<ReadonlySet<string>> {
  const rows = await version.rows(
    sql`SELECT DISTINCT model, trim FROM builds WHERE model IS NOT NULL AND trim IS NOT NULL`,
  );
  return new Set(rows.map(({ model, trim }) => trimKeyOf(String(model), String(trim))));
}

/** Returns the make of each model that one make alone has, and no vehicle of an unknown make, by the model in lower case. */
async function makesOfModels(version: LakeVersion): Promise<ReadonlyMap<string, string>> {
  const rows = await version.rows(sql`
    SELECT lower(model) AS model, min(make) AS make FROM builds WHERE model IS NOT NULL
    GROUP BY lower(model) HAVING count(DISTINCT lower(coalesce(make, ''))) = 1 AND min(make) IS NOT NULL`);
  return new Map(rows.map(({ model, make }) => [String(model), String(make)]));
}
