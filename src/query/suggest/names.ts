/** The names that a version suggests: makes, models, trims, body types, features, states and dealers of its active listings, in memory. */
import { serviceJob } from "../../db/job.ts";
import { sql } from "../../db/sql.ts";
import { matchKeyOf, wordsOf } from "../../db/text-matching.ts";
import type { Manifest } from "../../lake/manifest.ts";
import type { CountedName } from "../../listing/schema.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";

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
  /** The match keys of its text and its value. */
  readonly keys: readonly string[];
  readonly words: readonly string[];
}

export const findable = (suggestion: Suggestion): Name => ({
  suggestion,
  keys: [matchKeyOf(suggestion.text), matchKeyOf(suggestion.value)],
  words: wordsOf(suggestion.text),
});

const namedAttributes = [
  "make",
  "model",
  "trim",
  "body_type",
  "features",
  "state",
] as const satisfies readonly CountedName[];

/** More than the values of any attribute. */
const valuesMax = 1_000_000;

const known = new WeakMap<Manifest, Promise<readonly Name[]>>();

/** Returns the names of a version. They are read once, on behalf of all requests. */
export function namesOfVersion(version: LakeVersion): Promise<readonly Name[]> {
  const { manifest } = version;
  const kept = known.get(manifest);
  if (kept !== undefined) return kept;
  const names = readNames(version.withJob(serviceJob()));
  known.set(manifest, names);
  names.catch(() => known.delete(manifest));
  return names;
}

async function readNames(version: LakeVersion): Promise<readonly Name[]> {
  const request = { filters: [], attributes: namedAttributes, limit: valuesMax, sort: "-count", numbers: [] } as const;
  const [{ values }, makes] = await Promise.all([
    version.activeOn(version.manifest.as_of).countValues(request),
    makesOfModels(version),
  ]);
  const ofListings = namedAttributes.flatMap((attribute) =>
    (values.get(attribute) ?? []).flatMap(({ value, count }): readonly Suggestion[] => {
      // In a parameter, a comma separates values.
      if (value.includes(",")) return [];
      const make = attribute === "model" ? makes.get(value.toLowerCase()) : undefined;
      const filters = { ...(make === undefined ? {} : { make }), [attribute]: value };
      return [{ text: make === undefined ? value : `${make} ${value}`, attribute, value, count, filters }];
    }),
  );
  const ofDealers = version.dealers.dealers.map(({ profile }): Suggestion => {
    const { name, city, state, dealer_id: id, listing_count: count } = profile;
    const place = [city, state].filter((part) => typeof part === "string").join(", ");
    const text = place === "" ? String(name) : `${String(name)} (${place})`;
    return {
      text,
      attribute: "dealer_id",
      value: String(id),
      count: Number(count),
      filters: { dealer_id: String(id) },
    };
  });
  return [...ofListings, ...ofDealers].map(findable);
}

/** Returns the make of each model that one make alone has, by the model in lower case. */
async function makesOfModels(version: LakeVersion): Promise<ReadonlyMap<string, string>> {
  const rows = await version.rows(sql`
    SELECT lower(model) AS model, min(make) AS make FROM builds WHERE make IS NOT NULL AND model IS NOT NULL
    GROUP BY lower(model) HAVING count(DISTINCT lower(make)) = 1`);
  return new Map(rows.map(({ model, make }) => [String(model), String(make)]));
}
