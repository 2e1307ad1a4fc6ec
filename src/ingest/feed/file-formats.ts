/** Readers of the feed file formats (CSV, NDJSON, Parquet): each turns a file into a relation of text columns. */
import { integerIn, textIn } from "../../base/json.ts";
import { printable } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, literal, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import { checkColumnNames, readCsvHeader } from "./column-names.ts";
import type { FeedFile } from "./feed-file.ts";
import { type FeedLimits, feedColumnsMax } from "./feed-limits.ts";
import { type FeedField, feed, fieldOfColumn, isTextList, listSeparator } from "./feed-schema.ts";
import { fileError, limitError } from "./file-errors.ts";
import type { Mapping } from "./mapping.ts";

/** A file as a relation: `row` (counted from 1), then the file's columns. Text lists are VARCHAR[], all other columns VARCHAR. */
export interface FeedRelation {
  readonly columns: readonly string[];
  readonly rows: Sql;
}

/** How to read the files of a delivery. */
export interface ReadSettings {
  readonly limits: FeedLimits;
  readonly mapping?: Mapping;
}

type FormatReader = (session: Session, file: FeedFile, settings: ReadSettings) => Promise<FeedRelation>;

/** The reader of each format. Throws a UserError if the file is malformed. */
export const formatReaders: Readonly<Record<FeedFile["format"], FormatReader>> = {
  async csv(_session, file, { mapping, limits }) {
    const { delimiter, encoding } = csvDialect(mapping);
    const columns = await readCsvHeader(file, { delimiter, encoding }, limits);
    const types = columns.map((column) => sql`${literal(column)}: 'VARCHAR'`);
    const values = columns.map(
      (column) => sql`${textOrList(file, column, ident(column), mapping)} AS ${ident(column)}`,
    );
    return {
      columns,
      rows: sql`SELECT row_number() OVER () AS "row", ${join(values)} FROM read_csv(${pathLiteral(file.path)}, header = true,
        auto_detect = false, delim = ${literal(delimiter)}, quote = '"', escape = '"', strict_mode = true,
        null_padding = false, encoding = ${literal(encoding)}, columns = {${join(types)}}, hive_partitioning = false,
        compression = ${file.isGzip ? "gzip" : "none"}, max_line_size = ${limits.recordBytes}, buffer_size = ${csvBufferBytes(limits)})`,
    };
  },

  async ndjson(session, file, { limits }) {
    const settings = sql`hive_partitioning = false, compression = ${file.isGzip ? "gzip" : "uncompressed"},
      maximum_object_size = ${limits.recordBytes}`;
    const objects = sql`SELECT json FROM read_ndjson_objects(${pathLiteral(file.path)}, ${settings})`;
    const keys = sql`SELECT DISTINCT unnest(json_keys(json)) AS key FROM (${objects}) WHERE json_type(json) = 'OBJECT'`;
    const columns = (await session.rows(sql`FROM (${keys}) ORDER BY key LIMIT ${feedColumnsMax + 1}`)).map((row) =>
      textIn(row, "key"),
    );
    if (columns.length === 0) throw new Error("empty file: expected at least one row.");
    checkColumnNames(file, columns);
    const types = columns.map((column) => sql`${literal(column)}: 'JSON'`);
    const json = sql`SELECT row_number() OVER () AS "row", *
      FROM read_json(${pathLiteral(file.path)}, format = 'newline_delimited', columns = {${join(types)}}, ${settings})`;
    await checkJsonTypes(session, file, columns, json);
    const values = columns.map((column) => sql`${jsonTextOrList(file, column)} AS ${ident(column)}`);
    return { columns, rows: sql`SELECT "row", ${join(values)} FROM (${json})` };
  },

  async parquet(session, file, { limits }) {
    await checkParquetSize(session, file, limits);
    const source = sql`read_parquet(${pathLiteral(file.path)}, file_row_number = true, hive_partitioning = false)`;
    const described = await session.rows(sql`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${source})`);
    const types = new Map(described.map((row) => [textIn(row, "column_name"), textIn(row, "column_type")]));
    types.delete("file_row_number");
    const columns = [...types.keys()];
    checkColumnNames(file, columns);
    const values = [...types].map(
      ([column, type]) => sql`${parquetTextOrList(file, column, type)} AS ${ident(column)}`,
    );
    const rows = sql`SELECT file_row_number + 1 AS "row", ${join(values)} FROM ${source}`;
    return { columns, rows: limitRecords(file, columns, rows, limits) };
  },
};

/** Returns the delimiter and encoding of CSV files. */
export const csvDialect = (mapping?: Mapping): { readonly delimiter: string; readonly encoding: string } => ({
  delimiter: mapping?.delimiter ?? ",",
  encoding: mapping?.encoding ?? "utf-8",
});

/** Returns the buffer of the CSV reader: its default, or enough for two rows. */
const csvBufferBytes = ({ recordBytes }: FeedLimits): number => Math.max(32_000_000, 2 * recordBytes);

/** Throws a UserError if a Parquet file, uncompressed, exceeds a limit by its own metadata. */
async function checkParquetSize(session: Session, file: FeedFile, limits: FeedLimits): Promise<void> {
  const path = pathLiteral(file.path);
  const size = await session.row(sql`
    SELECT num_rows::DOUBLE AS "rows", file_size_bytes::DOUBLE AS bytes,
      (SELECT coalesce(sum(total_uncompressed_size), 0)::DOUBLE FROM parquet_metadata(${path})) AS uncompressed
    FROM parquet_file_metadata(${path})`);
  const { rows, bytes, uncompressed } = {
    rows: Number(size?.rows),
    bytes: Number(size?.bytes),
    uncompressed: Number(size?.uncompressed),
  };
  if (rows > limits.rows) throw limitError(file, "rows", limits);
  if (uncompressed > limits.uncompressedBytes) throw limitError(file, "uncompressedBytes", limits);
  if (uncompressed > limits.compressionRatio * bytes) throw limitError(file, "compressionRatio", limits);
}

/** Returns rows that fail at the first with more bytes than the limit. Parquet stores a repeated value once, however long. */
function limitRecords(file: FeedFile, columns: readonly string[], rows: Sql, { recordBytes }: FeedLimits): Sql {
  const sizes = columns
    .filter((column) => fieldOf(file, column) !== undefined)
    .map((column) => {
      const text = isTextList(fieldOf(file, column)) ? sql`array_to_string(${ident(column)}, '')` : ident(column);
      return sql`coalesce(strlen(${text}), 0)`;
    });
  if (sizes.length === 0) return rows;
  return sql`SELECT * FROM (${rows}) WHERE ${withinLimit("recordBytes", sql`${join(sizes, sql` + `)} > ${recordBytes}`)}`;
}

/** A condition that is true, or fails with an error that `describeFileError` recognizes. */
export const withinLimit = (limit: keyof FeedLimits, isExceeded: Sql): Sql =>
  sql`CASE WHEN ${isExceeded} THEN error(concat('exceeds the limit ', ${limit}, ' in row ', "row")) ELSE true END`;

const fieldOf = ({ table }: FeedFile, column: string): FeedField | undefined =>
  feed[table].properties[fieldOfColumn(table, column) ?? ""];

/** Returns a CSV value, split if the field is a text list. With a mapping, columns are not fields yet and stay text. */
function textOrList(file: FeedFile, column: string, text: Sql, mapping?: Mapping): Sql {
  return mapping === undefined && isTextList(fieldOf(file, column))
    ? sql`string_split(${text}, ${listSeparator})`
    : text;
}

function jsonTextOrList(file: FeedFile, column: string): Sql {
  const text = sql`${ident(column)} ->> '$'`;
  if (!isTextList(fieldOf(file, column))) return text;
  return sql`CASE WHEN json_type(${ident(column)}) = 'ARRAY' THEN ${ident(column)}::VARCHAR[] ELSE string_split(${text}, ${listSeparator}) END`;
}

/** Returns a Parquet column as text or text list. Throws a UserError if its type is nested and the field's is not. */
function parquetTextOrList(file: FeedFile, column: string, columnType: string): Sql {
  const field = fieldOf(file, column);
  const isNested = /\[\]$|^(STRUCT|MAP|LIST)/.test(columnType);
  if (!isNested) return textOrList(file, column, sql`${ident(column)}::VARCHAR`);
  if (field !== undefined && field.type !== "array") {
    throw fileError(
      file,
      `, row 0 (schema): invalid type ${printable(columnType, 40)} of column "${column}": expected ${field.type}.`,
    );
  }
  return isTextList(field) && columnType.endsWith("[]")
    ? sql`${ident(column)}::VARCHAR[]`
    : sql`to_json(${ident(column)})::VARCHAR`;
}

/** Throws a UserError for the first value that is an object or array although its field is not. */
async function checkJsonTypes(session: Session, file: FeedFile, columns: readonly string[], rows: Sql): Promise<void> {
  const cases = columns.flatMap((column) => {
    const field = fieldOf(file, column);
    if (field === undefined) return [];
    const invalidStarts = field.type === "array" ? ["{"] : ["{", "["];
    return [sql`WHEN list_contains(${invalidStarts}, left(${ident(column)}::VARCHAR, 1)) THEN ${column}`];
  });
  if (cases.length === 0) return;
  const found = await session.row(sql`
    SELECT "row"::INTEGER AS "row", "column" FROM (SELECT "row", CASE ${join(cases, sql` `)} END AS "column" FROM (${rows}))
    WHERE "column" IS NOT NULL ORDER BY "row" LIMIT 1`);
  if (found === undefined) return;
  const column = textIn(found, "column");
  const expected = fieldOf(file, column)?.type;
  throw fileError(file, `, row ${integerIn(found, "row")}: nested value in column "${column}": expected ${expected}.`);
}
