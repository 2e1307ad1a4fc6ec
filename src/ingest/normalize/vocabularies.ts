/**
 * Spells the values of all open vocabularies of a delivery (make, trim, color, ...): values that differ only in case or punctuation get one spelling.
 * Runs before dealers, builds, tokens and options get their keys; later steps require the `Spellings` that only this module returns.
 *
 * The canonical list (`data/reference/spellings.csv`) comes first, then the spelling that the lake already has, then the most frequent one
 * of the delivery.
 */
import { projectPath } from "../../base/project-files.ts";
import type { Session } from "../../db/duckdb.ts";
import { any, ident, join, literal, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import { caseFold, matchKey } from "../../db/text-matching.ts";
import { type TokenColumn, tokenKinds } from "../../lake/tables.ts";
import { attributes, type NameOf, namesIn, tokensNames } from "../../listing/schema.ts";
import { feed } from "../feed/feed-schema.ts";
import { isMarker, markersOf } from "./field-readers.ts";

type SpelledBuildColumn = NameOf<{ readonly home: "builds"; readonly feed: "spelled" }>;

const buildVocabularies = namesIn("builds").filter(
  (column): column is SpelledBuildColumn => attributes[column].feed === "spelled",
);

type SpelledListingColumn = NameOf<{ readonly home: "listings"; readonly feed: "spelled" }>;

export const listingVocabularies = [
  ...namesIn("listings").filter((column): column is SpelledListingColumn => attributes[column].feed === "spelled"),
  ...(["base_exterior_color", "base_interior_color"] as const),
];

const dealerVocabularies = ["state", "country"] as const;

type VocabularyName =
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

/** The spellings in the lake, also of values that no listing has any more. */
const valuesInLake = join(
  [
    valuesAsRows(buildVocabularies, sql`(SELECT *, 0 AS uses FROM lake_builds)`),
    // Lakes of earlier releases have no tokens of these.
    valuesAsRows(listingVocabularies, sql`(SELECT DISTINCT ${listingColumns}, 0 AS uses FROM held_listings)`),
    valuesAsRows(dealerVocabularies, sql`(SELECT *, 0 AS uses FROM lake_dealers)`),
    valuesAsRows(
      ["make", "options_packages"],
      sql`(SELECT make, code AS options_packages, 0 AS uses FROM lake_options)`,
    ),
    sql`SELECT CASE kind ${join(tokenKindCases, sql` `)} ELSE kind END, token, 0 FROM lake_tokens`,
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

/** Collapses white space. Replaces the character that separates locations in a query string, where no quotes can keep it. */
const cleanValue = sql`trim(regexp_replace(
  if(attribute = 'assembly_location', replace(value, '|', '/'), value), '\\s+', ' ', 'g'))`;

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
async function createSpellingsTable(session: Session, values: Sql): Promise<void> {
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
