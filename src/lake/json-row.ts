/**
 * Rows as JSON, a value on each line. Listings, builds and dealers are kept so, and a page is put together from such lines: neither parsed
 * nor written again, which would nearly double its cost outside of the engine.
 */
import type { Json, Row } from "../base/json.ts";
import { join, type Sql, sql } from "../db/sql.ts";

/** The values of a row, each as JSON, in the order of its format. */
export type JsonRow = readonly string[];

/** The columns of rows. */
export class JsonRowFormat<Column extends string> {
  readonly columns: readonly Column[];
  private readonly places: ReadonlyMap<string, number>;

  /** Of columns that are each the value of an SQL expression. */
  constructor(private readonly values: Readonly<Record<Column, Sql>>) {
    this.columns = Object.keys(values) as Column[];
    this.places = new Map(this.columns.map((column, place) => [column, place]));
  }

  /** Some columns of a row as one text, to be selected. JSON has no line breaks of its own. */
  selectText(columns: readonly Column[] = this.columns): Sql {
    const lines = columns.map((column) => sql`coalesce(to_json(${this.values[column]})::VARCHAR, 'null')`);
    return sql`array_to_string([${join(lines)}], chr(10))`;
  }

  /** Whether rows have a column. */
  has(column: string): column is Column {
    return this.places.has(column);
  }

  /** The line of a column, counted from 0. */
  indexOf(column: string): number {
    const place = this.places.get(column);
    if (place === undefined) throw new TypeError(`No row has the column ${column}.`);
    return place;
  }

  /** The row of a text. */
  parse(text: string): JsonRow {
    const lines = text.split("\n");
    if (lines.length !== this.columns.length)
      throw new TypeError(`A row has ${lines.length} lines, expected ${this.columns.length}.`);
    return lines;
  }

  /** A row that was read by its columns; columns that were not read are null. */
  encode(row: Row): JsonRow {
    return this.columns.map((column) => JSON.stringify(row[column] ?? null));
  }

  /** Some values of a row. */
  decode(row: JsonRow, columns: readonly Column[] = this.columns): Row {
    return Object.fromEntries(columns.map((column) => [column, parseJsonValue(row[this.indexOf(column)])]));
  }
}

/** The value of a line; null where there is none. */
export const parseJsonValue = (line: string | undefined): Json => (line === undefined ? null : JSON.parse(line));
