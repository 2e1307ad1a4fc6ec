/** The formats of exports, by the value of parameter `format`: media types, file names, and how the engine writes each. */
import { type Column, type ColumnType, tableColumns } from "../contract/tables.ts";
import type { QueryOf } from "../contract/types.ts";
import { columnType, ident, integerLiteral, join, type Sql, sql } from "../db/sql.ts";
import { rowGroupSize } from "../lake/tables.ts";
import type { ExportedColumn } from "./columns.ts";

export type ExportFormat = QueryOf<"exportListings">["format"];

interface ExportFormatRow {
  readonly mediaType: string;
  /** The usual extension of its files first. */
  readonly extensions: readonly string[];
  /** How the engine writes a piece of the file: the rows of one range, the first range or a later one. */
  readonly pieceOptions: (isFirst: boolean) => Sql;
  /** Returns the value of a column as the format stores it. */
  readonly storedValue: (value: Sql, type: ColumnType) => Sql;
}

/** Casts a value to the type of its column. */
const typed = (value: Sql, type: ColumnType): Sql => sql`(${value})::${engineTypeOf(type)}`;

/** Lists and structs are JSON. Whole numbers have no decimals, as in JSON. */
function csvValue(value: Sql, { kind }: ColumnType): Sql {
  if (kind === "list" || kind === "struct") return sql`to_json(${value})::VARCHAR`;
  return kind === "number" ? sql`regexp_replace((${value})::VARCHAR, '\\.0$', '')` : value;
}

/** Pieces of several are written again: a fast compression is enough for them. */
const parquetPiece = (): Sql =>
  sql`FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE ${integerLiteral(rowGroupSize)}`;

/** How the engine writes a whole Parquet file. */
export const parquetOptions = sql`FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${integerLiteral(rowGroupSize)}`;

export const exportFormats: Readonly<Record<ExportFormat, ExportFormatRow>> = {
  parquet: {
    mediaType: "application/vnd.apache.parquet",
    extensions: ["parquet"],
    pieceOptions: parquetPiece,
    storedValue: typed,
  },
  arrow: {
    mediaType: "application/vnd.apache.arrow.stream",
    extensions: ["arrows", "arrow"],
    pieceOptions: parquetPiece,
    storedValue: (value) => value,
  },
  csv: {
    mediaType: "text/csv; charset=utf-8; header=present",
    extensions: ["csv"],
    pieceOptions: (isFirst) => sql`FORMAT csv, HEADER ${isFirst ? sql`true` : sql`false`}`,
    storedValue: csvValue,
  },
  ndjson: {
    mediaType: "application/x-ndjson",
    extensions: ["ndjson", "jsonl"],
    pieceOptions: () => sql`FORMAT json`,
    storedValue: (value) => value,
  },
};

/** Returns the format that the extension of a path names; undefined if none does. */
export function formatOfPath(path: string): ExportFormat | undefined {
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return (Object.keys(exportFormats) as ExportFormat[]).find((format) =>
    exportFormats[format].extensions.includes(extension),
  );
}

/** Returns the select list of columns in a format. */
export function selectAs(format: ExportFormat, columns: readonly ExportedColumn[]): Sql {
  const { storedValue } = exportFormats[format];
  const types = columnsNamed(columns.map(({ name }) => name));
  return join(
    columns.map(({ name, value }, index) => {
      const type = types[index]?.type ?? { kind: "text" };
      return sql`${storedValue(value, type)} AS ${ident(name)}`;
    }),
  );
}

/** Returns the columns of the search's table with some names, in that order. Throws a TypeError for any other name. */
export function columnsNamed(names: readonly string[]): readonly Column[] {
  const columns = new Map(tableColumns("searchListings").map((column) => [column.name, column]));
  return names.map((name) => {
    const column = columns.get(name);
    if (column === undefined) throw new TypeError(`Unknown column ${name}: expected a property of ListingSummary.`);
    return column;
  });
}

/** Returns the engine's type of a column. */
function engineTypeOf(type: ColumnType): Sql {
  switch (type.kind) {
    case "integer":
      return columnType(type.bits === 64 ? "BIGINT" : "INTEGER");
    case "list":
      return sql`${engineTypeOf(type.items)}[]`;
    case "struct":
      return sql`STRUCT(${join(type.columns.map((column) => sql`${ident(column.name)} ${engineTypeOf(column.type)}`))})`;
    default:
      return columnType(scalarTypes[type.kind]);
  }
}

const scalarTypes = {
  text: "VARCHAR",
  category: "VARCHAR",
  number: "DOUBLE",
  boolean: "BOOLEAN",
  date: "DATE",
  timestamp: "TIMESTAMPTZ",
} as const;
