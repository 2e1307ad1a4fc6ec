/**
 * Spells the values of all open vocabularies of a delivery. Runs before dealers, builds, tokens and options get their keys.
 *
 * Later steps require the `Spellings` that only this module returns, so they cannot run too early or use an unknown vocabulary.
 */
import type { Session } from "../../db/duckdb.ts";
import { ident, type Sql, sql } from "../../db/sql.ts";
import { type TokenColumn, tokenKinds } from "../../lake/tables.ts";
import { attributes, type NameOf, namesIn } from "../../listing/schema.ts";
import { createSpellingsTable, type OpenVocabulary } from "./spellings.ts";

type ValueSource = Pick<OpenVocabulary, "inUse" | "inLake"> & Partial<OpenVocabulary>;

const notInLake = sql`SELECT NULL AS value`;

function buildValuesInLake(column: string): Sql {
  return sql`SELECT ${ident(column)} AS value FROM lake_builds`;
}

const listingValues = (column: string): ValueSource => ({
  inUse: sql`SELECT ${ident(column)} AS value FROM parsed_inventory`,
  inLake: sql`SELECT ${ident(column)} AS value FROM lake_active`,
});

function tokenValues(column: TokenColumn, more: Sql = sql``): ValueSource {
  return {
    inUse: sql`SELECT unnest(${ident(column)}) AS value FROM parsed_inventory ${more}`,
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
      { inUse: sql`SELECT ${ident(column)} AS value FROM parsed_inventory`, inLake: buildValuesInLake(column) },
    ]),
) as Readonly<Record<SpelledBuildColumn, ValueSource>>;

/** The listing attributes whose spelling is normalized. */
type SpelledListingColumn = NameOf<{ readonly home: "listings"; readonly feed: "spelled" }>;

const listingVocabularies = Object.fromEntries(
  namesIn("listings")
    .filter((column) => attributes[column].feed === "spelled")
    .map((column) => [column, listingValues(column)]),
) as Readonly<Record<SpelledListingColumn, ValueSource>>;

const sharedVocabularies = {
  state: { inUse: sql`SELECT state AS value FROM parsed_dealers`, inLake: notInLake },
  country: { inUse: sql`SELECT country AS value FROM parsed_dealers`, inLake: notInLake },
  make: {
    inUse: sql`SELECT unnest(makes) AS value FROM parsed_dealers UNION ALL SELECT make FROM parsed_inventory
      UNION ALL SELECT make FROM parsed_options`,
    inLake: buildValuesInLake("make"),
  },
  features: tokenValues("features"),
  base_exterior_color: { ...listingValues("base_exterior_color"), attribute: "base_color" },
  base_interior_color: { ...listingValues("base_interior_color"), attribute: "base_color" },
  options_packages: tokenValues("options_packages", sql`UNION ALL SELECT code FROM parsed_options`),
} as const satisfies Readonly<Record<string, ValueSource>>;

/** All vocabularies. An entry of `sharedVocabularies` replaces a build vocabulary of that name. */
const sources = { ...buildVocabularies, ...listingVocabularies, ...sharedVocabularies };

export type VocabularyName = keyof typeof sources;

/** Returns whether there is a vocabulary with a column's name. */
export const isSpelled = (column: string): column is VocabularyName => Object.hasOwn(sources, column);

/** Access to the spellings of a delivery. */
export interface Spellings {
  /** Returns the spelling of a raw value as a scalar expression; null if the value is null. */
  lookUp(vocabulary: VocabularyName, value: Sql): Sql;
  /** Returns the spellings of a vocabulary as a relation: columns `raw_value` and `spelling`. */
  table(vocabulary: VocabularyName): Sql;
}

/** Creates the table `spellings`. Requires the reference tables, the parsed feeds, the lake's dimensions and its active listings. */
export async function createSpellings(session: Session): Promise<Spellings> {
  const vocabularies = Object.entries<ValueSource>(sources).map(([name, source]) => ({
    name,
    attribute: name,
    ...source,
  }));
  await createSpellingsTable(session, vocabularies);
  const table = (vocabulary: VocabularyName): Sql =>
    sql`(SELECT raw_value, spelling FROM spellings WHERE vocabulary = ${vocabulary})`;
  return {
    table,
    lookUp: (vocabulary, value) =>
      sql`(SELECT spelling FROM ${table(vocabulary)} AS spellings WHERE raw_value = ${value})`,
  };
}
