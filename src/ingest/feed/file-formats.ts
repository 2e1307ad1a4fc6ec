/** Readers of the feed file formats (CSV, NDJSON, Parquet): each turns a file into a relation of text columns. */
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { parse } from "csv-parse";
import { integerIn, textIn } from "../../base/json.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { FeedFile } from "./delivery.ts";
import { type FeedField, feed, isTextList, listSeparator } from "./feed-schema.ts";
import { describeFileError } from "./file-errors.ts";
import type { Mapping } from "./mapping.ts";

/** A file as a relation: `row` (counted from 1), then the file's columns. Text lists are VARCHAR[], all other columns VARCHAR. */
export interface FeedRelation {
  readonly columns: readonly string[];
  readonly rows: Sql;
}

/** The reader of each format. Throws a UserError if the file is malformed. */
export const formatReaders: Readonly<
  Record<FeedFile["format"], (session: Session, file: FeedFile, mapping?: Mapping) => Promise<FeedRelation>>
> = {
  async csv(_session, file, mapping) {
    const delimiter = mapping?.delimiter ?? ",";
    const encoding = mapping?.encoding ?? "utf-8";
    const columns = await readCsvHeader(file, delimiter, encoding);
    const types = columns.map((column) => sql`${literal(column)}: 'VARCHAR'`);
    const values = columns.map(
      (column) => sql`${textOrList(file, column, ident(column), mapping)} AS ${ident(column)}`,
    );
    return {
      columns,
      rows: sql`SELECT row_number() OVER () AS "row", ${join(values)} FROM read_csv(${literal(file.path)}, header = true,
        auto_detect = false, delim = ${literal(delimiter)}, quote = '"', escape = '"', strict_mode = true,
        null_padding = false, encoding = ${literal(encoding)}, columns = {${join(types)}})`,
    };
  },

  async ndjson(session, file) {
    const objects = sql`SELECT row_number() OVER () AS "row", json FROM read_ndjson_objects(${literal(file.path)})`;
    try {
      const keys = sql`SELECT DISTINCT unnest(json_keys(json)) AS key FROM (${objects}) WHERE json_type(json) = 'OBJECT' ORDER BY key`;
      const columns = (await session.rows(keys)).map((row) => textIn(row, "key"));
      if (columns.length === 0)
        throw await describeFileError(file, [], new Error("empty file: expected at least one row."));
      const types = columns.map((column) => sql`${literal(column)}: 'JSON'`);
      const json = sql`SELECT row_number() OVER () AS "row", *
        FROM read_json(${literal(file.path)}, format = 'newline_delimited', columns = {${join(types)}})`;
      await checkJsonTypes(session, file, columns, json);
      const values = columns.map((column) => sql`${jsonTextOrList(file, column)} AS ${ident(column)}`);
      return { columns, rows: sql`SELECT "row", ${join(values)} FROM (${json})` };
    } catch (thrown) {
      throw await describeFileError(file, [], thrown);
    }
  },

  async parquet(session, file) {
    const source = sql`read_parquet(${literal(file.path)}, file_row_number = true, hive_partitioning = false)`;
    try {
      const described = await session.rows(
        sql`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${source})`,
      );
      const types = new Map(described.map((row) => [textIn(row, "column_name"), textIn(row, "column_type")]));
      types.delete("file_row_number");
      const values = [...types].map(
        ([column, type]) => sql`${parquetTextOrList(file, column, type)} AS ${ident(column)}`,
      );
      return {
        columns: [...types.keys()],
        rows: sql`SELECT file_row_number + 1 AS "row", ${join(values)} FROM ${source}`,
      };
    } catch (thrown) {
      throw await describeFileError(file, [], thrown);
    }
  },
};

const fieldOf = (file: FeedFile, column: string): FeedField | undefined => feed[file.table].properties[column];

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
    throw new UserError(
      `${file.name}, row 0 (schema): invalid type ${columnType} of column "${column}": expected ${field.type}.`,
    );
  }
  return isTextList(field) && columnType.endsWith("[]")
    ? sql`${ident(column)}::VARCHAR[]`
    : sql`to_json(${ident(column)})::VARCHAR`;
}

/** Node.js names of the encodings of a mapping. */
const nodeEncodings: Readonly<Record<string, BufferEncoding>> = {
  "utf-8": "utf8",
  "utf-16": "utf16le",
  "latin-1": "latin1",
};

/** Reads the column names of a CSV file. Throws a UserError if the header is empty or a name is empty or repeated. */
async function readCsvHeader(file: FeedFile, delimiter: string, encoding: string): Promise<readonly string[]> {
  const bytes = createReadStream(file.path);
  const decompressed = file.path.endsWith(".gz") ? bytes.pipe(createGunzip()) : bytes;
  const records = decompressed.pipe(
    parse({ bom: true, delimiter, encoding: nodeEncodings[encoding] ?? "utf8", to: 1, relax_column_count: true }),
  );
  for (const stream of new Set([bytes, decompressed])) stream.on("error", (error: Error) => records.destroy(error));
  let columns: readonly string[] = [];
  try {
    for await (const record of records) columns = Array.isArray(record) ? record.map(String) : [];
  } catch (thrown) {
    throw new UserError(`${file.name}, row 0 (header): ${messageOf(thrown)}.`);
  } finally {
    bytes.destroy();
  }
  checkColumnNames(file, columns);
  return columns;
}

function checkColumnNames(file: FeedFile, columns: readonly string[]): void {
  const header = `${file.name}, row 0 (header)`;
  if (columns.length === 0) throw new UserError(`${header}: empty file: expected column names.`);
  if (columns.includes("")) throw new UserError(`${header}: column ${columns.indexOf("") + 1} has no name.`);
  const folded = columns.map((column) => column.toLowerCase());
  const repeated = columns.find((_, index) => folded.indexOf(folded[index] ?? "") !== index);
  if (repeated !== undefined)
    throw new UserError(`${header}: duplicate column "${repeated}": expected each name once, in any case.`);
}

/** Throws a UserError for the first value that is an object or array although its field is not. */
async function checkJsonTypes(session: Session, file: FeedFile, columns: readonly string[], rows: Sql): Promise<void> {
  const cases = columns.flatMap((column) => {
    const field: FeedField | undefined = feed[file.table].properties[column];
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
  const expected = feed[file.table].properties[column]?.type;
  throw new UserError(
    `${file.name}, row ${integerIn(found, "row")}: nested value in column "${column}": expected ${expected}.`,
  );
}
