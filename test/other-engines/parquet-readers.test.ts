/**
 * Reads every table of a lake with other engines and compares the results with DuckDB's: the files must be usable
 * unchanged. Runs the recipes of docs/open-from-elsewhere.md and compares the answers with the API's.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { describe, test } from "node:test";
import { isObject, type Json } from "../../src/base/json.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { columnType, ident, type Sql, sql } from "../../src/db/sql.ts";
import { rowsOfFiles } from "../../src/lake/derived-relations.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { type TableName, tableNames, tableOf } from "../../src/lake/tables.ts";
import { rewritePaths } from "../../src/lake/writer/version-folder.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { startServing } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { demoLake } from "../support/lakes/demo.ts";
import { createLakeOfEveryState } from "../support/lakes/every-state.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { icebergJar } from "./iceberg-jar.ts";
import { enginesPython as python, runPython, skipReasonOf } from "./python.ts";
import { type RecipeSurroundings, recipes, runRecipe } from "./recipes.ts";

type Kind = "text" | "integer" | "decimal" | "boolean" | "range" | "list" | "pricing";

/** How columns are compared, by DuckDB type. */
const kinds: readonly (readonly [type: RegExp, kind: Kind])[] = [
  [/\[\]$/, "list"],
  [/^VARCHAR$/, "text"],
  [/^(SMALLINT|INTEGER)$/, "integer"],
  [/^(DOUBLE|DECIMAL)/, "decimal"],
  [/^BOOLEAN$/, "boolean"],
  [/^(BIGINT|DATE|TIMESTAMP)$/, "range"],
  [/^STRUCT\("displayed_provider_current_price_usd" /, "pricing"],
];

/** SQL for the numbers of a column, by its kind; `read.py` computes the same. */
const numbersOf: Readonly<Record<Kind, (column: Sql) => Sql>> = {
  text: (column) => sql`[count(${column})::VARCHAR, min(${column}), max(${column}), sum(strlen(${column}))::VARCHAR]`,
  integer: (column) => sql`[count(${column})::DOUBLE, sum(${column})::DOUBLE]`,
  decimal: (column) => sql`[count(${column})::DOUBLE, sum(${column})::DOUBLE]`,
  boolean: (column) => sql`[count(${column}), count(*) FILTER (${column})]`,
  range: (column) => sql`[count(${column})::VARCHAR, min(${column})::VARCHAR, max(${column})::VARCHAR]`,
  pricing: (column) => sql`[sum(${column}.displayed_provider_current_price_usd)::DOUBLE]`,
  list: (column) => sql`[coalesce(sum(len(${column})), 0)::DOUBLE]`,
};

interface TableToRead {
  readonly files: readonly string[];
  readonly columns: Readonly<Record<string, Kind>>;
}

/** Returns the columns of a table and their kinds; fails for a type without a kind. */
function columnsOf(table: TableName): Readonly<Record<string, Kind>> {
  return Object.fromEntries(
    Object.entries(tableOf(table).columns).map(([column, type]) => {
      const kind = kinds.find(([pattern]) => pattern.test(columnType(type).text))?.[1];
      assert.ok(kind !== undefined, `${table}.${column}: ${columnType(type).text}`);
      return [column, kind] as const;
    }),
  );
}

/** Returns a value as text: numbers to three decimals, times to the second, because engines print both differently. */
function comparable(value: unknown): string {
  const text = String(value ?? 0)
    .replace("T", " ")
    .replace(/(\d\d:\d\d:\d\d)\.?0*$/, "$1");
  return text !== "" && Number.isFinite(Number(text)) ? String(Math.round(Number(text) * 1000) / 1000) : text;
}

const { lake } = await createLakeOfEveryState(fileScope);
const manifest = await currentManifest(lake);
/** The market of the other lake is too small to be valued. */
const { lake: sample } = await createLake(fileScope);
const valued = await currentManifest(sample);
const filesIn = (table: TableName) => {
  const files = manifest?.tables[table] ?? [];
  return files.length > 0 ? { folder: lake, files } : { folder: sample, files: valued?.tables[table] ?? [] };
};
const tablesToRead: Readonly<Record<string, TableToRead>> = Object.fromEntries(
  tableNames.map((table) => [
    table,
    {
      files: filesIn(table).files.map(({ path }) => join(resolve(filesIn(table).folder), path)),
      columns: columnsOf(table),
    },
  ]),
);
const expected = await readByDuckDb();

/** Returns DuckDB's row count and numbers of each table. */
async function readByDuckDb(): Promise<
  Readonly<Record<string, readonly [rows: Json, numbers: Readonly<Record<string, Json>>]>>
> {
  const database = await DuckDatabase.open();
  const results: Record<string, readonly [Json, Record<string, Json>]> = {};
  for (const table of tableNames) {
    const { files, folder } = filesIn(table);
    const rows = rowsOfFiles(table, files, folder);
    const counted = await database.using((session) => session.row(sql`SELECT count(*)::INTEGER AS n FROM (${rows})`));
    const numbers: Record<string, Json> = {};
    for (const [column, kind] of Object.entries(columnsOf(table))) {
      const query = sql`SELECT ${numbersOf[kind](ident(column))} AS numbers FROM (${rows})`;
      numbers[column] = (await database.using((session) => session.row(query)))?.numbers ?? null;
    }
    results[table] = [counted?.n ?? null, numbers];
  }
  database.close();
  return results;
}

test("every table of the lake has rows", () => {
  for (const table of tableNames) assert.ok(Number(expected[table]?.[0]) > 0, table);
});

for (const [engine, module] of [
  ["polars", "polars"],
  ["pyarrow", "pyarrow"],
  ["chdb", "chdb"],
  ["spark", "pyspark"],
] as const) {
  test(`${engine} reads every table as DuckDB does`, { skip: skipReasonOf(module) ?? false }, async () => {
    const results = await runPython("read.py", engine, tablesToRead);
    assert.ok(isObject(results));
    for (const table of tableNames) {
      const tableResults: unknown = results[table];
      assert.ok(Array.isArray(tableResults), table);
      const numbers: unknown = tableResults[1];
      assert.equal(tableResults[0], expected[table]?.[0], `${table}: rows`);
      for (const [column, values] of Object.entries(expected[table]?.[1] ?? {})) {
        const found: unknown = isObject(numbers) ? numbers[column] : undefined;
        assert.ok(Array.isArray(values) && Array.isArray(found), `${table}.${column}`);
        assert.deepEqual(found.map(comparable), values.map(comparable), `${table}.${column}`);
      }
    }
  });

  test(`${engine} finds the rows of the published version in a table's folder`, {
    skip: skipReasonOf(module) ?? false,
  }, async () => {
    const folders = tableNames.map((table) => [table, join(resolve(filesIn(table).folder), "current", table)]);
    const counted = await runPython("count-folder.py", engine, Object.fromEntries(folders));
    const rows = tableNames.map((table) => [table, expected[table]?.[0]]);
    assert.deepEqual(counted, Object.fromEntries(rows));
  });
}

/** Returns why a recipe is not run, or undefined if it is. */
function recipeSkipReason(name: string, language: string): string | false {
  const [engine = ""] = name.split("-");
  if (skipInShortRun !== false) return skipInShortRun;
  if (language === "python") return skipReasonOf(engine, name === "pyspark-iceberg" ? icebergJar : undefined) ?? false;
  return existsSync(join(dirname(python), engine)) ? false : `no ${engine} beside ${python}`;
}

/** Serves a copy of the demo lake. */
async function serveDemo(): Promise<RecipeSurroundings> {
  const folder = await temporaryFolder(fileScope);
  const demo = join(folder, "data/lake");
  await cp(await demoLake(), demo, { recursive: true, verbatimSymlinks: true });
  await withWriter(demo, {}, () => rewritePaths(demo));
  const { url, customer } = await startServing(fileScope, ["serve"], {
    env: { CARQUET_LAKE: demo, CARQUET_PORT: "0" },
  });
  return { folder, url, key: customer.key, python };
}

/** Requests a recipe's answer from the API: make, listings and median price, from the most frequent make. */
async function queryApi({ url, key }: RecipeSurroundings, filter: string): Promise<readonly (readonly unknown[])[]> {
  const path = `/v1/facets?facets=make&metric=price.median&facet_value_limit=5${filter}`;
  const response = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${key}` } });
  const { data }: FacetAnswer = JSON.parse(await response.text());
  return data.facets.make.map(({ value, count, metric }) => [value, count, metric.value]);
}

interface FacetAnswer {
  readonly data: {
    readonly facets: {
      readonly make: readonly {
        readonly value: string;
        readonly count: number;
        readonly metric: { readonly value: number };
      }[];
    };
  };
}

describe("a recipe of docs/open-from-elsewhere.md or docs/iceberg.md answers as the API does", () => {
  let surroundings: Promise<RecipeSurroundings> | undefined;
  for (const recipe of recipes)
    test(recipe.name, { skip: recipeSkipReason(recipe.name, recipe.language) }, async () => {
      surroundings ??= serveDemo();
      const expected = await queryApi(await surroundings, recipe.name.endsWith("-pages") ? "&model=f-150" : "");
      assert.ok(expected.length > 0);
      assert.deepEqual(await runRecipe(recipe, await surroundings), expected);
    });
});
