/**
 * Rows encoded as JSON, in pieces: the text of a piece has the properties of some columns, such as `"make":"Ford","model":"Bronco"`. Listings, builds and
 * dealers are stored this way, and a response page is joined from whole pieces without parsing or serializing them again.
 */
import { type Json, type Row, rowOf } from "../base/json.ts";
import { join, literal, type Sql, sql } from "../db/sql.ts";

/** The texts of the pieces of a row, in the order of its format. */
export type JsonRow = readonly string[];

interface PieceOptions<Column extends string> {
  /** The columns of each piece that can be served unchanged. Those that none of them has are one more piece, without those that are null. */
  readonly pieces?: readonly (readonly Column[])[];
  /** The names of properties, where they are not those of columns. */
  readonly properties?: Readonly<Partial<Record<string, string>>>;
}

/** Encodes and decodes the rows of one relation. Each column is the value of an SQL expression. */
export class JsonRowFormat<Column extends string> {
  readonly columns: readonly Column[];
  /** The columns of each piece. */
  readonly pieces: readonly (readonly Column[])[];
  /** Those that can be served unchanged. */
  readonly servedPieces: readonly (readonly Column[])[];
  private readonly pieceNumbers: ReadonlyMap<string, number>;
  private readonly properties: NonNullable<PieceOptions<Column>["properties"]>;

  constructor(
    private readonly values: Readonly<Record<Column, Sql>>,
    { pieces = [], properties = {} }: PieceOptions<Column> = {},
  ) {
    this.columns = Object.keys(values) as Column[];
    const others = this.columns.filter((column) => !pieces.some((piece) => piece.includes(column)));
    this.servedPieces = pieces.filter(({ length }) => length > 0);
    this.pieces = [...this.servedPieces, others];
    this.pieceNumbers = new Map(this.pieces.flatMap((piece, number) => piece.map((column) => [column, number])));
    this.properties = properties;
  }

  /** Returns the SQL expression that encodes pieces as one text. Line breaks separate them: JSON escapes its own. */
  selectText(pieces: readonly (readonly Column[])[] = this.pieces): Sql {
    const texts = pieces.map((piece) => {
      const properties = piece.map((column) => {
        const value = sql`to_json(${this.values[column]})::VARCHAR`;
        const isServed = this.servedPieces.includes(piece);
        return sql`${literal(`"${this.propertyOf(column)}":`)} || ${isServed ? sql`coalesce(${value}, 'null')` : value}`;
      });
      return sql`concat_ws(',', ${join(properties)})`;
    });
    return sql`array_to_string([${join(texts)}], chr(10))`;
  }

  has(column: string): column is Column {
    return this.pieceNumbers.has(column);
  }

  propertyOf(column: string): string {
    return this.properties[column] ?? column;
  }

  /** Returns the zero-based number of a column's piece. Throws a TypeError if there is no such column. */
  pieceOf(column: string): number {
    const number = this.pieceNumbers.get(column);
    if (number === undefined)
      throw new TypeError(`Unknown column ${column}: expected one of ${this.columns.join(", ")}.`);
    return number;
  }

  /** Splits an encoded text into a row. Throws a TypeError if the number of pieces is wrong. */
  parse(text: string): JsonRow {
    return this.checked(text.split("\n"));
  }

  /** Returns the pieces of a row. Throws a TypeError if their number is wrong. */
  checked(pieces: readonly string[]): JsonRow {
    if (pieces.length !== this.pieces.length)
      throw new TypeError(`Invalid row of ${pieces.length} pieces: expected ${this.pieces.length}.`);
    return pieces;
  }

  decode(row: JsonRow, columns: readonly Column[] = this.columns): Row {
    const parsed = parsePiece(row.filter((text) => text !== "").join());
    return rowOf(columns, (column) => parsed[this.propertyOf(column)] ?? null);
  }

  /** Returns the value of a column. Keeps each piece that it parses in `parsed`, for other columns of the row. */
  valueOf(row: JsonRow, column: string, parsed: Row[]): Json {
    const number = this.pieceOf(column);
    parsed[number] ??= parsePiece(row[number]);
    return parsed[number][this.propertyOf(column)] ?? null;
  }
}

/** Returns the properties of a piece; none of undefined. */
export const parsePiece = (text = ""): Row => JSON.parse(`{${text}}`);

/** Returns the JSON of the value of a piece with a single property. */
export const onlyValue = (text = ":null"): string => text.slice(text.indexOf(":") + 1);
