/**
 * Creates the spelling tables of all open vocabularies of a delivery. Runs before dealers, builds, tokens and options get their keys.
 *
 * Later steps require the `Spellings` that only this module returns, so they cannot run too early or use an unknown vocabulary. Colors are
 * normalized in `delivered-listings.ts`.
 */
import type { Session } from "../../db/duckdb.ts";
import { ident, type Sql, sql } from "../../db/sql.ts";
import { type TokenColumn, tokenKinds } from "../../lake/tables.ts";
import { attributes, type NameOf, namesIn } from "../../listing/schema.ts";
import { createSpellingTable, lookUpSpelling, spellingTable } from "./spellings.ts";

/** The values of a vocabulary in the delivery (one row per use) and in the lake, each as a relation with the column `value`. */
interface ValueSource {
  readonly used: Sql;
  readonly inLake: Sql;
}

const notInLake = sql`SELECT NULL AS value`;

function buildValuesInLake(column: string): Sql {
  return sql`SELECT ${ident(column)} AS value FROM lake_builds`;
}

function tokenValues(column: TokenColumn, more: Sql = sql``): ValueSource {
  return {
    used: sql`SELECT unnest(${ident(column)}) AS value FROM parsed_inventory ${more}`,
    inLake: sql`SELECT token AS value FROM lake_tokens WHERE kind = ${tokenKinds[column]}`,
  };
}

/** The build attributes whose spelling is normalized. */
type SpelledBuildColumn = NameOf<{ readonly home: "builds"; readonly feed: "spelled" }>;

const buildVocabularies = Object.fromEntries(
  namesIn("builds")
    .filter((column) => attributes[column].feed === "spelled")
    .map((column) => [
      column,
      { used: sql`SELECT ${ident(column)} AS value FROM parsed_inventory`, inLake: buildValuesInLake(column) },
    ]),
) as Readonly<Record<SpelledBuildColumn, ValueSource>>;

const sharedVocabularies = {
  state: { used: sql`SELECT state AS value FROM parsed_dealers`, inLake: notInLake },
  country: { used: sql`SELECT country AS value FROM parsed_dealers`, inLake: notInLake },
  make: {
    used: sql`SELECT unnest(makes) AS value FROM parsed_dealers UNION ALL SELECT make FROM parsed_inventory
      UNION ALL SELECT make FROM parsed_options`,
    inLake: buildValuesInLake("make"),
  },
  features: tokenValues("features"),
  options_packages: tokenValues("options_packages", sql`UNION ALL SELECT code FROM parsed_options`),
} as const satisfies Readonly<Record<string, ValueSource>>;

/** All vocabularies. An entry of `sharedVocabularies` replaces the build vocabulary of that name. */
const sources = { ...buildVocabularies, ...sharedVocabularies };

export type VocabularyName = keyof typeof sources;

/** Returns whether there is a vocabulary with a column's name. */
export const isSpelled = (column: string): column is VocabularyName => Object.hasOwn(sources, column);

/** Access to the spelling tables of a delivery. */
export interface Spellings {
  /** Returns the spelling of a raw value as a scalar expression; null if the value is null. */
  lookUp(vocabulary: VocabularyName, value: Sql): Sql;
  /** Returns the spelling table of a vocabulary: columns `raw_value` and `spelling`. */
  table(vocabulary: VocabularyName): Sql;
}

/** Creates the spelling tables of all vocabularies. Requires the reference tables, the parsed feeds and the lake's dimensions. */
export async function createSpellings(session: Session): Promise<Spellings> {
  for (const [attribute, { used, inLake }] of Object.entries(sources)) {
    await session.createTempTable("values_in_use", sql`SELECT value, count(*) AS n FROM (${used}) GROUP BY value`);
    await createSpellingTable(session, { attribute, inUse: sql`FROM values_in_use`, inLake });
  }
  await session.drop("values_in_use");
  return { lookUp: lookUpSpelling, table: (vocabulary) => ident(spellingTable(vocabulary)) };
}
