/**
 * Pieces of an export: the rows of one range, as the engine writes them in a format.
 *
 * The formats are those of pages, but not their encoders, which hold all rows in memory: the engine writes Parquet, CSV and NDJSON. Types,
 * spelling and the writer of Arrow are the same.
 */
import type { ColumnType, TableMetadata } from "../contract/tables.ts";
import { ident, join, type Sql, sql } from "../db/sql.ts";
import {
  csvCell,
  csvOptions,
  duckdbType,
  interimParquetOptions,
  jsonCell,
  ndjsonCell,
  ndjsonOptions,
  parquetOptions,
} from "../formats/engine-formats.ts";
import type { FormatName } from "../formats/table-formats.ts";
import type { ExportedColumn } from "./columns.ts";

export interface PiecePlace {
  readonly isFirst: boolean;
  readonly isOnly: boolean;
}

interface PieceFormat {
  readonly options: (place: PiecePlace, metadata: TableMetadata) => Sql;
  /** Returns the value of a column as the format stores it, from its served form. `isRaw` leaves formulas in the texts of CSV. */
  readonly storedValue: (value: Sql, type: ColumnType, isRaw: boolean) => Sql;
}

const ndjson: PieceFormat = { options: () => ndjsonOptions, storedValue: ndjsonCell };

export const pieceFormats: Readonly<Record<FormatName, PieceFormat>> = {
  // Several pieces are read again, to become one file.
  parquet: {
    options: ({ isOnly }, metadata) => (isOnly ? parquetOptions(metadata) : interimParquetOptions),
    storedValue: (value, type) => sql`(${value})::${duckdbType(type)}`,
  },
  // The engine writes no Arrow: pieces are Parquet files with the values that the writer of Arrow takes.
  arrow: { options: () => interimParquetOptions, storedValue: jsonCell },
  csv: { options: ({ isFirst }) => csvOptions(isFirst), storedValue: csvCell },
  ndjson,
  // Its lines become the items of an array.
  json: ndjson,
};

/** A format, and whether formulas stay in the texts of CSV. */
export interface PieceStyle {
  readonly format: FormatName;
  readonly isRaw: boolean;
}

/** Returns the select list of columns in a format. */
export function selectAs({ format, isRaw }: PieceStyle, columns: readonly ExportedColumn[]): Sql {
  const { storedValue } = pieceFormats[format];
  return join(
    columns.map(({ column: { name, type }, value }) => sql`${storedValue(value, type, isRaw)} AS ${ident(name)}`),
  );
}
