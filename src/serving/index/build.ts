/**
 * The tables of a search index: what the active listings of a version are searched, sorted and counted by, as integers.
 *
 * Every value of every category has an id in one dictionary. A listing has an integer column for each attribute, a rank for each sort,
 * and composite ids (its build, its dealer, its set of features...) from which all categories are counted in one pass. Ids are distinct
 * across columns; 0 is an unknown value.
 */
import { createHash } from "node:crypto";
import { engineVersion } from "../../db/duckdb.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { keywordBits, tokenKinds } from "../../lake/tables.ts";
import {
  attributeOf,
  type CategoryName,
  categoryNames,
  type ListName,
  listNames,
  numberNames,
  tokensNames,
} from "../../listing/schema.ts";
import { fixedSorts, sortKeys } from "../../listing/sorts.ts";
import { secondsOf, unitsOf, vinPartOf, vinParts } from "../../listing/values.ts";
import { firstValueId } from "./ids.ts";

/** The newest storage keeps the dictionaries of short words. */
export const storage = sql`STORAGE_VERSION 'latest'`;

const attributesIn = (home: string): readonly CategoryName[] =>
  categoryNames.filter((attribute) => attributeOf(attribute).home === home);

/** Categories of dealers that are counted; a dealer's id is the dealer itself. */
export const dealerCategories = attributesIn("dealers").filter((attribute) => attribute !== "dealer_id");
export const buildCategories = attributesIn("builds");
export const listingCategories = attributesIn("listings");

/** The table of the tokens in each set of a list. */
export const setsOf = (catalog: string, list: ListName): Sql => ident(catalog, `${list}_sets`);

/** The statements that build the tables, of listings with their `row_number`, and of the tables `builds`, `dealers` and `tokens`. */
export function buildStatements(catalog: string, listings: Sql): readonly Sql[] {
  return [
    ...collectStatements(listings),
    ...dictionaryStatements(catalog),
    ...compositeStatements(catalog),
    ...rankStatements(),
    listingsStatement(catalog),
    totalsStatement(catalog),
    ...dropStatements(),
  ];
}

const temporary = (table: string, query: Sql): Sql =>
  sql`CREATE OR REPLACE TEMPORARY TABLE ${ident(table)} AS ${query}`;

/** Temporary tables, which `dropStatements` drops. */
const temporaries = ["indexed", "indexed_builds", "indexed_dealers", "value_ids", "ranks"] as const;

const dropStatements = (): readonly Sql[] =>
  [...temporaries, ...listNames.map(setIds)].map((table) => sql`DROP TABLE IF EXISTS ${ident(table)}`);

/** What the tables are built from: narrow columns of the listings, in their order. */
function collectStatements(listings: Sql): readonly Sql[] {
  const own = listingCategories.map((attribute) => ident(attributeOf(attribute).column));
  const numbers = numberNames.map((attribute) => sql`${unitsOf(attribute)} AS ${ident(attribute)}`);
  const vin = vinParts.map((part) => sql`${vinPartOf(sql`vin`, part)}::BIGINT AS ${ident(part.column)}`);
  const lists = listNames.map((list) => ident(list));
  return [
    temporary(
      "indexed",
      sql`SELECT row_number::INTEGER AS position, build_key, dealer_key, ${join([...own, ...lists, ...numbers, ...vin])},
                 ${secondsOf(sql`listed_at`)} AS listed_at
          FROM   (${listings})`,
    ),
    temporary(
      "indexed_builds",
      sql`SELECT * FROM builds WHERE build_key IN (SELECT DISTINCT build_key FROM indexed) ORDER BY build_key`,
    ),
    temporary(
      "indexed_dealers",
      sql`SELECT * FROM dealers WHERE dealer_key IN (SELECT DISTINCT dealer_key FROM indexed) ORDER BY dealer_key`,
    ),
  ];
}

/** Where the values of each category come from: the table, the column, and the type that orders them. */
function valuesOf(category: CategoryName): Sql {
  const { home, column, type: columnType } = attributeOf(category);
  const table = { listings: "indexed", builds: "indexed_builds", dealers: "indexed_dealers" }[home];
  const isNumber = columnType !== "VARCHAR";
  return sql`SELECT DISTINCT ${category} AS attribute, ${ident(column)}::VARCHAR AS value, ${isNumber ? ident(column) : sql`NULL`}::INTEGER AS number
    FROM ${ident(table)} WHERE ${ident(column)} IS NOT NULL`;
}

/** `dictionary`: an `id` for each `value` of each `attribute`, in the order of the values, attribute by attribute. */
function dictionaryStatements(catalog: string): readonly Sql[] {
  const words = Object.keys(keywordBits).map((keyword) => sql`(${literal(keyword)})`);
  const tokens = tokensNames.map(
    (list) => sql`
      SELECT ${list} AS attribute, token AS value, NULL::INTEGER AS number FROM tokens
      WHERE kind = ${tokenKinds[list]} AND token_key IN (SELECT DISTINCT unnest(${ident(list)}) FROM indexed)`,
  );
  const counted = [...buildCategories, ...dealerCategories, ...listingCategories];
  const all = join(
    [
      ...counted.map(valuesOf),
      ...tokens,
      sql`SELECT 'keywords' AS attribute, word AS value, NULL::INTEGER AS number FROM (VALUES ${join(words)}) AS words(word)`,
    ],
    sql` UNION ALL `,
  );
  return [
    sql`CREATE TABLE ${ident(catalog, "dictionary")} AS
      SELECT (${integerLiteral(firstValueId - 1)} + row_number() OVER (ORDER BY attribute, number, value))::INTEGER AS id, attribute, value
      FROM   (${all}) ORDER BY id`,
    temporary("value_ids", sql`SELECT * FROM ${ident(catalog, "dictionary")}`),
  ];
}

/** A value's id, as a scalar; 0 where it is unknown. */
const idOf = (category: CategoryName, value: Sql): Sql =>
  sql`coalesce((SELECT id FROM value_ids WHERE attribute = ${literal(category)} AND value_ids.value = ${value}::VARCHAR), 0)::INTEGER`;

/** The greatest id so far, as a scalar. */
const greatest = (table: Sql, column: string): Sql => sql`(SELECT coalesce(max(${ident(column)}), 0) FROM ${table})`;

const setIds = (list: ListName): string => `${list}_set_ids`;

/** `builds`, `dealers` and the sets of each list: composite ids, after those of the dictionary, with the ids of their values. */
function compositeStatements(catalog: string): readonly Sql[] {
  const idsOf = (categories: readonly CategoryName[]): Sql =>
    join(categories.map((one) => sql`${idOf(one, ident("of", attributeOf(one).column))} AS ${ident(one)}`));
  const statements = [
    sql`CREATE TABLE ${ident(catalog, "builds")} AS
      SELECT (${greatest(ident(catalog, "dictionary"), "id")} + row_number() OVER (ORDER BY build_key))::INTEGER AS build, build_key, ${idsOf(buildCategories)}
      FROM   indexed_builds AS of ORDER BY build`,
    sql`CREATE TABLE ${ident(catalog, "dealers")} AS
      SELECT (${greatest(ident(catalog, "builds"), "build")} + row_number() OVER (ORDER BY dealer_key))::INTEGER AS dealer, dealer_key, ${idsOf(dealerCategories)}
      FROM   indexed_dealers AS of ORDER BY dealer`,
  ];
  let before = greatest(ident(catalog, "dealers"), "dealer");
  for (const list of [...listNames].reverse()) {
    statements.push(...setStatements(catalog, list, before));
    before = sql`greatest(${before}, ${greatest(ident(setIds(list)), "id")})`;
  }
  return statements;
}

/** The distinct sets of a list, numbered in the order in which listings have them, and `<list>_sets`: the tokens of each. */
function setStatements(catalog: string, list: ListName, after: Sql): readonly Sql[] {
  const column = ident(list);
  const isEmpty = list === "keywords" ? sql`${column} = 0` : sql`len(${column}) = 0`;
  const tokens =
    list === "keywords"
      ? sql`SELECT sets.id AS "set", value_ids.id AS token FROM ${ident(setIds(list))} AS sets JOIN value_ids ON attribute = 'keywords'
          AND (sets.value & CASE value_ids.value ${join(
            Object.entries(keywordBits).map(([word, bit]) => sql`WHEN ${literal(word)} THEN ${integerLiteral(bit)}`),
            sql` `,
          )} END) <> 0`
      : sql`SELECT "set", value_ids.id AS token FROM (SELECT id AS "set", unnest(value) AS token_key FROM ${ident(setIds(list))}) AS sets
          JOIN tokens USING (token_key) JOIN value_ids ON attribute = ${literal(list)} AND value_ids.value = token`;
  return [
    temporary(
      setIds(list),
      sql`SELECT (${after} + row_number() OVER (ORDER BY first))::INTEGER AS id, value
          FROM   (SELECT ${column} AS value, min(position) AS first FROM indexed WHERE NOT ${isEmpty} GROUP BY ${column})`,
    ),
    sql`CREATE TABLE ${setsOf(catalog, list)} AS SELECT token, "set" FROM (${tokens}) ORDER BY token, "set"`,
  ];
}

/** `ranks`: the place of each listing in each sort, counted from 0. */
function rankStatements(): readonly Sql[] {
  const ranks = fixedSorts.map((sort) => {
    const { attribute, isDescending } = sortKeys[sort];
    const value = isDescending ? sql`-${ident(attribute)}` : ident(attribute);
    return sql`(row_number() OVER (ORDER BY coalesce(${value}, 2147483647)::BIGINT * 4294967296 + position) - 1)::INTEGER AS ${rankOf(sort)}`;
  });
  return [temporary("ranks", sql`SELECT position, ${join(ranks)} FROM indexed`)];
}

/** The column that holds a listing's rank in a sort. */
export const rankOf = (sort: (typeof fixedSorts)[number]): Sql => ident(`rank ${sort}`);

/** `listings`: the flat table, in the partition's order. */
function listingsStatement(catalog: string): Sql {
  const plain = [...numberNames.map((number) => ident("of", number)), sql`of.listed_at`];
  const own = listingCategories.map(
    (one) => sql`coalesce(${ident(`id of ${one}`, "id")}, 0)::INTEGER AS ${ident(one)}`,
  );
  const ownJoins = listingCategories.map((one) => {
    const ids = ident(`id of ${one}`);
    return sql`LEFT JOIN (SELECT id, value FROM value_ids WHERE attribute = ${literal(one)}) AS ${ids} ON ${ids}.value = ${ident("of", one)}`;
  });
  const sets = listNames.map((list) => sql`coalesce(${ident(`set of ${list}`, "id")}, 0)::INTEGER AS ${ident(list)}`);
  const setJoins = listNames.map((list) => {
    const ids = ident(`set of ${list}`);
    return sql`LEFT JOIN ${ident(setIds(list))} AS ${ids} ON ${ids}.value = ${ident("of", list)}`;
  });
  const ranks = fixedSorts.map((sort) => rankOf(sort));
  const vin = vinParts.map(({ column }) => ident("of", column));
  return sql`CREATE TABLE ${ident(catalog, "listings")} AS
    SELECT of.position, builds.* EXCLUDE (build_key), dealers.* EXCLUDE (dealer_key), ${join([...own, ...sets, ...plain, ...vin, ...ranks])}
    FROM   indexed AS of
    JOIN   ${ident(catalog, "builds")} AS builds USING (build_key)
    JOIN   ${ident(catalog, "dealers")} AS dealers USING (dealer_key)
    JOIN   ranks USING (position)
    ${join([...ownJoins, ...setJoins], sql` `)}
    ORDER BY of.position`;
}

/** The columns whose counts tell those of all categories. */
export const countedColumns: readonly string[] = ["build", "dealer", ...listingCategories, ...listNames];

/** `totals`: how many `listings` have each id of the counted columns. */
function totalsStatement(catalog: string): Sql {
  const counts = countedColumns.map(
    (column) =>
      sql`SELECT ${ident(column)} AS id, count(*)::INTEGER AS listings FROM ${ident(catalog, "listings")} GROUP BY id`,
  );
  return sql`CREATE TABLE ${ident(catalog, "totals")} AS SELECT id, listings FROM (${join(counts, sql` UNION ALL `)}) WHERE id <> 0 ORDER BY id`;
}

/** Names this engine and these tables, so that a file of others is not read. */
export const searchIndexFormat: string = createHash("sha256")
  .update(
    [
      engineVersion,
      ...buildStatements("", sql``).map(({ texts, values }) => `${texts.join("?")} ${values.map(String).join()}`),
    ].join("\n"),
  )
  .digest("hex")
  .slice(0, 8);
