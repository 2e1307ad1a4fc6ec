/**
 * Normalizes the spelling of open vocabularies (make, trim, color, ...): values that differ only in case or punctuation get one spelling.
 *
 * The canonical list (`data/reference/spellings.csv`) comes first, then the spelling that the lake already has, then the most frequent one
 * of the delivery.
 */
import { projectPath } from "../../base/project-files.ts";
import type { Session } from "../../db/duckdb.ts";
import { join, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import { caseFold, matchKey } from "../../db/text-matching.ts";
import { feed } from "../feed/feed-schema.ts";
import { isMarker, markersOf } from "./unknown-markers.ts";

export interface OpenVocabulary {
  readonly name: string;
  /** Its name in the canonical list. */
  readonly attribute: string;
  /** The values of the delivery, one row for each use: column `value`. */
  readonly inUse: Sql;
  /** The spellings in the lake: column `value`. */
  readonly inLake: Sql;
}

/** Returns the key under which the spellings of a row's `attribute` are equal. */
const spellingKey = (text: Sql): Sql =>
  sql`CASE WHEN attribute IN ('make', 'model') THEN ${matchKey(text)} ELSE ${caseFold(text)} END`;

/** Creates the tables `canonical` (attribute, spelling, canonical) and `color_words` (word, base_color) from `data/reference/`. */
export async function loadReferenceTables(session: Session): Promise<void> {
  const from = (file: string) =>
    sql`FROM read_csv(${pathLiteral(projectPath(`data/reference/${file}`))}, header = true, all_varchar = true)`;
  await session.createTempTable("canonical", sql`SELECT * ${from("spellings.csv")}`);
  await session.createTempTable("color_words", sql`SELECT * ${from("colors.csv")}`);
}

/** Collapses white space and replaces the character that separates the attribute's values in a query string. */
function cleanValue(attribute: string, value: Sql): Sql {
  const withoutSeparator =
    attribute === "assembly_location" ? sql`replace(${value}, '|', '/')` : sql`replace(${value}, ',', ' ')`;
  return sql`trim(regexp_replace(${withoutSeparator}, '\\s+', ' ', 'g'))`;
}

/**
 * Creates the table `spellings` (vocabulary, raw_value, spelling) with a row for each value of the delivery. One statement for all
 * vocabularies: on a small feed, planning takes most of the time.
 */
export async function createSpellingsTable(session: Session, vocabularies: readonly OpenVocabulary[]): Promise<void> {
  await session.createTempTable(
    "spellings",
    sql`
    WITH canonical_of AS (
      SELECT attribute, ${spellingKey(sql`spelling`)} AS key, min(canonical) AS canonical FROM canonical GROUP BY ALL
    ), in_use AS (
      ${join(vocabularies.map(cleanedValues), sql` UNION ALL `)}
    ), in_lake AS (
      ${join(vocabularies.map(lakeValues), sql` UNION ALL `)}
    ), used AS (
      SELECT in_use.*, coalesce(canonical, cleaned) AS spelling, canonical IS NOT NULL AS is_canonical
      FROM (SELECT *, ${spellingKey(sql`cleaned`)} AS key FROM in_use) AS in_use LEFT JOIN canonical_of USING (attribute, key)
    ), candidates AS (
      SELECT vocabulary, ${spellingKey(sql`spelling`)} AS key, spelling, if(is_canonical, 0, 2) AS rank, sum(n) AS n FROM used GROUP BY ALL
      UNION ALL
      SELECT vocabulary, ${spellingKey(sql`value`)}, value, 1, 0 FROM in_lake
    ), chosen AS (
      SELECT DISTINCT ON (vocabulary, key) vocabulary, key, spelling FROM candidates ORDER BY vocabulary, key, rank, n DESC, spelling
    )
    SELECT used.vocabulary, value AS raw_value, if(chosen.key = '' OR is_unknown, NULL, chosen.spelling) AS spelling
    FROM (SELECT * REPLACE (${spellingKey(sql`spelling`)} AS key) FROM used) AS used JOIN chosen USING (vocabulary, key)`,
  );
}

/** Selects the distinct values of a vocabulary in the delivery, each with its frequency, cleaned. */
function cleanedValues({ name, attribute, inUse }: OpenVocabulary): Sql {
  // Markers among the items of a list; all others are null already.
  const isUnknown = isMarker(sql`cleaned`, markersOf(feed.inventory.properties[attribute]));
  return sql`SELECT ${name} AS vocabulary, ${attribute} AS attribute, *, ${isUnknown} AS is_unknown
    FROM (SELECT value, count(*) AS n, ${cleanValue(attribute, sql`value`)} AS cleaned FROM (${inUse}) WHERE value IS NOT NULL GROUP BY value)`;
}

const lakeValues = ({ name, attribute, inLake }: OpenVocabulary): Sql =>
  sql`SELECT DISTINCT ${name} AS vocabulary, ${attribute} AS attribute, value FROM (${inLake}) WHERE value IS NOT NULL`;
