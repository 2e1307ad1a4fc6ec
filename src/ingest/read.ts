/**
 * Reads a delivery's files into `raw_<table>`: every field as the text that the file holds, with the file and the row.
 *
 * Nothing is judged here but the file itself: one that is malformed, lacks a required column or holds another type than
 * the feed's is refused whole, because a file that was cut short looks like cars that were sold.
 */
import { createReadStream } from "node:fs";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { parse } from "csv-parse";
import { Failure, messageOf } from "../base/failure.ts";
import { integerIn, textIn } from "../base/json.ts";
import { join, literal, name, type Sql, sql } from "../base/sql.ts";
import type { Session } from "../lake/duckdb.ts";
import type { Delivery, FeedFile } from "./delivery.ts";
import { type FeedTable, type Field, feed, feedTables } from "./feed.ts";
import { dealerIdOf, type Mapping, refuseMisfit, valueBy } from "./mapping.ts";

/** A file as a relation of its own columns, each of them text, after a `row` that counts from 1. */
interface Source {
  readonly columns: readonly string[];
  readonly rows: Sql;
}

/** The name of the table that holds what was read, as it was written. */
export const rawTable = (table: FeedTable): string => `raw_${table}`;

/** Reads all files of a delivery; `columns` of the feed that no file has are null. Gives what was ignored, in words. */
export async function readDelivery(
  session: Session,
  delivery: Delivery,
  mapping?: Mapping,
): Promise<readonly string[]> {
  const ignored: string[] = [];
  for (const table of feedTables) {
    const fields = Object.keys(feed[table].properties).map((field) => sql`NULL::VARCHAR AS ${name(field)}`);
    await session.keep(
      rawTable(table),
      sql`SELECT NULL::VARCHAR AS file, NULL::BIGINT AS "row", ${join(fields)} WHERE false`,
    );
  }
  for (const file of delivery.files) {
    if (file.path.endsWith(".gz")) await refuseBrokenGzip(file);
    const source = await readers[file.format](session, file, mapping);
    if (mapping === undefined) ignored.push(...(await readOwn(session, file, source)));
    else await readMapped(session, file, source, mapping);
  }
  return ignored;
}

/** Our own format: columns are fields; others are ignored, and said to be. */
async function readOwn(session: Session, file: FeedFile, source: Source): Promise<readonly string[]> {
  const { required, properties } = feed[file.table];
  for (const column of required) {
    if (source.columns.includes(column)) continue;
    throw new Failure(
      `${file.name}, row 0 (header): the column "${column}" is missing; it has ${source.columns.join(", ")}.`,
    );
  }
  const fields = source.columns.filter((column) => column in properties);
  const values = new Map(fields.map((field) => [field, name(field)]));
  await insert(session, file, file.table, values, source);
  return source.columns
    .filter((column) => !(column in properties))
    .map((column) => `${file.name}: the column "${column}" is not one of the feed's and is ignored.`);
}

/** A foreign file: each row gives a vehicle, and the dealers are those that its rows name. */
async function readMapped(session: Session, file: FeedFile, source: Source, mapping: Mapping): Promise<void> {
  refuseMisfit(mapping, file.name, source.columns);
  const dealerId = dealerIdOf(mapping);
  const values = (rules: Mapping["fields"]) =>
    Object.entries(rules).map(([field, rule]) => [field, valueBy(rule)] as const);
  await insert(session, file, "inventory", new Map([["dealer_id", dealerId], ...values(mapping.fields)]), source);
  const rows = sql`SELECT DISTINCT ON (dealer_of_row) * FROM (SELECT *, ${dealerId} AS dealer_of_row FROM (${source.rows}))
    WHERE dealer_of_row IS NOT NULL ORDER BY dealer_of_row, "row"`;
  await insert(
    session,
    file,
    "dealers",
    new Map([["dealer_id", sql`dealer_of_row`], ...values(mapping.dealer.fields)]),
    { ...source, rows },
  );
}

async function insert(
  session: Session,
  file: FeedFile,
  table: FeedTable,
  values: ReadonlyMap<string, Sql>,
  source: Source,
): Promise<void> {
  const columns = [...values.keys()].map((field) => name(field));
  try {
    await session.run(sql`
      INSERT INTO ${name(rawTable(table))} (file, "row", ${join(columns)})
      SELECT ${file.name}, "row", ${join(values.values())} FROM (${source.rows})`);
  } catch (thrown) {
    throw await explained(session, file, source.columns, thrown);
  }
}

const readers: Readonly<
  Record<FeedFile["format"], (session: Session, file: FeedFile, mapping?: Mapping) => Promise<Source>>
> = {
  async csv(_session, file, mapping) {
    const delimiter = mapping?.delimiter ?? ",";
    const encoding = mapping?.encoding ?? "utf-8";
    const columns = await csvHeader(file, delimiter, encoding);
    const types = columns.map((column) => sql`${literal(column)}: 'VARCHAR'`);
    return {
      columns,
      rows: sql`SELECT row_number() OVER () AS "row", * FROM read_csv(${literal(file.path)}, header = true,
        auto_detect = false, delim = ${literal(delimiter)}, quote = '"', escape = '"', strict_mode = true,
        null_padding = false, encoding = ${literal(encoding)}, columns = {${join(types)}})`,
    };
  },

  async ndjson(session, file) {
    const objects = sql`SELECT row_number() OVER () AS "row", json FROM read_ndjson_objects(${literal(file.path)})`;
    try {
      const keys = sql`SELECT DISTINCT unnest(json_keys(json)) AS key FROM (${objects}) WHERE json_type(json) = 'OBJECT' ORDER BY key`;
      const columns = (await session.rows(keys)).map((row) => textIn(row, "key"));
      const types = columns.map((column) => sql`${literal(column)}: 'JSON'`);
      const texts = columns.map((column) => sql`${name(column)} ->> '$' AS ${name(column)}`);
      const values = sql`SELECT row_number() OVER () AS "row", *
        FROM read_json(${literal(file.path)}, format = 'newline_delimited', columns = {${join(types)}})`;
      await refuseWrongJson(session, file, columns, values);
      return { columns, rows: sql`SELECT "row", ${join(texts)} FROM (${values})` };
    } catch (thrown) {
      throw await explained(session, file, [], thrown);
    }
  },

  async parquet(session, file) {
    const from = sql`read_parquet(${literal(file.path)}, file_row_number = true, hive_partitioning = false)`;
    try {
      const described = await session.rows(sql`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${from})`);
      const types = new Map(described.map((row) => [textIn(row, "column_name"), textIn(row, "column_type")]));
      types.delete("file_row_number");
      const texts = [...types].map(([column, type]) => sql`${parquetText(file, column, type)} AS ${name(column)}`);
      return {
        columns: [...types.keys()],
        rows: sql`SELECT file_row_number + 1 AS "row", ${join(texts)} FROM ${from}`,
      };
    } catch (thrown) {
      throw await explained(session, file, [], thrown);
    }
  },
};

/** The encodings of a mapping, as this runtime calls them. */
const nodeEncodings: Readonly<Record<string, BufferEncoding>> = {
  "utf-8": "utf8",
  "utf-16": "utf16le",
  "latin-1": "latin1",
};

/** The names in a CSV file's first record. */
async function csvHeader(file: FeedFile, delimiter: string, encoding: string): Promise<readonly string[]> {
  const bytes = createReadStream(file.path);
  const records = (file.path.endsWith(".gz") ? bytes.pipe(createGunzip()) : bytes).pipe(
    parse({ bom: true, delimiter, encoding: nodeEncodings[encoding] ?? "utf8", to: 1, relax_column_count: true }),
  );
  let columns: readonly string[] = [];
  try {
    for await (const record of records) columns = Array.isArray(record) ? record.map(String) : [];
  } catch (thrown) {
    throw new Failure(`${file.name}, row 0 (header): ${messageOf(thrown)}.`);
  } finally {
    bytes.destroy();
  }
  if (columns.length === 0) throw new Failure(`${file.name}, row 0 (header): the file is empty.`);
  const twice = columns.find((column, index) => columns.indexOf(column) !== index);
  if (columns.includes(""))
    throw new Failure(`${file.name}, row 0 (header): column ${columns.indexOf("") + 1} has no name.`);
  if (twice !== undefined) throw new Failure(`${file.name}, row 0 (header): the column "${twice}" is there twice.`);
  return columns;
}

/** How a column of a Parquet file is written as text, by its type; a type that no field has is refused. */
function parquetText(file: FeedFile, column: string, columnType: string): Sql {
  const field: Field | undefined = feed[file.table].properties[column];
  const isNested = /\[\]$|^(STRUCT|MAP|LIST)/.test(columnType);
  if (isNested && field !== undefined && field.type !== "array") {
    throw new Failure(
      `${file.name}, row 0 (schema): the column "${column}" is of type ${columnType}; expected is ${field.type}.`,
    );
  }
  return isNested ? sql`to_json(${name(column)})::VARCHAR` : sql`${name(column)}::VARCHAR`;
}

/** Fails on the first value that is an object or a list where the feed has neither. */
async function refuseWrongJson(session: Session, file: FeedFile, columns: readonly string[], rows: Sql): Promise<void> {
  const wrong = columns.flatMap((column) => {
    const field: Field | undefined = feed[file.table].properties[column];
    if (field === undefined) return [];
    const openers = field.type === "array" ? ["{"] : ["{", "["];
    return [sql`WHEN list_contains(${openers}, left(${name(column)}::VARCHAR, 1)) THEN ${column}`];
  });
  if (wrong.length === 0) return;
  const found = await session.row(sql`
    SELECT "row"::INTEGER AS "row", "column" FROM (SELECT "row", CASE ${join(wrong, sql` `)} END AS "column" FROM (${rows}))
    WHERE "column" IS NOT NULL ORDER BY "row" LIMIT 1`);
  if (found === undefined) return;
  const column = textIn(found, "column");
  const expected = feed[file.table].properties[column]?.type;
  throw new Failure(
    `${file.name}, row ${integerIn(found, "row")}: the column "${column}" holds a nested value; expected is ${expected}.`,
  );
}

/** Reads a gzip file to its end: the engine takes one that was cut short for a shorter one. */
async function refuseBrokenGzip(file: FeedFile): Promise<void> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    await pipeline(createReadStream(file.path), createGunzip(), nowhere);
  } catch (thrown) {
    throw new Failure(`${file.name}: broken gzip: ${messageOf(thrown)}.`);
  }
}

/** What the engine says of a file, in one line that names the file, the row and the column as far as it knows them. */
async function explained(
  session: Session,
  file: FeedFile,
  columns: readonly string[],
  thrown: unknown,
): Promise<unknown> {
  if (thrown instanceof Failure) return thrown;
  const message = messageOf(thrown);
  if (file.format === "csv") return new Failure(`${file.name}${csvFault(message, columns)}`);
  if (file.format === "ndjson" && message.includes("Malformed JSON")) {
    return new Failure(`${file.name}, row ${await firstBrokenLine(session, file)}: not a JSON object.`);
  }
  return new Failure(`${file.name}: ${message.split("\n")[0]}`);
}

function csvFault(message: string, columns: readonly string[]): string {
  const line = /CSV Error on Line: (\d+)/.exec(message)?.[1];
  const place = line === undefined ? "" : `, row ${Number(line) - 1} (line ${line})`;
  const counts = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(message);
  if (counts !== null) {
    const [expected, found] = [Number(counts[1]), Number(counts[2])];
    const column =
      found < expected
        ? `the column "${columns[found]}" is missing`
        : `nothing may follow the column "${columns.at(-1)}"`;
    return `${place}: ${found} fields where the header has ${expected}; ${column}.`;
  }
  if (message.includes("unterminated quote")) return `${place}: a quoted value does not end, or text follows its end.`;
  if (/unicode|utf-8 encoded/i.test(message)) return `${place}: a value is not in the file's encoding.`;
  return `${place}: ${message.split("\n")[0]}`;
}

/** The row of the first line that is no JSON; the engine counts lines from another start. */
async function firstBrokenLine(session: Session, file: FeedFile): Promise<number> {
  const found = await session.row(sql`
    SELECT min("row")::INTEGER AS "row" FROM (
      SELECT row_number() OVER () AS "row", line FROM read_csv(${literal(file.path)}, header = false, auto_detect = false,
        delim = ${literal("\u001f")}, quote = '', escape = '', columns = {'line': 'VARCHAR'}))
    WHERE NOT json_valid(line)`);
  return integerIn(found, "row");
}
