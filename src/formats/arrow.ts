/** Encodes tables as Arrow IPC streams. Categories are dictionary-encoded; times are microseconds in UTC. */
import {
  AsyncByteQueue,
  Bool,
  type Data,
  type DataType,
  DateDay,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import { isRow, type Json, type Row } from "../base/json.ts";
import { forEachInTurns } from "../base/turns.ts";
import type { Column, ColumnType, Table, TableMetadata } from "../contract/tables.ts";
import { compareBytes } from "../db/text-matching.ts";

/** The rows of a record batch. */
const batchRows = 1000;

/** Returns the bytes of a stream with the record batches of a table, none without rows. Its schema holds the metadata of the table. */
export async function encodeArrow({ columns, rows, metadata }: Table): Promise<Uint8Array> {
  const words = new Map<Column, readonly string[]>();
  const categories = columns.filter(({ type }) => type.kind === "category");
  await forEachInTurns(categories, (column) => {
    const found = new Set(rows.flatMap(({ [column.name]: word }) => (typeof word === "string" ? [word] : [])));
    words.set(column, [...found].sort(compareBytes));
  });
  const stream = new ArrowStream(columns, metadata, (column) => words.get(column) ?? []);
  const bytes: Uint8Array[] = [];
  for (let start = 0; start < rows.length; start += batchRows)
    bytes.push(await stream.add(rows.slice(start, start + batchRows)));
  return Buffer.concat([...bytes, stream.end()]);
}

/** A stream of record batches whose dictionaries are known before the first of them, so that the stream holds each once. */
export class ArrowStream {
  private readonly schema: Schema;
  private readonly dictionaries: ReadonlyMap<Column, Categories>;
  private readonly bytes = new CollectedBytes();
  private readonly writer = new RecordBatchStreamWriter();

  /** `wordsOf` returns the values of a category, each once, in the order of their bytes. */
  constructor(
    private readonly columns: readonly Column[],
    metadata: TableMetadata,
    wordsOf: (category: Column) => readonly string[],
  ) {
    const categories = columns.filter(({ type }) => type.kind === "category");
    this.dictionaries = new Map(categories.map((column) => [column, categoriesOf(wordsOf(column))]));
    this.schema = new Schema(columns.map(topField), new Map(Object.entries(metadata)));
    this.writer.reset(this.bytes, this.schema);
  }

  /** Returns the bytes of a record batch, for the first one with the schema and the dictionaries. */
  async add(rows: readonly Row[]): Promise<Uint8Array> {
    const { fields } = this.schema;
    const children: Data[] = [];
    await forEachInTurns(this.columns.entries(), ([index, column]) => {
      const { type } = fields[index] ?? topField(column, index);
      const values = rows.map((row) => row[column.name]);
      children.push(dataOf(type, values, column, this.dictionaries.get(column)));
    });
    const data = makeData({ type: new Struct(fields), length: rows.length, nullCount: 0, children });
    this.writer.write(new RecordBatch(this.schema, data));
    return this.bytes.take();
  }

  /** Returns the last bytes, for a stream without record batches with the schema. */
  end(): Uint8Array {
    this.writer.finish();
    return this.bytes.take();
  }
}

/** Collects the bytes of a writer until they are taken. */
class CollectedBytes extends AsyncByteQueue {
  private collected: Uint8Array[] = [];

  override write(value: unknown): void {
    if (value instanceof Uint8Array) this.collected.push(value);
  }

  take(): Uint8Array {
    const bytes = Buffer.concat(this.collected);
    this.collected = [];
    return bytes;
  }
}

interface Categories {
  readonly ids: ReadonlyMap<string, number>;
  readonly words: Vector<Utf8>;
}

/** Returns a dictionary with at least one word: readers expect each dictionary to be present. */
const categoriesOf = (words: readonly string[]): Categories => ({
  ids: new Map(words.map((word, id) => [word, id])),
  words: vectorFromArray(words.length === 0 ? [""] : words, new Utf8()),
});

/** Returns the field of a column. `index` identifies its dictionary within the stream. */
const topField = (column: Column, index: number): Field =>
  column.type.kind === "category"
    ? new Field(column.name, new Dictionary(new Utf8(), new Int32(), index), column.isNullable)
    : fieldOf(column);

const fieldOf = ({ name, type, isNullable }: Column): Field => new Field(name, arrowType(type), isNullable);

/** Returns the type of values, without dictionaries: few readers accept them within lists and structs. */
function arrowType(type: ColumnType): DataType {
  switch (type.kind) {
    case "text":
    case "category":
      return new Utf8();
    case "integer":
      return type.bits === 32 ? new Int32() : new Int64();
    case "number":
      return new Float64();
    case "boolean":
      return new Bool();
    case "date":
      return new DateDay();
    case "timestamp":
      return new TimestampMicrosecond("UTC");
    case "list":
      return new List(new Field("item", arrowType(type.items), true));
    case "struct":
      return new Struct(type.columns.map(fieldOf));
  }
}

function dataOf(
  type: DataType,
  values: readonly (Json | undefined)[],
  column: Column,
  categories: Categories | undefined,
): Data {
  if (categories !== undefined && type instanceof Dictionary) return idsOf(values, type, categories);
  const [data] = vectorFromArray(
    values.map((value) => arrowValue(column.type, value)),
    type,
  ).data;
  if (data === undefined) throw new TypeError("Vector without data: expected one chunk.");
  return data;
}

function idsOf(values: readonly (Json | undefined)[], type: Dictionary, { ids, words }: Categories): Data {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 8));
  const data = new Int32Array(values.length);
  let nullCount = 0;
  values.forEach((value, row) => {
    const id = typeof value === "string" ? ids.get(value) : undefined;
    if (id === undefined) nullCount += 1;
    else nullBitmap[row >> 3] = (nullBitmap[row >> 3] ?? 0) | (1 << (row & 7));
    data[row] = id ?? 0;
  });
  return makeData({ type, length: values.length, nullCount, nullBitmap, data, dictionary: words });
}

/** Converts a JSON value to the input of its type's builder: milliseconds for dates and times, bigints for 64 bits. */
function arrowValue(type: ColumnType, value: Json | undefined): unknown {
  if (value === undefined || value === null) return null;
  switch (type.kind) {
    case "text":
    case "category":
      return typeof value === "string" ? value : JSON.stringify(value);
    case "integer":
      return type.bits === 64 ? BigInt(String(value)) : value;
    case "number":
      return Number(value);
    case "boolean":
      return value;
    case "date":
      return knownMs(Date.parse(String(value)));
    case "timestamp":
      return epochMsOf(String(value));
    case "list":
      return Array.isArray(value) ? value.map((item) => arrowValue(type.items, item)) : null;
    case "struct":
      return isRow(value)
        ? Object.fromEntries(type.columns.map((column) => [column.name, arrowValue(column.type, value[column.name])]))
        : null;
  }
}

/** Returns null for a day or time that Arrow does not have, such as infinity. */
const knownMs = (ms: number): number | null => (Number.isNaN(ms) ? null : ms);

/**
 * Returns the Unix milliseconds of a time in UTC, with microseconds as their fraction; Arrow multiplies them by 1000. The time is that of an answer, or
 * one that the engine prints: `2026-11-19 01:02:03.000004+00`.
 */
function epochMsOf(text: string): number | null {
  const [, day, time, fraction = ""] = /^(\S{10})[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00)?$/.exec(text) ?? [];
  const wholeMs = Date.parse(`${day}T${time}Z`);
  const micros = wholeMs * 1000 + Number(fraction.slice(0, 6).padEnd(6, "0"));
  return knownMs((micros / 1000) * 1000 === micros ? micros / 1000 : Math.floor(micros / 1000));
}
