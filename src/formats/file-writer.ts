/**
 * Writes the rows of queries to one file of any format, in memory that does not grow with the rows: the engine writes each query to a piece, and
 * the pieces become the file. Columns, types and spelling are those of the encoders of pages, which hold all rows in memory.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { appendFile, open, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Row, textIn } from "../base/json.ts";
import type { Column, ColumnType, TableMetadata } from "../contract/tables.ts";
import { fileLiteral, ident, integerLiteral, join, literal, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { type FormatName, formulaPattern } from "./table-formats.ts";

/** Rows of a row group. Few, because a writer holds a row group in memory. */
const rowGroupRows = 32_768;

/** Rows of a record batch. */
const batchRows = 8_192;

export function duckdbType(type: ColumnType): Sql {
  switch (type.kind) {
    case "text":
    case "category":
      return sql`VARCHAR`;
    case "integer":
      return type.bits === 32 ? sql`INTEGER` : sql`BIGINT`;
    case "number":
      return sql`DOUBLE`;
    case "boolean":
      return sql`BOOLEAN`;
    case "date":
      return sql`DATE`;
    case "timestamp":
      return sql`TIMESTAMPTZ`;
    case "list":
      return sql`${duckdbType(type.items)}[]`;
    case "struct":
      return sql`STRUCT(${join(type.columns.map((column) => sql`${ident(column.name)} ${duckdbType(column.type)}`))})`;
  }
}

/** Returns a query for the rows of an NDJSON file. */
export function rowsOfNdjson(path: string, columns: readonly { readonly name: string; readonly type: Sql }[]): Sql {
  const types = join(columns.map(({ name, type }) => sql`${ident(name)}: ${literal(type.text)}`));
  return sql`FROM read_json(${pathLiteral(path)}, format = 'newline_delimited', columns = {${types}})`;
}

/** Returns a number as JSON text, as JavaScript spells it: the engine writes `3.0`, and outside of JSON `1e-05`. */
const numberText = (value: Sql): Sql => sql`regexp_replace(to_json((${value})::DOUBLE)::VARCHAR, '\\.0$', '')`;

/** Returns a list or struct as JSON text, whose numbers are spelled likewise. */
const nestedText = (value: Sql): Sql =>
  sql`regexp_replace(to_json(${value})::VARCHAR, '("(?:[^"\\\\]|\\\\.)*")|\\.0([],}])', '\\1\\2', 'g')`;

/** Returns whether values of a type have numbers with fractions within. */
const hasNumbers = (type: ColumnType): boolean =>
  type.kind === "list"
    ? hasNumbers(type.items)
    : type.kind === "number" || (type.kind === "struct" && type.columns.some((column) => hasNumbers(column.type)));

/** Returns a time as the text that all formats without a type for times have: in UTC, with a fraction of its second if it has one. */
export const timeText = (value: Sql): Sql =>
  sql`regexp_replace((${value})::VARCHAR, '^(\\S+) ([\\d:.]+)(\\+00)?$', '\\1T\\2Z')`;

/** Returns the content of a CSV cell; `isRaw` leaves formulas in texts. */
export function csvCell(value: Sql, type: ColumnType, isRaw: boolean): Sql {
  const { kind } = type;
  if (kind === "list" || kind === "struct")
    return hasNumbers(type) ? nestedText(value) : sql`to_json(${value})::VARCHAR`;
  if (kind === "number") return numberText(value);
  if (isRaw || (kind !== "text" && kind !== "category")) return value;
  return sql`regexp_replace(${value}, ${literal(`(${formulaPattern})`)}, '''\\1')`;
}

/** Returns a served value for readers of JSON: dates are text, and numbers have the type of the column, even if the lake computes with another. */
function jsonCell(value: Sql, type: ColumnType): Sql {
  if (type.kind === "date") return sql`(${value})::VARCHAR`;
  return type.kind === "integer" || type.kind === "number" ? sql`(${value})::${duckdbType(type)}` : value;
}

/** Returns a served value as a file of a format stores it. `isRaw` leaves formulas in the texts of CSV. */
export function storedValue(format: FormatName, value: Sql, type: ColumnType, isRaw: boolean): Sql {
  switch (format) {
    case "parquet":
      return sql`(${value})::${duckdbType(type)}`;
    case "arrow":
      return jsonCell(value, type);
    case "csv":
      return csvCell(value, type, isRaw);
    case "ndjson":
    case "json":
      if (type.kind === "number") return sql`${numberText(value)}::JSON`;
      return hasNumbers(type) ? sql`${nestedText(value)}::JSON` : jsonCell(value, type);
  }
}

/** Returns the options of COPY for a Parquet file with key-value metadata. */
export function parquetOptions(metadata: TableMetadata): Sql {
  const pairs = Object.entries(metadata).map(([key, text]) => sql`${ident(key)}: ${literal(text)}`);
  const keyValues = pairs.length === 0 ? sql`` : sql`, KV_METADATA {${join(pairs)}}`;
  return sql`FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${integerLiteral(rowGroupRows)}${keyValues}`;
}

/** The options for a Parquet file that is read again at once: its compression is faster. */
const interimOptions = sql`FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE ${integerLiteral(rowGroupRows)}`;

/** Runs a statement on a database that may read and write the folder of the file. */
type Run = (statement: Sql) => Promise<readonly Row[]>;

export interface WrittenTable {
  readonly path: string;
  readonly format: FormatName;
  readonly columns: readonly Column[];
  readonly metadata: TableMetadata;
  /** How the lines of CSV end. */
  readonly lineEnd: "\r\n" | "\n";
}

export class FileWriter {
  private readonly pieces: string[] = [];
  /** Whether the array of JSON has items. */
  private hasItems = false;

  constructor(
    private readonly table: WrittenTable,
    private readonly run: Run,
  ) {}

  /**
   * Writes the rows of the next query, whose values are stored ones; returns their number. `copy` runs the statement for its query, on the same
   * database.
   */
  async add(isLast: boolean, copy: (statementOf: (query: Sql) => Sql) => Promise<readonly Row[]>): Promise<number> {
    const piece = `${this.table.path}.${this.pieces.length}`;
    const options = this.optionsOfNext(isLast);
    this.pieces.push(piece);
    const [row] = await copy((query) => sql`COPY (${query}) TO ${fileLiteral(piece)} (${options}, USE_TMP_FILE false)`);
    if (this.table.format === "csv" || this.table.format === "ndjson") await this.append(piece);
    if (this.table.format === "json") await this.appendItems(piece);
    return Number(row?.Count);
  }

  /** Completes the file. */
  async finish(): Promise<void> {
    const { path, format } = this.table;
    if (format === "parquet") await this.joinParquet();
    if (format === "arrow") await this.convertToArrow();
    if (format === "json") await appendFile(path, this.hasItems ? "\n]\n" : "[]\n");
    await Promise.all(this.pieces.map((piece) => rm(piece, { force: true })));
  }

  private optionsOfNext(isLast: boolean): Sql {
    const { format, metadata, lineEnd } = this.table;
    const isFirst = this.pieces.length === 0;
    switch (format) {
      case "parquet":
        return isFirst && isLast ? parquetOptions(metadata) : interimOptions;
      case "arrow":
        // The engine writes no Arrow.
        return interimOptions;
      case "csv":
        return sql`FORMAT csv, HEADER ${isFirst ? sql`true` : sql`false`}, NEW_LINE ${lineEnd === "\n" ? sql`'\\n'` : sql`'\\r\\n'`}`;
      case "ndjson":
      case "json":
        return sql`FORMAT json`;
    }
  }

  /** Appends a piece to the file. Pieces of text are removed at once, so that the rows are on the disk once. */
  private async append(piece: string): Promise<void> {
    const { path } = this.table;
    if (this.pieces.length === 1) return rename(piece, path);
    await pipeline(createReadStream(piece), createWriteStream(path, { flags: "a" }));
    await rm(piece);
  }

  /** Appends the lines of a piece as items of a JSON array. */
  private async appendItems(piece: string): Promise<void> {
    const items = async function* (this: FileWriter, lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const item of jsonItemsOf(lines, this.hasItems ? ",\n" : "[\n", ",\n")) {
        this.hasItems = true;
        yield item;
      }
    };
    await pipeline(createReadStream(piece), items.bind(this), createWriteStream(this.table.path, { flags: "a" }));
    await rm(piece);
  }

  private async joinParquet(): Promise<void> {
    const { path, metadata } = this.table;
    const [only = "", ...others] = this.pieces;
    if (others.length === 0) return rename(only, path);
    const rows = sql`FROM read_parquet([${join(this.pieces.map(pathLiteral))}])`;
    await this.run(sql`COPY (${rows}) TO ${fileLiteral(path)} (${parquetOptions(metadata)}, USE_TMP_FILE false)`);
  }

  private async convertToArrow(): Promise<void> {
    const { path, columns, metadata } = this.table;
    const words = new Map<string, readonly string[]>();
    for (const { name, type } of columns) if (type.kind === "category") words.set(name, await this.wordsOf(name));
    const { ArrowStream } = await import("./arrow.ts");
    const stream = new ArrowStream(columns, metadata, ({ name }) => words.get(name) ?? []);
    const file = await open(path, "wx");
    try {
      for (const piece of this.pieces)
        for await (const rows of this.batchesOf(piece)) await file.writeFile(await stream.add(rows));
      await file.writeFile(stream.end());
    } finally {
      await file.close();
    }
  }

  /** Returns the values of a category, each once, in the order of their bytes. */
  private async wordsOf(column: string): Promise<readonly string[]> {
    const rows = await this.run(sql`
      SELECT DISTINCT ${ident(column)} AS word FROM read_parquet([${join(this.pieces.map(pathLiteral))}])
      WHERE word IS NOT NULL ORDER BY word`);
    return rows.map((row) => textIn(row, "word"));
  }

  private async *batchesOf(piece: string): AsyncGenerator<readonly Row[]> {
    for (let first = 0; ; first += batchRows) {
      const rows = await this.run(sql`
        SELECT * EXCLUDE (file_row_number) FROM read_parquet(${pathLiteral(piece)}, file_row_number = true)
        WHERE file_row_number >= ${first} AND file_row_number < ${first + batchRows} ORDER BY file_row_number`);
      if (rows.length > 0) yield rows;
      if (rows.length < batchRows) return;
    }
  }
}

/** Yields lines of JSON as items of an array: `before` the first one, `between` all others, instead of line feeds. No item contains a line feed. */
export async function* jsonItemsOf(
  lines: AsyncIterable<Buffer>,
  before: string,
  between: string,
): AsyncGenerator<Buffer> {
  let separator = before;
  for await (const chunk of lines) {
    // Latin-1 keeps bytes unchanged: a chunk can end within a character of UTF-8.
    const text = chunk.toString("latin1");
    const isWhole = text.endsWith("\n");
    yield Buffer.from(separator + (isWhole ? text.slice(0, -1) : text).replaceAll("\n", between), "latin1");
    separator = isWhole ? between : "";
  }
}
