/**
 * Spells every open vocabulary of a day's delivery, before dealers, builds, tokens and options get their keys.
 *
 * Later steps take `Spellings`, which only this step returns: they cannot run before it, nor name a vocabulary that it does not spell.
 * Colors are spelled where they are used, in `vehicles.ts`.
 */

import type { Session } from "../../db/duckdb.ts";
import { ident, type Sql, sql } from "../../db/sql.ts";
import { type TokenColumn, tokenKinds } from "../../lake/tables.ts";
import { attributes, type NameOf, namesIn } from "../../listing/schema.ts";
import { createSpellingTable, lookUpSpelling, spellingTable } from "./spellings.ts";

/** The values of a vocabulary in the delivery, one row for each use, and those that the lake has: column `value`. */
interface Source {
  readonly used: Sql;
  readonly inLake: Sql;
}

const notInLake = sql`SELECT NULL AS value`;

function inBuilds(column: string): Sql {
  return sql`SELECT ${ident(column)} AS value FROM lake_builds`;
}

function tokensOf(column: TokenColumn, more: Sql = sql``): Source {
  return {
    used: sql`SELECT unnest(${ident(column)}) AS value FROM parsed_inventory ${more}`,
    inLake: sql`SELECT token AS value FROM lake_tokens WHERE kind = ${tokenKinds[column]}`,
  };
}

/** The attributes of a build that are spelled. */
type BuildText = NameOf<{ readonly home: "builds"; readonly feed: "spelled" }>;

const ofBuilds = Object.fromEntries(
  namesIn("builds")
    .filter((column) => attributes[column].feed === "spelled")
    .map((column) => [
      column,
      { used: sql`SELECT ${ident(column)} AS value FROM parsed_inventory`, inLake: inBuilds(column) },
    ]),
) as Readonly<Record<BuildText, Source>>;

const ofDealersAndOptions = {
  state: { used: sql`SELECT state AS value FROM parsed_dealers`, inLake: notInLake },
  country: { used: sql`SELECT country AS value FROM parsed_dealers`, inLake: notInLake },
  make: {
    used: sql`SELECT unnest(makes) AS value FROM parsed_dealers UNION ALL SELECT make FROM parsed_inventory
      UNION ALL SELECT make FROM parsed_options`,
    inLake: inBuilds("make"),
  },
  features: tokensOf("features"),
  options_packages: tokensOf("options_packages", sql`UNION ALL SELECT code FROM parsed_options`),
} as const satisfies Readonly<Record<string, Source>>;

/** The vocabularies: those that several tables of the feed use are in the second table. */
const sources = { ...ofBuilds, ...ofDealersAndOptions };

export type VocabularyName = keyof typeof sources;

/** Returns whether a column is spelled by a vocabulary of its name. */
export const isSpelled = (column: string): column is VocabularyName => Object.hasOwn(sources, column);

/** The spellings of a delivery's values: proof that they have been decided. */
export interface Spellings {
  /** The spelling of a value as written, as a scalar; null where the value is. */
  lookUp(vocabulary: VocabularyName, value: Sql): Sql;
  /** The table of a vocabulary: columns `as_written` and `spelling`. */
  table(vocabulary: VocabularyName): Sql;
}

/** Decides the spellings of all vocabularies. Needs the reference lists, the parsed feeds and the lake's dimensions. */
export async function createSpellings(session: Session): Promise<Spellings> {
  for (const [attribute, { used, inLake }] of Object.entries(sources)) {
    await session.createTempTable("values_in_use", sql`SELECT value, count(*) AS n FROM (${used}) GROUP BY value`);
    await createSpellingTable(session, { attribute, inUse: sql`FROM values_in_use`, inLake });
  }
  await session.drop("values_in_use");
  return { lookUp: lookUpSpelling, table: (vocabulary) => ident(spellingTable(vocabulary)) };
}
