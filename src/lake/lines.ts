/**
 * Rows as lines of JSON, a value on each. Listings, builds and dealers are kept so, and what is served of them is put together from such
 * lines as they are: a page is neither parsed nor written again, which would nearly double what it takes outside of the engine.
 */
import type { Json, Row } from "../base/json.ts";
import { join, type Sql, sql } from "../base/sql.ts";

/** The values of a row, each as JSON, in the order of its format. */
export type Lines = readonly string[];

/** What rows consist of. */
export class LineFormat<Column extends string> {
  readonly columns: readonly Column[];
  /** A row as one text, to be selected. JSON has no line breaks of its own. */
  readonly text: Sql;
  private readonly places: ReadonlyMap<string, number>;

  /** Of these columns, each the value of an expression. */
  constructor(values: Readonly<Record<Column, Sql>>) {
    this.columns = Object.keys(values) as Column[];
    this.places = new Map(this.columns.map((column, place) => [column, place]));
    const lines = this.columns.map((column) => sql`coalesce(to_json(${values[column]})::VARCHAR, 'null')`);
    this.text = sql`array_to_string([${join(lines)}], chr(10))`;
  }

  /** Whether rows have a column. */
  has(column: string): column is Column {
    return this.places.has(column);
  }

  /** Which line of a row is that of a column, counted from 0. */
  placeOf(column: string): number {
    const place = this.places.get(column);
    if (place === undefined) throw new TypeError(`No row has the column ${column}.`);
    return place;
  }

  /** The lines of a row's text. */
  linesIn(text: string): Lines {
    const lines = text.split("\n");
    if (lines.length !== this.columns.length)
      throw new TypeError(`A row has ${lines.length} lines, not ${this.columns.length}.`);
    return lines;
  }

  /** The lines of a row that was read by its columns; those that were not read are null. */
  linesOf(row: Row): Lines {
    return this.columns.map((column) => JSON.stringify(row[column] ?? null));
  }

  /** Some values of a row. */
  rowOf(lines: Lines, columns: readonly Column[] = this.columns): Row {
    return Object.fromEntries(columns.map((column) => [column, valueIn(lines[this.placeOf(column)])]));
  }
}

/** The value of a line; where there is none, there is no value. */
export const valueIn = (line: string | undefined): Json => (line === undefined ? null : JSON.parse(line));
