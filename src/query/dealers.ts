/**
 * Dealers, by their newest profiles and with the number of their active listings (sections 4.6 and 4.7 of the specification):
 * `dealer_profiles`, which the market makes when it opens, is small, and searched as a whole.
 */
import { integerIn, type Row } from "../base/json.ts";
import { refuse } from "../contract/errors.ts";
import type { QueryOf } from "../contract/types.ts";
import { all, ident, join, literal, type Sql, sql } from "../db/sql.ts";
import { caseFold, matchKey, wordsIn } from "../db/text-matching.ts";
import type { LakeVersion } from "../serving/lake-version.ts";

export type DealerQuery = QueryOf<"searchDealers">;

/** What a profile is served with, in this order; all columns of `dealer_profiles`. */
const profile = ["dealer_id", "name", "city", "state", "postal_code", "country", "latitude", "longitude", "type"]
  .concat(["website", "makes", "listing_count"])
  .map((column) => ident(column));

const address = join(
  ["line1", "city", "state", "postal_code", "country"].map((column) => sql`${literal(column)}: ${ident(column)}`),
);

const isOneOf = (column: Sql, values: readonly string[], compared: (value: Sql) => Sql): Sql =>
  sql`${compared(column)} IN (${join(values.map((value) => compared(sql`${value}`)))})`;

/** What each filter of the dealer search requires of a profile. */
const filters: {
  readonly [P in Exclude<keyof DealerQuery, "limit" | "offset">]-?: (value: NonNullable<DealerQuery[P]>) => Sql;
} = {
  dealer_id: (ids) => isOneOf(ident("dealer_id"), ids, caseFold),
  state: (states) => isOneOf(ident("state"), states, caseFold),
  country: (countries) => isOneOf(ident("country"), countries, caseFold),
  type: (types) => isOneOf(ident("type"), types, caseFold),
  make: (makes) => sql`len(list_filter(makes, lambda make: ${isOneOf(sql`make`, makes, matchKey)})) > 0`,
  q: (text) => sql`(${hasWords(text)})`,
};

/** Every word that is asked for begins a word of the name, or of the domain of the website. */
function hasWords(text: string): Sql {
  const asked = sql`(SELECT ${wordsIn(sql`regexp_replace(${text}, '^\\s*(https?://)?(www\\.)?', '', 'i')`)})`;
  return sql`len(${asked}) > 0 AND len(list_filter(${asked}, lambda word: NOT contains(words, ' ' || word))) = 0`;
}

/** The condition on a profile that all filters of a search hold. */
function matching(query: DealerQuery): Sql {
  return all(
    Object.entries(filters).flatMap(([parameter, rule]) => {
      const value: unknown = query[parameter as keyof typeof filters];
      return value === undefined ? [] : [(rule as (value: unknown) => Sql)(value)];
    }),
  );
}

/** How many dealers a search finds: a row with `total`. */
export const totalOf = (query: DealerQuery): Sql =>
  sql`SELECT count(*)::INTEGER AS total FROM dealer_profiles WHERE ${matching(query)}`;

/** The page of a search: rows of schema `Dealer`. */
export const pageOf = (query: DealerQuery): Sql => sql`
  SELECT ${join(profile)} FROM dealer_profiles WHERE ${matching(query)}
  ORDER BY listing_count DESC, "name", dealer_id LIMIT ${query.limit} OFFSET ${query.offset}`;

/** The answer to `totalOf`, checked. */
export const readTotal = (rows: readonly Row[]): number => integerIn(rows[0], "total");

/** The profile of a dealer, as schema `DealerDetail`; refuses what is no dealer's id, whatever its form, as not found. */
export async function findDealer(id: string, version: LakeVersion): Promise<Row> {
  const [dealer] = await version.rows(sql`
    SELECT ${join(profile)}, phone, {${address}} AS address FROM dealer_profiles WHERE dealer_id = ${caseFold(sql`${id}`)}`);
  if (dealer === undefined) throw refuse("not_found", { what: "dealer", id });
  return dealer;
}
