/**
 * Rows encoded as JSON, one line per value. Listings, builds and dealers are stored this way, and a response page is assembled from the
 * lines without parsing or serializing them again, which would nearly double its cost outside the engine.
 */
import { type Json, type Row, rowOf } from "../base/json.ts";
import { join, type Sql, sql } from "../db/sql.ts";

/** The values of a row, each encoded as JSON, in the column order of its format. */
export type JsonRow = readonly string[];

/** Encodes and decodes the rows of one relation. Each column is the value of an SQL expression. */
export class JsonRowFormat<Column extends string> {
  readonly columns: readonly Column[];
  private readonly indexes: ReadonlyMap<string, number>;

  constructor(private readonly values: Readonly<Record<Column, Sql>>) {
    this.columns = Object.keys(values) as Column[];
    this.indexes = new Map(this.columns.map((column, index) => [column, index]));
  }

  /** Returns the SQL expression that encodes the given columns as one text. Line breaks separate values: JSON escapes its own. */
  selectText(columns: readonly Column[] = this.columns): Sql {
    const lines = columns.map((column) => sql`coalesce(to_json(${this.values[column]})::VARCHAR, 'null')`);
    return sql`array_to_string([${join(lines)}], chr(10))`;
  }

  has(column: string): column is Column {
    return this.indexes.has(column);
  }

  /** Returns the zero-based index of a column's line. Throws a TypeError if there is no such column. */
  indexOf(column: string): number {
    const index = this.indexes.get(column);
    if (index === undefined)
      throw new TypeError(`Unknown column ${column}: expected one of ${this.columns.join(", ")}.`);
    return index;
  }

  /** Splits an encoded text into a row. Throws a TypeError if the number of lines is wrong. */
  parse(text: string): JsonRow {
    return this.checked(text.split("\n"));
  }

  /** Returns the lines of a row. Throws a TypeError if their number is wrong. */
  checked(lines: readonly string[]): JsonRow {
    if (lines.length !== this.columns.length)
      throw new TypeError(`Invalid row of ${lines.length} lines: expected ${this.columns.length}.`);
    return lines;
  }

  /** Encodes a row of values. Columns that the row lacks become null. */
  encode(row: Row): JsonRow {
    return this.columns.map((column) => JSON.stringify(row[column] ?? null));
  }

  decode(row: JsonRow, columns: readonly Column[] = this.columns): Row {
    return rowOf(columns, (column) => parseJsonValue(row[this.indexOf(column)]));
  }
}

/** Parses one line of a row; undefined parses as null. */
export const parseJsonValue = (line: string | undefined): Json => (line === undefined ? null : JSON.parse(line));
