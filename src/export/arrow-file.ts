/**
 * Arrow: converts Parquet files with served values to an Arrow IPC stream with the types of their table, a range of rows at a time.
 *
 * Categories are dictionary-encoded. Their dictionaries are read first, so that the stream holds each of them once.
 */
import { type FileHandle, open } from "node:fs/promises";
import {
  AsyncByteQueue,
  type Data,
  Dictionary,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import { type Json, textIn } from "../base/json.ts";
import type { Column } from "../contract/tables.ts";
import { DuckDatabase, type Session } from "../db/duckdb.ts";
import { ident, join, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { arrowField, arrowType, arrowValue } from "./arrow-types.ts";

/** Rows of a record batch. */
const batchRows = 32_768;

/** The values of a category, in the order of their ids. */
interface Categories {
  readonly ids: ReadonlyMap<Json, number>;
  readonly words: Vector<Utf8>;
}

/** Converts Parquet files, one after the other. Their values are those of JSON. */
export async function convertToArrow(
  sources: readonly string[],
  target: string,
  columns: readonly Column[],
): Promise<void> {
  const database = await DuckDatabase.open({ threads: 1, memoryLimit: "256MiB" });
  const file = await open(target, "wx");
  try {
    await database.using((session) => writeBatches(session, sources, columns, file));
  } finally {
    await file.close();
    database.close();
  }
}

/** Collects the bytes of a writer until they are taken. */
class CollectedBytes extends AsyncByteQueue {
  private collected: Uint8Array[] = [];

  override write(value: unknown): void {
    if (value instanceof Uint8Array) this.collected.push(value);
  }

  take(): Buffer {
    const bytes = Buffer.concat(this.collected);
    this.collected = [];
    return bytes;
  }
}

async function writeBatches(
  session: Session,
  sources: readonly string[],
  columns: readonly Column[],
  file: FileHandle,
): Promise<void> {
  const categories = await readCategories(session, sql`read_parquet([${join(sources.map(pathLiteral))}])`, columns);
  const fields = columns.map((column, index) => arrowField(column, index));
  const schema = new Schema(fields);
  const bytes = new CollectedBytes();
  const writer = new RecordBatchStreamWriter();
  writer.reset(bytes, schema);
  for (const source of sources) {
    for await (const { length, values } of batchesOf(session, source)) {
      const children = columns.map((column, index) =>
        dataOf(column, index, values(index), categories.get(column.name)),
      );
      writer.write(new RecordBatch(schema, makeData({ type: new Struct(fields), length, nullCount: 0, children })));
      await file.write(bytes.take());
    }
  }
  writer.finish();
  await file.write(bytes.take());
}

/** Reads a Parquet file a range of rows at a time; `values` returns those of a column. */
async function* batchesOf(
  session: Session,
  source: string,
): AsyncGenerator<{ readonly length: number; readonly values: (column: number) => readonly Json[] }, void, undefined> {
  for (let first = 0; ; first += batchRows) {
    const { chunks } = await session.chunks(sql`
      SELECT * EXCLUDE (file_row_number) FROM read_parquet(${pathLiteral(source)}, file_row_number = true)
      WHERE file_row_number >= ${first} AND file_row_number < ${first + batchRows} ORDER BY file_row_number`);
    const length = chunks.reduce((sum, [column = []]) => sum + column.length, 0);
    if (length > 0) yield { length, values: (column) => chunks.flatMap((chunk) => chunk[column] ?? []) };
    if (length < batchRows) return;
  }
}

async function readCategories(
  session: Session,
  relation: Sql,
  columns: readonly Column[],
): Promise<ReadonlyMap<string, Categories>> {
  const categories = new Map<string, Categories>();
  for (const { name, type } of columns) {
    if (type.kind !== "category") continue;
    const value = ident(name);
    const rows = await session.rows(
      sql`SELECT DISTINCT ${value} AS word FROM ${relation} WHERE word IS NOT NULL ORDER BY word`,
    );
    const words = rows.map((row) => textIn(row, "word"));
    categories.set(name, {
      ids: new Map(words.map((word, id) => [word, id])),
      words: vectorFromArray(words, new Utf8()),
    });
  }
  return categories;
}

/** Returns the Arrow data of a column. */
function dataOf({ type }: Column, index: number, values: readonly Json[], categories: Categories | undefined): Data {
  const arrow = arrowType(type, index);
  if (categories === undefined || !(arrow instanceof Dictionary)) {
    const [data] = vectorFromArray(
      values.map((value) => arrowValue(value, type)),
      arrow,
    ).data;
    if (data === undefined) throw new TypeError("Vector without data: expected one chunk.");
    return data;
  }
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 8));
  const ids = new Int32Array(values.length);
  let nullCount = 0;
  for (const [row, value] of values.entries()) {
    const id = categories.ids.get(value);
    if (id === undefined) nullCount += 1;
    else nullBitmap[row >> 3] = (nullBitmap[row >> 3] ?? 0) | (1 << (row & 7));
    ids[row] = id ?? 0;
  }
  return makeData({
    type: arrow,
    length: values.length,
    nullCount,
    nullBitmap,
    data: ids,
    dictionary: categories.words,
  });
}
