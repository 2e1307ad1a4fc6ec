/**
 * Normalizes the spelling of open vocabularies (make, trim, color, ...): values that differ only in case or punctuation get one spelling.
 *
 * The canonical list (`data/reference/spellings.csv`) comes first, then the spelling that the lake already has, then the most frequent one
 * of the delivery.
 */
import { projectPath } from "../../base/project-files.ts";
import type { Session } from "../../db/duckdb.ts";
import { any, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import { caseFold, matchKey } from "../../db/text-matching.ts";
import { feed } from "../feed/feed-schema.ts";
import { isMarker, markersOf } from "./unknown-markers.ts";

/** Returns the key under which the spellings of a row's `attribute` are equal. */
export const spellingKey = (text: Sql): Sql =>
  sql`CASE WHEN attribute IN ('make', 'model') THEN ${matchKey(text)} ELSE ${caseFold(text)} END`;

/**
 * Creates the tables `canonical_of` (attribute, key, canonical, canonical_key) and `color_words` (word, base_color) from `data/reference/`.
 * They are the same for every day.
 */
export async function loadReferenceTables(session: Session): Promise<void> {
  const from = (file: string) =>
    sql`FROM read_csv(${pathLiteral(projectPath(`data/reference/${file}`))}, header = true, all_varchar = true)`;
  await session.createTempTable(
    "canonical_of",
    sql`SELECT *, ${spellingKey(sql`canonical`)} AS canonical_key
        FROM (SELECT attribute, ${spellingKey(sql`spelling`)} AS key, min(canonical) AS canonical ${from("spellings.csv")} GROUP BY ALL)`,
  );
  await session.createTempTable("color_words", sql`SELECT * ${from("colors.csv")}`);
}

/** The base colors of the exterior and the interior share a canonical list. All other vocabularies have that of their name. */
export const attributeOfVocabulary = sql`if(starts_with(vocabulary, 'base_'), 'base_color', vocabulary)`;

/** Collapses white space and replaces the character that separates the attribute's values in a query string. */
const cleanValue = sql`trim(regexp_replace(
  if(attribute = 'assembly_location', replace(value, '|', '/'), replace(value, ',', ' ')), '\\s+', ' ', 'g'))`;

/** A condition: a cleaned value is a marker, such as one among the items of a list. All others are null already. */
function isUnknown(): Sql {
  const fields = Object.entries(feed.inventory.properties);
  const lists = [...new Set(fields.map(([, field]) => markersOf(field)))].filter((markers) => markers.length > 0);
  return any(
    lists.map((markers) => {
      const names = fields.filter(([, field]) => markersOf(field) === markers).map(([name]) => name);
      return sql`list_contains(${names}, attribute) AND ${isMarker(sql`cleaned`, markers)}`;
    }),
  );
}

/**
 * Creates the table `spellings` (vocabulary, raw_value, spelling) with a row for each value of the delivery. `values` has the columns
 * vocabulary, value and uses: in how many rows of the delivery, or 0 for a spelling in the lake.
 */
export async function createSpellingsTable(session: Session, values: Sql): Promise<void> {
  await session.createTempTable(
    "spellings",
    sql`
    WITH distinct_values AS (
      SELECT vocabulary, value, ${attributeOfVocabulary} AS attribute, uses = 0 AS is_in_lake, sum(uses) AS n
      FROM (${values}) WHERE value IS NOT NULL GROUP BY ALL
    ), keyed AS (
      SELECT *, ${spellingKey(sql`cleaned`)} AS key FROM (SELECT *, if(is_in_lake, value, ${cleanValue}) AS cleaned FROM distinct_values)
    ), spelled AS (
      SELECT vocabulary, value, is_in_lake, n, cleaned, keyed.attribute, coalesce(canonical, cleaned) AS spelling, coalesce(canonical_key, keyed.key) AS key,
             CASE WHEN is_in_lake THEN 1 WHEN canonical IS NOT NULL THEN 0 ELSE 2 END AS rank
      FROM keyed LEFT JOIN canonical_of
        ON canonical_of.attribute = keyed.attribute AND canonical_of.key = keyed.key AND NOT is_in_lake
    ), chosen AS (
      SELECT DISTINCT ON (vocabulary, key) vocabulary, key, spelling
      FROM (SELECT vocabulary, key, spelling, rank, sum(n) AS n FROM spelled GROUP BY ALL)
      ORDER BY vocabulary, key, rank, n DESC, spelling
    )
    SELECT vocabulary, value AS raw_value, if(key = '' OR ${isUnknown()}, NULL, chosen.spelling) AS spelling
    FROM spelled JOIN chosen USING (vocabulary, key) WHERE NOT is_in_lake`,
  );
}

/** Counts values that the closed list of their vocabulary lacks: columns vocabulary, value and uses, the commonest first. `values` is as above. */
export const valuesOutside = (values: Sql): Sql => sql`
  SELECT vocabulary, any_value(cleaned) AS value, sum(uses)::INTEGER AS uses
  FROM (SELECT *, ${spellingKey(sql`cleaned`)} AS key FROM (SELECT *, ${cleanValue} AS cleaned FROM (SELECT *, ${attributeOfVocabulary} AS attribute FROM (${values}))))
  WHERE key <> '' AND attribute IN (SELECT attribute FROM canonical_of) AND (attribute, key) NOT IN (SELECT (attribute, key) FROM canonical_of)
  GROUP BY vocabulary, key ORDER BY vocabulary, uses DESC, value`;
