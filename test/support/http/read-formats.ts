/** Reads responses in every format back to the values of the JSON response, with the types that each format declares. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type DataType, tableFromIPC } from "apache-arrow";
import { parse } from "csv-parse/sync";
import { isObject, type Json, type Row } from "../../../src/base/json.ts";
import type { Column, ColumnType } from "../../../src/contract/tables.ts";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { literal, sql } from "../../../src/db/sql.ts";
import type { TableFormat } from "../../../src/formats/table-formats.ts";
import { temporaryFolder } from "../lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../scope.ts";

export interface ReadTable {
  /** The columns with their types, as the format declares them; NDJSON and CSV declare none. */
  readonly types?: readonly (readonly [name: string, type: string])[];
  readonly rows: readonly Row[];
  readonly metadata?: Readonly<Record<string, string>>;
}

type ReadFormat = (body: Buffer, columns: readonly Column[]) => Promise<ReadTable>;

/** Returns a reader of each format. The one of Parquet is DuckDB, which is closed when the scope ends. */
export async function responseReaders(scope: Scope): Promise<Readonly<Record<TableFormat, ReadFormat>>> {
  const database = await DuckDatabase.open({ threads: 1 });
  const folder = await temporaryFolder(scope);
  onScopeEnd(scope, async () => database.close());
  return {
    arrow: readArrow,
    parquet: (body, columns) => readParquet(database, join(folder, `${randomUUID()}.parquet`), { body, columns }),
    csv: readCsvText,
    ndjson: async (body) => ({
      rows: String(body)
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    }),
  };
}

/** Returns the name of the Arrow type that a column must have. */
export const arrowTypeOf = (type: ColumnType, isNested = false): string => {
  if (type.kind === "integer") return `Int${type.bits}`;
  if (type.kind === "list") return `List<${arrowTypeOf(type.items, true)}>`;
  if (type.kind === "struct")
    return `Struct<{${type.columns.map((column) => `${column.name}:${arrowTypeOf(column.type, true)}`).join(", ")}}>`;
  if (type.kind === "category" && !isNested) return "Dictionary<Int32, Utf8>";
  return {
    text: "Utf8",
    category: "Utf8",
    number: "Float64",
    boolean: "Bool",
    date: "Date32<DAY>",
    timestamp: "Timestamp<MICROSECOND, UTC>",
  }[type.kind];
};

/** Returns the name of the DuckDB type that a Parquet column must be read as, without the quotes of names. */
export const parquetTypeOf = (type: ColumnType): string => {
  if (type.kind === "integer") return type.bits === 32 ? "INTEGER" : "BIGINT";
  if (type.kind === "list") return `${parquetTypeOf(type.items)}[]`;
  if (type.kind === "struct")
    return `STRUCT(${type.columns.map((column) => `${column.name} ${parquetTypeOf(column.type)}`).join(", ")})`;
  return {
    text: "VARCHAR",
    category: "VARCHAR",
    number: "DOUBLE",
    boolean: "BOOLEAN",
    date: "DATE",
    timestamp: "TIMESTAMP WITH TIME ZONE",
  }[type.kind];
};

const readArrow: ReadFormat = async (body, columns) => {
  const table = tableFromIPC(body);
  const types = table.schema.fields.map(({ name, type }) => [name, String(type satisfies DataType)] as const);
  const rows = table.toArray().map((row: unknown) => {
    assert.ok(isObject(row));
    return Object.fromEntries(columns.map(({ name, type }) => [name, fromArrow(type, row[name])]));
  });
  return { types, rows, metadata: Object.fromEntries(table.schema.metadata) };
};

/** Converts a value of Arrow to JSON. Dates and times are milliseconds. */
function fromArrow(type: ColumnType, value: unknown): Json {
  if (value === null) return null;
  if (type.kind === "date") return new Date(Number(value)).toISOString().slice(0, 10);
  if (type.kind === "timestamp") return timeOf(Number(value));
  if (type.kind === "list") return Array.from(value as Iterable<unknown>, (item) => fromArrow(type.items, item));
  if (type.kind === "struct" && isObject(value))
    return Object.fromEntries(type.columns.map((column) => [column.name, fromArrow(column.type, value[column.name])]));
  return typeof value === "bigint" ? Number(value) : (value as Json);
}

/** Returns a time as text, with a fraction of its second if it has one. */
const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.?0*Z$/, "Z");

async function readParquet(
  database: DuckDatabase,
  path: string,
  { body, columns }: { readonly body: Buffer; readonly columns: readonly Column[] },
): Promise<ReadTable> {
  await writeFile(path, body);
  return database.using(async (session) => {
    const types = await session.rows(sql`DESCRIBE FROM read_parquet(${literal(path)})`);
    const rows = await session.rows(sql`FROM read_parquet(${literal(path)})`);
    const pairs = await session.rows(sql`
      SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(${literal(path)})`);
    return {
      types: types.map(
        ({ column_name, column_type }) => [String(column_name), String(column_type).replaceAll('"', "")] as const,
      ),
      rows: rows.map((row) => fromDuckdb({ kind: "struct", columns }, row) as Row),
      metadata: Object.fromEntries(pairs.map(({ key, value }) => [String(key), String(value)])),
    };
  });
}

/** Converts a value of DuckDB to JSON. Times are text such as `2026-11-19 06:00:00+00`. */
function fromDuckdb(type: ColumnType, value: Json | undefined): Json {
  if (value === null || value === undefined) return null;
  if (type.kind === "timestamp") return timeOf(Date.parse(String(value).replace(" ", "T").replace(/\+00$/, "Z")));
  if (type.kind === "integer") return Number(value);
  if (type.kind === "list" && Array.isArray(value)) return value.map((item) => fromDuckdb(type.items, item));
  if (type.kind === "struct" && isObject(value))
    return Object.fromEntries(type.columns.map(({ name, type: of }) => [name, fromDuckdb(of, value[name] as Json)]));
  return value;
}

const readCsvText: ReadFormat = async (body, columns) => {
  const [header, ...cells]: (readonly (string | null)[])[] = parse(body, {
    cast: (text, { quoting }) => (text === "" && !quoting ? null : text),
    record_delimiter: "\r\n",
  });
  assert.deepEqual(
    header,
    columns.map(({ name }) => name),
  );
  const rows = cells.map((line) =>
    Object.fromEntries(columns.map(({ name, type }, index) => [name, fromCell(type, line[index] ?? null)])),
  );
  return { rows };
};

const asText = ["text", "category", "date", "timestamp"];

const fromCell = (type: ColumnType, text: string | null): Json =>
  text === null || asText.includes(type.kind) ? text : JSON.parse(text);
