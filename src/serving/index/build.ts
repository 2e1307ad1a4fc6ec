/**
 * Search index, build side: the statements that create its tables from rows (see `indexed-rows.ts`).
 *
 * One dictionary assigns an id to every value of every category. `listings` has one integer column per attribute, and composite ids (build,
 * dealer, set of features, ...) from which all categories are counted. Ids begin with 1; 0 means unknown. Texts that are not counted
 * have hashes instead of ids. The rows are in the order that breaks the ties of every sort: that of their `position`, from 0.
 */
import { createHash } from "node:crypto";
import { engineVersion, type Session } from "../../db/duckdb.ts";
import { fileLiteral, ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { priceDrops, rowsOfFiles } from "../../lake/derived-relations.ts";
import type { TableFiles } from "../../lake/manifest.ts";
import { keywordBits, tokenKinds } from "../../lake/tables.ts";
import {
  attributeOf,
  type CategoryName,
  categoryNames,
  type ListName,
  listNames,
  type NumberName,
  numberNames,
  textNames,
  timeNames,
  tokensNames,
} from "../../listing/schema.ts";
import { daysOf, secondsOf, textHashesOf, textParts, unitsOf, vinPartOf, vinParts } from "../../listing/values.ts";
import { type MarketRows, marketStatements } from "../../valuation/value-market.ts";

/** An unknown value, in every column. */
export const unknownId = 0;

/**
 * Options of an index's catalog. The newest storage version dictionary-encodes short strings. A scan skips row groups that its filters exclude:
 * small ones leave more to skip, and cost nothing from 32,768 rows on.
 */
const storageOptions = sql`STORAGE_VERSION 'latest', ROW_GROUP_SIZE 32768`;

const attributesIn = (home: string): readonly CategoryName[] =>
  categoryNames.filter((attribute) => attributeOf(attribute).home === home);

export const dealerCategories = attributesIn("dealers");
export const buildCategories = attributesIn("builds");
const listingCategories = attributesIn("listings");

/** Returns the table of a list's sets: a row for each `token` of each `set`. */
export const setsOf = (catalog: string, list: ListName): Sql => ident(catalog, `${list}_sets`);

/** `valid_to` of rows that hold on the published day. */
export const stillValid = 2 ** 31 - 1;

/** `valid_to` of rows that hold on no day: listings as they were last observed before they were sold, or left without a sale. */
export const gone = { sold: 0, absent: -1 } as const;

/** What an index is built from, beside the tables `builds`, `dealers` and `tokens`. */
export interface IndexInput {
  /** Rows of listings with `row_number`, which is null except for those of the published day, `valid_from` and `valid_to`. */
  readonly listings: Sql;
  /** The rows of tables `valuations` and `price_effects`, in the index of today. */
  readonly market?: MarketRows;
}

/** Returns the statements that create all tables. */
function buildStatements(catalog: string, { listings, market }: IndexInput): readonly Sql[] {
  return [
    ...(market === undefined ? [] : marketStatements(catalog, market)),
    ...collectStatements(listings),
    ...dictionaryStatements(catalog),
    ...compositeStatements(catalog),
    listingsStatement(catalog),
    dropsStatement(catalog),
    ...dropStatements(),
  ];
}

const temporary = (table: string, query: Sql): Sql =>
  sql`CREATE OR REPLACE TEMPORARY TABLE ${ident(table)} AS ${query}`;

/** Temporary tables; `dropStatements` drops them. */
const temporaries = ["indexed", "indexed_builds", "indexed_dealers", "value_ids"] as const;

const dropStatements = (): readonly Sql[] =>
  [...temporaries, ...listNames.map(setIds)].map((table) => sql`DROP TABLE IF EXISTS ${ident(table)}`);

/** Collects the listings' columns that the index needs, and the builds and dealers that they refer to. */
function collectStatements(listings: Sql): readonly Sql[] {
  const own = listingCategories.map((attribute) => ident(attributeOf(attribute).column));
  const numbers = numberNames.map((attribute) => sql`${numberIn(attribute)} AS ${ident(attribute)}`);
  const vin = vinParts.map((part) => sql`${vinPartOf(sql`vin`, part)}::INTEGER AS ${ident(part.column)}`);
  const lists = listNames.map((list) => ident(list));
  const times = timeNames.map((time) => sql`${secondsOf(ident(time))} AS ${ident(time)}`);
  const texts = textNames.flatMap((text) =>
    textHashesOf(ident(text)).map((hash, part) => sql`${hash} AS ${ident(textParts(text)[part] ?? "")}`),
  );
  return [
    temporary(
      "indexed",
      sql`SELECT (row_number() OVER (ORDER BY make, model, "year", "trim", id, valid_from, valid_to) - 1)::INTEGER AS position,
                 coalesce(row_number, -1)::INTEGER AS "row", id::UUID AS listing_id, build_key, dealer_key,
                 ${join([...own, ...lists, ...numbers, ...vin])},
                 ${join([...times, ...texts])}, ${daysOf(sql`listed_at::DATE`)} AS listed_on,
                 ${daysOf(sql`sold_on_record`)} AS sold_on_record,
                 ${daysOf(sql`valid_from`)} AS valid_from,
                 coalesce(valid_to - DATE '1970-01-01', ${integerLiteral(stillValid)})::INTEGER AS valid_to,
                 CASE WHEN valid_to IS NULL OR valid_to <= DATE '1970-01-01' THEN ${daysOfDrops} END AS drops
          FROM   (${listings}) AS listings JOIN (SELECT build_key, "trim" FROM builds) USING (build_key)`,
    ),
    temporary(
      "indexed_builds",
      sql`SELECT *, dense_rank() OVER (ORDER BY make, model, year, trim)::INTEGER AS build_rank
          FROM   builds WHERE build_key IN (SELECT DISTINCT build_key FROM indexed) ORDER BY build_key`,
    ),
    temporary(
      "indexed_dealers",
      sql`SELECT * FROM dealers WHERE dealer_key IN (SELECT DISTINCT dealer_key FROM indexed) ORDER BY dealer_key`,
    ),
  ];
}

/** Returns a number of a listing in units, as a scalar; that of its build or dealer is looked up. */
function numberIn(attribute: NumberName): Sql {
  const keys = { listings: undefined, builds: "build_key", dealers: "dealer_key" } as const;
  const { home } = attributeOf(attribute);
  const key = keys[home];
  if (key === undefined) return unitsOf(attribute);
  return sql`(SELECT ${unitsOf(attribute)} FROM ${ident(home)} WHERE ${ident(home, key)} = ${ident("listings", key)})`;
}

/** The days on which a listing's price dropped, as days since 1970. */
const daysOfDrops = sql`list_transform(${priceDrops}, lambda change: ${daysOf(sql`change.changed_at::DATE`)})`;

/** Selects the distinct values of a category; `number` orders numeric ones. */
function valuesOf(category: CategoryName): Sql {
  const { home, column, type: columnType } = attributeOf(category);
  const table = { listings: "indexed", builds: "indexed_builds", dealers: "indexed_dealers" }[home];
  const isNumber = columnType !== "VARCHAR";
  return sql`SELECT DISTINCT ${category} AS attribute, ${ident(column)}::VARCHAR AS value, ${isNumber ? ident(column) : sql`NULL`}::INTEGER AS number
    FROM ${ident(table)} WHERE ${ident(column)} IS NOT NULL`;
}

/** `dictionary (id, attribute, value)`: consecutive ids per attribute, in the order of its values. */
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
      SELECT (row_number() OVER (ORDER BY attribute, number, value))::INTEGER AS id, attribute, value
      FROM   (${all}) ORDER BY id`,
    temporary("value_ids", sql`SELECT * FROM ${ident(catalog, "dictionary")}`),
  ];
}

/** Looks up a value's id, as a scalar; 0 where the value is unknown. */
const idOf = (category: CategoryName, value: Sql): Sql =>
  sql`coalesce((SELECT id FROM value_ids WHERE attribute = ${literal(category)} AND value_ids.value = ${value}::VARCHAR), 0)::INTEGER`;

const setIds = (list: ListName): string => `${list}_set_ids`;

/** `builds`, `dealers` and the sets of each list: composite ids, with the ids of their values. */
function compositeStatements(catalog: string): readonly Sql[] {
  const idsOf = (categories: readonly CategoryName[]): Sql =>
    join(categories.map((one) => sql`${idOf(one, ident("of", attributeOf(one).column))} AS ${ident(one)}`));
  return [
    sql`CREATE TABLE ${ident(catalog, "builds")} AS
      SELECT (row_number() OVER (ORDER BY build_key))::INTEGER AS build, build_key, build_rank, ${idsOf(buildCategories)}
      FROM   indexed_builds AS of ORDER BY build`,
    sql`CREATE TABLE ${ident(catalog, "dealers")} AS
      SELECT (row_number() OVER (ORDER BY of.state, of.postal_code, dealer_key))::INTEGER AS dealer, dealer_key, ${idsOf(dealerCategories)}
      FROM   indexed_dealers AS of ORDER BY dealer`,
    ...listNames.flatMap((list) => setStatements(catalog, list)),
  ];
}

/** Numbers the distinct sets of a list by first occurrence, and creates `<list>_sets` with the tokens of each. */
function setStatements(catalog: string, list: ListName): readonly Sql[] {
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
      sql`SELECT (row_number() OVER (ORDER BY first))::INTEGER AS id, value
          FROM   (SELECT ${column} AS value, min(position) AS first FROM indexed WHERE NOT ${isEmpty} GROUP BY ${column})`,
    ),
    sql`CREATE TABLE ${setsOf(catalog, list)} AS SELECT token, "set" FROM (${tokens}) ORDER BY token, "set"`,
  ];
}

/** The condition on rows of listings that hold on the published day. */
export const isToday = sql`valid_to = ${integerLiteral(stillValid)}`;

/** Columns of a row that are not counted. */
const rowColumns: readonly string[] = [
  ...[...timeNames, ...textNames.flatMap(textParts)],
  ...["listed_on", "sold_on_record", "valid_from", "valid_to", "listing_id", "row"],
];

/** `listings`: one row per indexed row, by position. `row` is the position of a listing of the published day in its files, else -1. */
function listingsStatement(catalog: string): Sql {
  const plain = [
    ...numberNames.map((number) => ident("of", number)),
    ...rowColumns.map((column) => ident("of", column)),
  ];
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
  const vin = vinParts.map(({ column }) => ident("of", column));
  return sql`CREATE TABLE ${ident(catalog, "listings")} AS
    SELECT of.position, builds.* EXCLUDE (build_key), dealers.* EXCLUDE (dealer_key), ${join([...own, ...sets, ...plain, ...vin])}
    FROM   indexed AS of
    JOIN   ${ident(catalog, "builds")} AS builds USING (build_key)
    JOIN   ${ident(catalog, "dealers")} AS dealers USING (dealer_key)
    ${join([...ownJoins, ...setJoins], sql` `)}
    ORDER BY of.position`;
}

/** `price_drops (position, dropped_on)`: the days on which the price of each listing dropped. */
const dropsStatement = (catalog: string): Sql =>
  sql`CREATE TABLE ${ident(catalog, "price_drops")} AS
    SELECT position, unnest(drops) AS dropped_on FROM indexed WHERE len(drops) > 0 ORDER BY position`;

const indexedDimensions = ["builds", "dealers", "tokens"] as const;

/** The catalog of an index that is being built. */
export const builtCatalog = "built index";

interface BuildOrder {
  readonly tables: TableFiles;
  /** The folder that file paths are relative to. */
  readonly folder: string;
  /** A path that does not exist yet; undefined for an index in memory. */
  readonly path?: string;
}

/** Builds an index of rows as `builtCatalog`, and returns what `use` makes of it. Detaches it if it cannot be built or used. */
export async function buildIndex<T>(
  session: Session,
  rows: IndexInput,
  { tables, folder, path }: BuildOrder,
  use: (detach: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const catalog = ident(builtCatalog);
  const detach = (): Promise<void> => session.run(sql`DETACH ${catalog}`);
  const file =
    path === undefined ? sql`':memory:' AS ${catalog} (COMPRESS, ` : sql`${fileLiteral(path)} AS ${catalog} (`;
  try {
    for (const table of indexedDimensions)
      await session.createTempTable(table, rowsOfFiles(table, tables[table], folder));
    await session.run(sql`ATTACH ${file}${storageOptions})`);
    for (const statement of buildStatements(builtCatalog, rows)) await session.run(statement);
    return await use(detach);
  } catch (thrown) {
    // A detach that failed, because the disk is full, has detached it. The first error says why.
    await detach().catch(() => undefined);
    throw thrown;
  } finally {
    await session.drop(...indexedDimensions);
  }
}

/** Format of the index file: a hash of the engine's version, of the options and of all statements, so that any change invalidates existing files. */
export const searchIndexFormat: string = createHash("sha256")
  .update(
    [
      engineVersion,
      storageOptions.texts.join(),
      ...buildStatements("", { listings: sql``, market: { valuations: sql``, effects: sql`` } }).map(
        ({ texts, values }) => `${texts.join("?")} ${values.map(String).join()}`,
      ),
    ].join("\n"),
  )
  .digest("hex")
  .slice(0, 8);
