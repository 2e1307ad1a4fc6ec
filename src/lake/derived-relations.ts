/** Relations that the service derives from the tables of a version when it opens it. */
import { ident, join, type Sql, sql } from "../db/sql.ts";
import { wordsIn } from "../db/text-matching.ts";
import { buildColumns } from "./tables.ts";

/**
 * Returns the newest row of every dealer, with `listing_count` (its listings among the given ones, under any of its keys) and `words` (its
 * search terms, each preceded by a space).
 */
export const dealerProfiles = (listings: Sql): Sql => sql`
  SELECT newest.*, coalesce(listing_count, 0)::INTEGER AS listing_count,
         ' ' || array_to_string(${wordsIn(sql`concat_ws(' ', "name", website, city)`)}, ' ') AS words
  FROM (SELECT DISTINCT ON (dealer_id) * FROM dealers ORDER BY dealer_id, dealer_key DESC) AS newest
  LEFT JOIN (SELECT dealer_id, count(*) AS listing_count FROM (${listings}) JOIN dealers USING (dealer_key) GROUP BY dealer_id) AS counted
    USING (dealer_id)`;

/** The distinct attribute values of all builds, as text, each with a `value_key`. */
export const buildValuesDictionary = sql`
  SELECT row_number() OVER (ORDER BY attribute, value)::INTEGER AS value_key, attribute, value
  FROM   (SELECT DISTINCT attribute, value FROM (${unpivotedBuilds()}))`;

/** The values of each build as keys of `build_words`. One join with it counts all build attributes in a single pass. */
export const buildValues = sql`
  SELECT value_key, build_key
  FROM   (${unpivotedBuilds()}) JOIN build_words USING (attribute, value)
  ORDER BY value_key, build_key`;

/** The place of each build in the sort order of listings; equal for builds that do not differ in it. */
export const buildPlaces = sql`
  SELECT build_key, dense_rank() OVER (ORDER BY make, model, year, trim)::INTEGER AS place FROM builds`;

/** Returns one row per build and known attribute value. */
function unpivotedBuilds(): Sql {
  const columns = Object.keys(buildColumns).map((column) => ident(column));
  const texts = columns.map((column) => sql`${column}::VARCHAR AS ${column}`);
  return sql`UNPIVOT (SELECT build_key, ${join(texts)} FROM builds) ON ${join(columns)} INTO NAME attribute VALUE value`;
}
