/**
 * Normalizes the spelling of open vocabularies (make, trim, color, ...): values that differ only in case or punctuation get one spelling.
 *
 * The canonical list (`data/reference/spellings.csv`) comes first, then the spelling that the lake already has, then the most frequent one
 * of the delivery.
 */
import { projectPath } from "../../base/project-files.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import { caseFold, matchKey } from "../../db/text-matching.ts";
import { feed } from "../feed/feed-schema.ts";
import { isMarker, markersOf } from "./unknown-markers.ts";

export interface OpenVocabulary {
  /** Name of the attribute in the canonical list. */
  readonly attribute: string;
  /** The values of the delivery and their frequency: columns `value` and `n`. */
  readonly inUse: Sql;
  /** The spellings in the lake: column `value`. */
  readonly inLake: Sql;
}

/** The key under which spellings are equal, for attributes where it is not case folding. */
const spellingKeys: Readonly<Record<string, (text: Sql) => Sql>> = { make: matchKey, model: matchKey };

/** Creates the tables `canonical` (attribute, spelling, canonical) and `color_words` (word, base_color) from `data/reference/`. */
export async function loadReferenceTables(session: Session): Promise<void> {
  const from = (file: string) =>
    sql`FROM read_csv(${pathLiteral(projectPath(`data/reference/${file}`))}, header = true, all_varchar = true)`;
  await session.createTempTable("canonical", sql`SELECT * ${from("spellings.csv")}`);
  await session.createTempTable("color_words", sql`SELECT * ${from("colors.csv")}`);
}

/** Returns the name of an attribute's spelling table: columns `raw_value` and `spelling`. */
export const spellingTable = (attribute: string): string => `spelling_of_${attribute}`;

/** Collapses white space and replaces the character that separates the attribute's values in a query string. */
function cleanValue(attribute: string, value: Sql): Sql {
  const withoutSeparator =
    attribute === "assembly_location" ? sql`replace(${value}, '|', '/')` : sql`replace(${value}, ',', ' ')`;
  return sql`trim(regexp_replace(${withoutSeparator}, '\\s+', ' ', 'g'))`;
}

/** Creates the spelling table of a vocabulary, with a row for each value of the delivery. */
export async function createSpellingTable(
  session: Session,
  { attribute, inUse, inLake }: OpenVocabulary,
): Promise<void> {
  const key = spellingKeys[attribute] ?? caseFold;
  // Markers among the items of a list; all others are null already.
  const isUnknown = isMarker(sql`used.cleaned`, markersOf(feed.inventory.properties[attribute]));
  await session.createTempTable(
    spellingTable(attribute),
    sql`
    WITH canonical_of AS (
      SELECT ${key(sql`spelling`)} AS key, min(canonical) AS canonical FROM canonical WHERE attribute = ${attribute} GROUP BY key
    ), used AS (
      SELECT value, n, cleaned, coalesce(canonical, cleaned) AS spelling, canonical IS NOT NULL AS is_canonical
      FROM (SELECT value, n, ${cleanValue(attribute, sql`value`)} AS cleaned FROM (${inUse}) WHERE value IS NOT NULL)
      LEFT JOIN canonical_of ON canonical_of.key = ${key(sql`cleaned`)}
    ), candidates AS (
      SELECT ${key(sql`spelling`)} AS key, spelling, if(is_canonical, 0, 2) AS rank, sum(n) AS n FROM used GROUP BY ALL
      UNION ALL
      SELECT ${key(sql`value`)}, value, 1, 0 FROM (SELECT DISTINCT value FROM (${inLake}) WHERE value IS NOT NULL)
    ), chosen AS (
      SELECT DISTINCT ON (key) key, spelling FROM candidates ORDER BY key, rank, n DESC, spelling
    )
    SELECT used.value AS raw_value, if(chosen.key = '' OR ${isUnknown}, NULL, chosen.spelling) AS spelling FROM used JOIN chosen ON chosen.key = ${key(sql`used.spelling`)}`,
  );
}

/** Returns the spelling of a raw value as a scalar subquery; null if the value is null. */
export function lookUpSpelling(attribute: string, value: Sql): Sql {
  return sql`(SELECT spelling FROM ${ident(spellingTable(attribute))} AS spellings WHERE spellings.raw_value = ${value})`;
}
