/** Feeds as CSV, NDJSON and Parquet, plain or gzipped, yield the same listings. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { DuckDatabase, type Session } from "../../src/db/duckdb.ts";
import { columnType, ident, join as joined, literal, type Sql, sql } from "../../src/db/sql.ts";
import { type FeedField, type FeedTable, feed, feedTables } from "../../src/ingest/feed/feed-schema.ts";
import { lineItemsType } from "../../src/listing/nested-types.ts";
import { skipInShortRun } from "../support/extent.ts";
import { createLake, ingestPath, queryLake, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const day = "2026-11-18";
const delivered = feedTables.filter((table) => table !== "deliveries");
const csvPath = (table: FeedTable): string => join(samplePath, day, `${table}.csv`);

/** Writers of the sample's CSV in each format. */
const forms: Readonly<Record<string, (table: FeedTable, folder: string) => Promise<void>>> = {
  "csv.gz": async (table, folder) => {
    await writeFile(join(folder, `${table}.csv.gz`), gzipSync(await readFile(csvPath(table))));
  },
  "CSV of a spreadsheet: a byte order mark, CRLF": async (table, folder) => {
    const text = await readFile(csvPath(table), "utf8");
    await writeFile(join(folder, `${table}.csv`), `\ufeff${text.replaceAll("\n", "\r\n")}`);
  },
  "upper-case CSV extension and a suffix in the name": async (table, folder) => {
    await writeFile(join(folder, `${table}-2026.CSV`), await readFile(csvPath(table)));
  },
  ndjson: (table, folder) => copy(table, jsonValue, join(folder, `${table}.ndjson`), "json"),
  "ndjson.gz": (table, folder) => copy(table, jsonValue, join(folder, `${table}.ndjson.gz`), "json"),
  parquet: (table, folder) => copy(table, typedValue, join(folder, `${table}.parquet`), "parquet"),
};

/** Writes a table of the sample with each column converted by an expression. */
async function copy(
  table: FeedTable,
  expressionOf: (session: Session, table: FeedTable, column: string, field: FeedField) => Promise<Sql>,
  path: string,
  format: "json" | "parquet",
): Promise<void> {
  const database = await DuckDatabase.open();
  try {
    await database.using(async (session) => {
      await session.createTempTable(table, sql`SELECT * FROM read_csv(${literal(csvPath(table))}, all_varchar = true)`);
      const header = readFileSync(csvPath(table), "utf8").split("\n")[0]?.split(",") ?? [];
      const values: Sql[] = [];
      for (const column of header) {
        const field = feed[table].properties[column];
        assert.ok(field !== undefined, column);
        values.push(sql`${await expressionOf(session, table, column, field)} AS ${ident(column)}`);
      }
      await session.run(
        sql`COPY (SELECT ${joined(values)} FROM ${ident(table)}) TO ${literal(path)} (FORMAT ${ident(format)})`,
      );
    });
  } finally {
    database.close();
  }
}

/** JSON of the field's type if the text is valid for it, else the text. */
async function jsonValue(_session: Session, _table: FeedTable, column: string, field: FeedField): Promise<Sql> {
  const text = ident(column);
  if (column === "line_items")
    return sql`CASE WHEN json_valid(${text}) THEN ${text}::JSON ELSE to_json(${text})::JSON END`;
  if (field.type === "array") return sql`to_json(string_split(${text}, '|'))`;
  if (field.type === "string") return sql`to_json(${text})`;
  return sql`coalesce(to_json(TRY_CAST(${text} AS ${columnTypes[field.type]})), to_json(${text}))`;
}

const columnTypes = { integer: columnType("INTEGER"), number: columnType("DOUBLE"), boolean: columnType("BOOLEAN") };

/** The column in the field's type; a column with an invalid value stays text. */
async function typedValue(session: Session, table: FeedTable, column: string, field: FeedField): Promise<Sql> {
  const text = ident(column);
  if (column === "line_items") return sql`TRY_CAST(TRY_CAST(${text} AS JSON) AS ${columnType(lineItemsType)})`;
  if (field.type === "array") return sql`string_split(${text}, '|')`;
  if (field.format === "date-time") return sql`TRY_CAST(${text} AS TIMESTAMPTZ)`;
  if (field.type === "string") return text;
  const typed = sql`TRY_CAST(${text} AS ${columnTypes[field.type]})`;
  const dirty = await session.row(
    sql`SELECT 1 AS found FROM ${ident(table)} WHERE ${text} IS NOT NULL AND ${typed} IS NULL LIMIT 1`,
  );
  return dirty === undefined ? typed : text;
}

const everything = "FROM active ORDER BY vin";
const fromCsv = await createLake(fileScope, samplePath, { day, hasServingFiles: false });
const listings = await queryLake(fromCsv.lake, everything);

/** Forms that the short run leaves to the other forms, to the split inventory below and to the names of `misplaced-files.test.ts`. */
const coveredElsewhere = ["csv.gz", "upper-case CSV extension and a suffix in the name", "ndjson"];

for (const [form, write] of Object.entries(forms)) {
  test(`the same feeds yield the same listings: ${form}`, {
    skip: coveredElsewhere.includes(form) && skipInShortRun,
  }, async (t) => {
    const folder = join(await temporaryFolder(t), day);
    await mkdir(folder);
    for (const table of delivered) await write(table, folder);
    const { lake, reports } = await createLake(t, folder, { hasServingFiles: false });
    assert.deepEqual(await queryLake(lake, everything), listings);
    const counts = ({ rows, listed, elsewhere, merged, rejected, remarks }: (typeof reports)[number]) => {
      return { rows, listed, elsewhere, merged, rejected, remarks };
    };
    assert.deepEqual(reports.map(counts), fromCsv.reports.map(counts));
  });
}

test("Parquet columns are typed, except a column with text in place of a number", async (t) => {
  const folder = await temporaryFolder(t);
  await forms.parquet?.("inventory", folder);
  const types = new Map(
    (await queryLake(fromCsv.lake, `DESCRIBE FROM '${join(folder, "inventory.parquet")}'`)).map((row) => [
      row.column_name,
      row.column_type,
    ]),
  );
  assert.deepEqual(
    ["price", "cylinders", "features", "observed_at"].map((column) => types.get(column)),
    ["VARCHAR", "INTEGER", "VARCHAR[]", "TIMESTAMP WITH TIME ZONE"],
  );
  assert.match(String(types.get("line_items")), /^STRUCT\(.*\)\[\]$/);
});

/** Returns the header and the rows of a table of the sample. */
const linesOf = (table: FeedTable): readonly string[] => readFileSync(csvPath(table), "utf8").trimEnd().split("\n");

const textOf = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** Returns a row with the id of another one, and a value of the second column. */
const earlierRow = (header: string, row: string, second: string): string =>
  [row.split(",")[0], second, ...header.split(",").slice(2).fill("")].join(",");

test("a delivery split into several files is one delivery, in which the last row of a dealer or car counts", async (t) => {
  const folder = join(await temporaryFolder(t), day);
  await mkdir(folder);
  await writeFile(join(folder, "options.csv"), await readFile(csvPath("options")));
  const [dealerColumns = "", dealer = "", ...dealers] = linesOf("dealers");
  const formerDealer = earlierRow(dealerColumns, dealer, "Former Name");
  await writeFile(join(folder, "dealers.csv"), textOf(dealerColumns, ...dealers, formerDealer));
  await writeFile(join(folder, "dealers_2.csv"), textOf(dealerColumns, dealer));
  const [columns = "", ...rows] = linesOf("inventory");
  const listed = new Set(listings.map(({ vin }) => vin));
  const car = rows.slice(100, 150).find((row) => listed.has(row.slice(0, 17))) ?? assert.fail("no listing in 50 rows");
  const formerCar = earlierRow(columns, car, car.split(",")[1] ?? "");
  await writeFile(join(folder, "inventory.csv"), textOf(columns, ...rows.slice(0, 100), formerCar));
  await writeFile(join(folder, "inventory_2.csv.gz"), gzipSync(textOf(columns, ...rows.slice(100))));
  const { lake } = await createLake(t, folder, { hasServingFiles: false });
  assert.deepEqual(await queryLake(lake, everything), listings);
  const allDealers = "FROM dealers ORDER BY dealer_key";
  assert.deepEqual(await queryLake(lake, allDealers), await queryLake(fromCsv.lake, allDealers));
});

test("a file of exactly the limits is accepted; one of a byte or a row more is refused", async (t) => {
  const folder = join(await temporaryFolder(t), day);
  await mkdir(folder);
  const path = join(folder, "inventory.csv.gz");
  const [columns = "", ...rows] = linesOf("inventory");
  const text = textOf(columns, ...rows.slice(0, 10));
  await writeFile(join(folder, "dealers.csv"), await readFile(csvPath("dealers")));
  await writeFile(path, gzipSync(text));
  const lake = join(await temporaryFolder(t), "lake");
  const exact = { fileBytes: (await readFile(path)).length, uncompressedBytes: Buffer.byteLength(text), rows: 10 };
  for (const [limit, max] of Object.entries(exact))
    await assert.rejects(
      ingestPath(lake, folder, { limits: { ...exact, [limit]: max - 1 } }),
      new RegExp(`^UserError: inventory\\.csv\\.gz.*expected at most ${max - 1}\\b`),
      limit,
    );
  const [report] = await ingestPath(lake, folder, { limits: exact });
  assert.equal(report?.rows, 10);
});
