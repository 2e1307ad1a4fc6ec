/**
 * Spells the values of all open vocabularies of a delivery. Runs before dealers, builds, tokens and options get their keys.
 *
 * Later steps require the `Spellings` that only this module returns, so they cannot run too early or use an unknown vocabulary.
 */
import type { Session } from "../../db/duckdb.ts";
import { ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import { type TokenColumn, tokenKinds } from "../../lake/tables.ts";
import { attributes, type NameOf, namesIn, tokensNames } from "../../listing/schema.ts";
import { createSpellingsTable } from "./spellings.ts";

type SpelledBuildColumn = NameOf<{ readonly home: "builds"; readonly feed: "spelled" }>;

const buildVocabularies = namesIn("builds").filter(
  (column): column is SpelledBuildColumn => attributes[column].feed === "spelled",
);

type SpelledListingColumn = NameOf<{ readonly home: "listings"; readonly feed: "spelled" }>;

const listingVocabularies = [
  ...namesIn("listings").filter((column): column is SpelledListingColumn => attributes[column].feed === "spelled"),
  ...(["base_exterior_color", "base_interior_color"] as const),
];

const dealerVocabularies = ["state", "country"] as const;

export type VocabularyName =
  | SpelledBuildColumn
  | (typeof listingVocabularies)[number]
  | (typeof dealerVocabularies)[number]
  | TokenColumn;

const vocabularies: ReadonlySet<string> = new Set<VocabularyName>([
  ...buildVocabularies,
  ...listingVocabularies,
  ...dealerVocabularies,
  ...tokensNames,
]);

export const isSpelled = (column: string): column is VocabularyName => vocabularies.has(column);

/**
 * Selects the values of some columns, each named after its vocabulary, as rows: `vocabulary`, `value`, and another column of the relation.
 * One scan and one expression for all columns: planning a query for each takes longer than running it on a small feed.
 */
export const valuesAsRows = (columns: readonly VocabularyName[], rows: Sql, other = sql`uses`): Sql =>
  sql`SELECT unnest([${join(columns.map((column) => literal(column)))}]) AS vocabulary,
      unnest([${join(columns.map((column) => ident(column)))}]) AS value, ${other} FROM ${rows}`;

const listingColumns = join(listingVocabularies.map((column) => ident(column)));

/** The values of the delivery, with how many rows use each. */
const valuesInUse = join(
  [
    valuesAsRows(buildVocabularies, sql`raw_builds`),
    valuesAsRows(
      listingVocabularies,
      sql`(SELECT ${listingColumns}, count(*) AS uses FROM parsed_inventory GROUP BY ALL)`,
    ),
    valuesAsRows(dealerVocabularies, sql`(SELECT *, 1 AS uses FROM parsed_dealers)`),
    sql`SELECT attribute, unnest(list), uses FROM raw_lists`,
    sql`SELECT 'make', unnest(makes), 1 FROM parsed_dealers`,
    valuesAsRows(
      ["make", "options_packages"],
      sql`(SELECT make, code AS options_packages, 1 AS uses FROM parsed_options)`,
    ),
  ],
  sql` UNION ALL `,
);

const tokenKindCases = Object.entries(tokenKinds).map(
  ([column, kind]) => sql`WHEN ${literal(kind)} THEN ${literal(column)}`,
);

/** The spellings in the lake. States and countries of dealers have none. */
const valuesInLake = join(
  [
    valuesAsRows(buildVocabularies, sql`(SELECT *, 0 AS uses FROM lake_builds)`),
    valuesAsRows(listingVocabularies, sql`(SELECT DISTINCT ${listingColumns}, 0 AS uses FROM held_listings)`),
    sql`SELECT CASE kind ${join(tokenKindCases, sql` `)} END, token, 0 FROM lake_tokens`,
  ],
  sql` UNION ALL `,
);

/** Access to the spellings of a delivery. */
export interface Spellings {
  /** Returns the spelling of a raw value as a scalar expression; null if the value is null. */
  lookUp(vocabulary: VocabularyName, value: Sql): Sql;
  /** Returns the spellings of a vocabulary as a relation: columns `raw_value` and `spelling`. */
  table(vocabulary: VocabularyName): Sql;
}

/**
 * Creates the table `spellings`. Requires the reference tables, the parsed feeds with their raw builds and lists, the lake's dimensions and
 * the rows that it holds.
 */
export async function createSpellings(session: Session): Promise<Spellings> {
  await createSpellingsTable(session, sql`${valuesInUse} UNION ALL ${valuesInLake}`);
  const table = (vocabulary: VocabularyName): Sql =>
    sql`(SELECT raw_value, spelling FROM spellings WHERE vocabulary = ${literal(vocabulary)})`;
  return {
    table,
    lookUp: (vocabulary, value) =>
      sql`(SELECT spelling FROM ${table(vocabulary)} AS spellings WHERE raw_value = ${value})`,
  };
}
