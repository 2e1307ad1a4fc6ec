/**
 * One spelling for each value of an open vocabulary: the canonical list's (`data/reference/spellings.csv`), else the one
 * that the lake already has, else the commonest of the delivery.
 */
import { projectPath } from "../../base/project-files.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, literal, type Sql, sql } from "../../db/sql.ts";
import { caseFold, matchKey } from "../../db/text-matching.ts";

export interface OpenVocabulary {
  /** Its name in the canonical list. */
  readonly attribute: string;
  /** The values in use, with how often: columns `value` and `n`. */
  readonly inUse: Sql;
  /** The spellings that the lake has: column `value`. */
  readonly inLake: Sql;
}

/** What makes two spellings one, where it is not the case alone. */
const keys: Readonly<Record<string, (text: Sql) => Sql>> = { make: matchKey, model: matchKey };

/** Loads the reference lists: `canonical` (attribute, spelling, canonical) and `color_words` (word, base_color). */
export async function loadReferenceTables(session: Session): Promise<void> {
  const from = (file: string) =>
    sql`FROM read_csv(${literal(projectPath(`data/reference/${file}`))}, header = true, all_varchar = true)`;
  await session.createTempTable("canonical", sql`SELECT * ${from("spellings.csv")}`);
  await session.createTempTable("color_words", sql`SELECT * ${from("colors.csv")}`);
}

/** The table that tells each value's spelling: columns `as_written`, `spelling`. */
export const spellingTable = (attribute: string): string => `spelling_of_${attribute}`;

/** Values as they are kept: no comma inside (it separates values in a query), one blank between words. */
function cleaned(attribute: string, value: Sql): Sql {
  const bare = attribute === "assembly_location" ? value : sql`replace(${value}, ',', ' ')`;
  return sql`trim(regexp_replace(${bare}, '\\s+', ' ', 'g'))`;
}

/** Decides the spelling of every value in use of a vocabulary. */
export async function createSpellingTable(
  session: Session,
  { attribute, inUse, inLake }: OpenVocabulary,
): Promise<void> {
  const key = keys[attribute] ?? caseFold;
  await session.createTempTable(
    spellingTable(attribute),
    sql`
    WITH canonical_of AS (
      SELECT ${key(sql`spelling`)} AS key, min(canonical) AS canonical FROM canonical WHERE attribute = ${attribute} GROUP BY key
    ), used AS (
      SELECT value, n, cleaned, coalesce(canonical, cleaned) AS spelling, canonical IS NOT NULL AS is_canonical
      FROM (SELECT value, n, ${cleaned(attribute, sql`value`)} AS cleaned FROM (${inUse}) WHERE value IS NOT NULL)
      LEFT JOIN canonical_of ON canonical_of.key = ${key(sql`cleaned`)}
    ), candidates AS (
      SELECT ${key(sql`spelling`)} AS key, spelling, if(is_canonical, 0, 2) AS rank, sum(n) AS n FROM used GROUP BY ALL
      UNION ALL
      SELECT ${key(sql`value`)}, value, 1, 0 FROM (SELECT DISTINCT value FROM (${inLake}) WHERE value IS NOT NULL)
    ), chosen AS (
      SELECT DISTINCT ON (key) key, spelling FROM candidates ORDER BY key, rank, n DESC, spelling
    )
    SELECT used.value AS as_written, if(chosen.key = '', NULL, chosen.spelling) AS spelling FROM used JOIN chosen ON chosen.key = ${key(sql`used.spelling`)}`,
  );
}

/** The spelling of a column's value, as a scalar: null where the value is. */
export function lookUpSpelling(attribute: string, value: Sql): Sql {
  return sql`(SELECT spelling FROM ${ident(spellingTable(attribute))} AS known WHERE known.as_written = ${value})`;
}
