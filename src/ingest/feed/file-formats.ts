/** Readers of the feed file formats (CSV, NDJSON, Parquet): each turns files of one shape into a relation of text columns. */
import { integerIn, textIn } from "../../base/json.ts";
import { printable } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, integerLiteral, join, literal, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import type { Mapping } from "../mapping/rules.ts";
import { decodedEntities } from "../normalize/html-entities.ts";
import { checkColumnNames, readCsvHeader } from "./column-names.ts";
import type { DealerList } from "./dealer-list.ts";
import { type FeedFile, type FeedFormat, type FeedLimits, feedColumnsMax, layoutOf } from "./feed-file.ts";
import { type FeedField, feed, fieldOfColumn, isTextList, listSeparator } from "./feed-schema.ts";
import { fileError, limitError } from "./file-errors.ts";

/** What files of one format have in common if one statement can read them: their columns, in Parquet with types. */
export interface FileShape {
  readonly columns: readonly string[];
  readonly types?: readonly string[];
  /** Whether texts can have entities, which are decoded. */
  readonly hasEntities?: boolean;
}

/**
 * Files of one shape as a relation: `row` (counted from 1 in each file), then the columns. Text lists are VARCHAR[], all other columns VARCHAR.
 * `file` is the expression of the file's name.
 */
export interface FeedRelation {
  readonly columns: readonly string[];
  readonly file: Sql;
  /** The name of the folder in that of the day. */
  readonly folder?: Sql;
  /** The column by which rows of several files differ; none for a single file. */
  readonly fileColumn: readonly Sql[];
  /** The most bytes of a row, if what reads the rows has to check it. */
  readonly recordBytes?: number;
  readonly rows: Sql;
}

/** How to read the files of a delivery. */
export interface ReadSettings {
  readonly limits: FeedLimits;
  /** The mapping of all inventory files. */
  readonly mapping?: Mapping;
  /** ISO 4217 code of the currency of prices, of files that are only tried. Default: USD. */
  readonly currency?: string;
  /** The list of dealers of mapped files without one in their folder. */
  readonly dealers?: DealerList;
  /** Folder for files that are converted before they are read. Default: the system's. */
  readonly scratch?: string;
  /** The most files that one statement reads; fewer if they are large. */
  readonly batchFilesMax?: number;
}

/** Files of one table, format and shape; at least one. */
export interface FileGroup {
  readonly files: readonly FeedFile[];
  /** The first of the files, for what they have in common. */
  readonly file: FeedFile;
  readonly shape: FileShape;
}

interface FormatReader {
  /** Returns the shape of a file. Throws a UserError if the file is malformed. */
  readonly shapeOf: (session: Session, file: FeedFile, settings: ReadSettings) => Promise<FileShape>;
  readonly rowsOf: (group: FileGroup, settings: ReadSettings) => Sql;
}

/** The formats that the engine reads. */
export type ReadFormat = Extract<FeedFormat, "csv" | "ndjson" | "parquet">;

export const isReadFormat = (format: FeedFormat): format is ReadFormat => format in formatReaders;

/** The reader of each format. */
const formatReaders: Readonly<Record<ReadFormat, FormatReader>> = {
  csv: {
    shapeOf: async (_session, file, { limits }) => ({ columns: await readCsvHeader(file, limits) }),
    rowsOf(group, { limits }) {
      const { file, shape } = group;
      const { delimiter, quote, hasHeader } = layoutOf(file);
      const types = [...rowType(file), ...shape.columns.map((column) => sql`${literal(column)}: 'VARCHAR'`)];
      const values = shape.columns.map((column) => sql`${textOrList(file, column, ident(column))} AS ${ident(column)}`);
      const scan = sql`read_csv(${pathsOf(group)}, header = ${literal(String(hasHeader))}::BOOLEAN,
        auto_detect = false, delim = ${literal(delimiter)}, quote = ${literal(quote)}, escape = ${literal(quote)}, strict_mode = true,
        null_padding = false, encoding = 'utf-8', columns = {${join(types)}}, hive_partitioning = false,
        compression = ${file.isGzip ? "gzip" : "none"}, max_line_size = ${limits.recordBytes}, buffer_size = ${csvBufferBytes(limits)}${fileOption(group)})`;
      return numberedRows(group, scan, values);
    },
  },

  ndjson: {
    async shapeOf(session, file, { limits }) {
      const objects = sql`SELECT json FROM read_ndjson_objects(${pathLiteral(file.path)}, ${jsonSettings(file, limits)})`;
      const keys = sql`SELECT DISTINCT unnest(json_keys(json)) AS key FROM (${objects}) WHERE json_type(json) = 'OBJECT'`;
      const found = await session.rows(sql`FROM (${keys}) ORDER BY key LIMIT ${feedColumnsMax + 2}`);
      const columns = found.map((row) => textIn(row, "key")).filter((key) => key !== "row" || !file.isNumbered);
      if (columns.length === 0) throw new Error("empty file: expected at least one row.");
      checkColumnNames(file, columns);
      await checkJsonTypes(session, file, columns, jsonRows({ files: [file], file, shape: { columns } }, limits));
      return { columns };
    },
    rowsOf(group, { limits }) {
      const values = group.shape.columns.map(
        (column) => sql`${jsonTextOrList(group.file, column)} AS ${ident(column)}`,
      );
      return sql`SELECT "row", ${join([...fileColumn(group), ...values])} FROM (${jsonRows(group, limits)})`;
    },
  },

  parquet: {
    async shapeOf(session, file, { limits }) {
      await checkParquetSize(session, file, limits);
      const source = sql`read_parquet(${pathLiteral(file.path)}, file_row_number = true, hive_partitioning = false)`;
      const described = await session.rows(
        sql`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${source}) WHERE column_name <> 'file_row_number'`,
      );
      const columns = described.map((row) => textIn(row, "column_name"));
      const types = described.map((row) => textIn(row, "column_type"));
      checkColumnNames(file, columns);
      for (const [index, column] of columns.entries()) parquetTextOrList(file, column, types[index] ?? "");
      return { columns, types };
    },
    rowsOf(group, { limits }) {
      const { file, shape } = group;
      const values = shape.columns.map(
        (column, index) => sql`${parquetTextOrList(file, column, shape.types?.[index] ?? "")} AS ${ident(column)}`,
      );
      const scan = sql`read_parquet(${pathsOf(group)}, file_row_number = true, hive_partitioning = false${fileOption(group)})`;
      const rows = sql`SELECT file_row_number + 1 AS "row", ${join([...fileColumn(group), ...values])} FROM ${scan}`;
      return limitRecords(file, shape.columns, rows, limits);
    },
  },
};

const readerOf = (file: FeedFile): FormatReader => {
  if (isReadFormat(file.format)) return formatReaders[file.format];
  throw fileError(file, `: invalid format ${file.format}: expected a file that was converted.`);
};

/** Returns the shape of a file. Throws a UserError if the file is malformed. */
export const shapeOf = (session: Session, file: FeedFile, settings: ReadSettings): Promise<FileShape> =>
  readerOf(file).shapeOf(session, file, settings);

/** Returns files as a relation. Requires `loadEntities`. */
export function relationOf(group: FileGroup, settings: ReadSettings): FeedRelation {
  const rows = readerOf(group.file).rowsOf(group, settings);
  return {
    columns: group.shape.columns,
    file: fileName(group),
    ...folderOf(group),
    fileColumn: fileColumn(group),
    ...(group.file.format === "parquet" && { recordBytes: settings.limits.recordBytes }),
    rows: group.shape.hasEntities ? decodedRows(group, rows) : rows,
  };
}

/** Selects rows with the characters that entities stand for. JSON in a text is left. */
function decodedRows({ file, shape }: FileGroup, rows: Sql): Sql {
  const columns = shape.columns.flatMap((name) => {
    const field = fieldOf(file, name);
    const column = ident(name);
    if (isTextList(field))
      return sql`list_transform(${column}, lambda item: ${decodedEntities(sql`item`)}) AS ${column}`;
    return field?.type === "array" ? [] : sql`${decodedEntities(column)} AS ${column}`;
  });
  return columns.length === 0 ? rows : sql`SELECT * REPLACE (${join(columns)}) FROM (${rows})`;
}

const pathsOf = ({ files }: FileGroup): Sql => sql`[${join(files.map(({ path }) => pathLiteral(path)))}]`;

/** Returns a column name that no column of the files has. */
const unusedName = ({ shape: { columns } }: FileGroup): string =>
  "_".repeat(1 + Math.max(...columns.map((column) => column.length)));

/** The column of the path of a row's file; none for a single file. */
const fileColumn = (group: FileGroup): readonly Sql[] => (group.files.length === 1 ? [] : [ident(unusedName(group))]);

const fileOption = (group: FileGroup): Sql =>
  group.files.length === 1 ? sql`` : sql`, filename = ${literal(unusedName(group))}`;

/** A part of the path of a row's file, counted from the end. */
const pathPart = (group: FileGroup, fromEnd: number): Sql =>
  sql`string_split(${ident(unusedName(group))}, '/')[${integerLiteral(-fromEnd)}]`;

/** The folder of a row's file, if the files are in folders of dealers. */
function folderOf(group: FileGroup): { readonly folder?: Sql } {
  const { folder } = group.file;
  if (folder === undefined) return {};
  return { folder: group.files.length === 1 ? literal(folder) : pathPart(group, 2) };
}

/** The name of a row's file. Several files have the names of their paths. */
function fileName(group: FileGroup): Sql {
  const { files, file } = group;
  if (files.length === 1) return literal(file.name);
  const depth = file.name.split("/").length;
  return join(
    Array.from({ length: depth }, (_, index) => pathPart(group, depth - index)),
    sql` || '/' || `,
  );
}

/** The column of the number of a row, if a file has one. */
const rowType = ({ isNumbered }: FeedFile): readonly Sql[] => (isNumbered ? [sql`"row": 'BIGINT'`] : []);

/** Numbers the rows of each file. The engine reads files one after the other and keeps the order of their rows. */
function numberedRows(group: FileGroup, scan: Sql, values: readonly Sql[]): Sql {
  const [file] = fileColumn(group);
  if (group.file.isNumbered) return sql`SELECT "row", ${join([...fileColumn(group), ...values])} FROM ${scan}`;
  if (file === undefined) return sql`SELECT row_number() OVER () AS "row", ${join(values)} FROM ${scan}`;
  const number = ident(`${unusedName(group)}_`);
  return sql`SELECT ${number} - min(${number}) OVER (PARTITION BY ${file}) + 1 AS "row", ${join([file, ...values])}
    FROM (SELECT row_number() OVER () AS ${number}, * FROM ${scan})`;
}

const jsonSettings = (file: FeedFile, limits: FeedLimits): Sql =>
  sql`hive_partitioning = false, compression = ${file.isGzip ? "gzip" : "uncompressed"}, maximum_object_size = ${limits.recordBytes}`;

/** Returns the rows of NDJSON files with a JSON value for each column. */
function jsonRows(group: FileGroup, limits: FeedLimits): Sql {
  const { columns } = group.shape;
  const types = [...rowType(group.file), ...columns.map((column) => sql`${literal(column)}: 'JSON'`)];
  const scan = sql`read_json(${pathsOf(group)}, format = 'newline_delimited', columns = {${join(types)}},
    ${jsonSettings(group.file, limits)}${fileOption(group)})`;
  return numberedRows(
    group,
    scan,
    columns.map((column) => ident(column)),
  );
}

/** Returns the buffer of the CSV reader: its default, or enough for two rows. */
const csvBufferBytes = ({ recordBytes }: FeedLimits): number => Math.max(32_000_000, 2 * recordBytes);

/** Throws a UserError if a Parquet file, uncompressed, exceeds a limit by its own metadata. */
async function checkParquetSize(session: Session, file: FeedFile, limits: FeedLimits): Promise<void> {
  const path = pathLiteral(file.path);
  const size = await session.row(sql`
    SELECT num_rows::DOUBLE AS "rows", file_size_bytes::DOUBLE AS bytes,
      (SELECT coalesce(sum(total_uncompressed_size), 0)::DOUBLE FROM parquet_metadata(${path})) AS uncompressed
    FROM parquet_file_metadata(${path})`);
  const rows = Number(size?.rows);
  const bytes = Number(size?.bytes);
  const uncompressed = Number(size?.uncompressed);
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

/** Returns the field of a column; none with a mapping, whose columns are not fields yet. */
const fieldOf = ({ table, mapping }: FeedFile, column: string): FeedField | undefined =>
  mapping === undefined ? feed[table].properties[fieldOfColumn(table, column) ?? ""] : undefined;

/** Returns a CSV value, split if the field is a text list. */
const textOrList = (file: FeedFile, column: string, text: Sql): Sql =>
  isTextList(fieldOf(file, column)) ? sql`string_split(${text}, ${listSeparator})` : text;

function jsonTextOrList(file: FeedFile, column: string): Sql {
  const text = sql`${ident(column)} ->> '$'`;
  const field = fieldOf(file, column);
  if (field?.type === "integer" || field?.type === "number")
    return sql`CASE json_type(${ident(column)}) WHEN 'DOUBLE' THEN ${numberText(text)} ELSE ${text} END`;
  if (!isTextList(field)) return text;
  return sql`CASE WHEN json_type(${ident(column)}) = 'ARRAY' THEN ${ident(column)}::VARCHAR[] ELSE string_split(${text}, ${listSeparator}) END`;
}

/** Returns the text of a number, whose point is decimal: before three digits, as where points group thousands, it gets a fourth. */
const numberText = (text: Sql): Sql => sql`regexp_replace(${text}, '^(-?[1-9][0-9]{0,2}\\.[0-9]{3})$', '\\10')`;

/** Returns a Parquet column as text or text list. Throws a UserError if its type is nested and the field's is not. */
function parquetTextOrList(file: FeedFile, column: string, columnType: string): Sql {
  const field = fieldOf(file, column);
  const isNested = /\[\]$|^(STRUCT|MAP|LIST)/.test(columnType);
  const text = sql`${ident(column)}::VARCHAR`;
  if (!isNested)
    return textOrList(file, column, /^(?:FLOAT|DOUBLE|DECIMAL)/.test(columnType) ? numberText(text) : text);
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
