/** Avro files as Iceberg's manifests need them: with metadata in the header, compressed, the same bytes for the same rows. */
import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import avro, { type Schema } from "avsc";

const header = avro.Type.forSchema({
  type: "record",
  name: "Header",
  fields: [
    { name: "magic", type: { type: "fixed", name: "Magic", size: 4 } },
    { name: "meta", type: { type: "map", values: "bytes" } },
    { name: "sync", type: { type: "fixed", name: "Sync", size: 16 } },
  ],
});

/** A block of rows before its sync marker; `rows` is compressed. */
const block = avro.Type.forSchema({
  type: "record",
  name: "Block",
  fields: [
    { name: "count", type: "long" },
    { name: "rows", type: "bytes" },
  ],
});

const magic = Buffer.from("Obj\u0001");

/** Types by the text of their schema: a history has thousands of files of a few schemas. */
const types = new Map<string, avro.Type>();

function typeOf(schema: Schema): avro.Type {
  const text = JSON.stringify(schema);
  const type = types.get(text) ?? avro.Type.forSchema(schema);
  types.set(text, type);
  return type;
}

/** Returns the bytes of a file with rows of a schema, in one block. Throws if a row does not match the schema. */
export function avroFile(schema: Schema, metadata: Readonly<Record<string, string>>, rows: readonly object[]): Buffer {
  const type = typeOf(schema);
  const entries = Object.entries({ "avro.schema": JSON.stringify(schema), "avro.codec": "deflate", ...metadata });
  const meta = Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value)] as const));
  const content = Buffer.concat(rows.map((row) => type.toBuffer(row)));
  const sync = syncMarker(content);
  const start = header.toBuffer({ magic, meta, sync });
  if (rows.length === 0) return start;
  return Buffer.concat([start, block.toBuffer({ count: rows.length, rows: deflateRawSync(content) }), sync]);
}

export interface AvroContent<Row> {
  /** The header's metadata, without that of Avro itself. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
}

/** Returns the content of a file that `avroFile` wrote with the same schema. Throws for any other file, and for a changed one. */
export function avroContent<Row>(schema: Schema, file: Buffer): AvroContent<Row> {
  const start: Decoded<Header> = header.decode(file, 0);
  if (start.value === undefined || !start.value.magic.equals(magic)) throw new RangeError("invalid header.");
  const { meta, sync } = start.value;
  const texts = Object.entries(meta).map(([key, value]) => [key, value.toString()] as const);
  const { "avro.schema": schemaText, "avro.codec": codec, ...metadata } = Object.fromEntries(texts);
  if (schemaText !== JSON.stringify(schema) || codec !== "deflate") throw new RangeError("another Avro schema.");
  const [found, end] = start.offset === file.length ? [noRows, file.length] : blockAt(file, start.offset);
  const content = inflateRawSync(found.rows);
  const isWhole = end === file.length && syncMarker(content).equals(sync) && file.subarray(-sync.length).equals(sync);
  if (!isWhole) throw new RangeError("content that differs from its hash.");
  return { metadata, rows: rowsIn(schema, content, found.count) };
}

/** What `decode` returns: no value if the bytes end before it. */
interface Decoded<Value> {
  readonly value: Value | undefined;
  readonly offset: number;
}

interface Header {
  readonly magic: Buffer;
  readonly meta: Readonly<Record<string, Buffer>>;
  readonly sync: Buffer;
}

interface Block {
  readonly count: number;
  readonly rows: Buffer;
}

const noRows: Block = { count: 0, rows: deflateRawSync("") };

/** Returns the sync marker of a file: a part of its content's hash. */
const syncMarker = (content: Buffer): Buffer => createHash("sha256").update(content).digest().subarray(0, 16);

/** Returns the block at an offset, and the offset after its sync marker. */
function blockAt(file: Buffer, at: number): readonly [Block, number] {
  const { value, offset }: Decoded<Block> = block.decode(file, at);
  if (value === undefined) throw new RangeError("an unexpected end.");
  return [value, offset + 16];
}

function rowsIn<Row>(schema: Schema, content: Buffer, count: number): readonly Row[] {
  const type = typeOf(schema);
  const rows: Row[] = [];
  for (let at = 0; rows.length < count; ) {
    const row: Decoded<Row> = type.decode(content, at);
    if (row.value === undefined) throw new RangeError("an unexpected end.");
    rows.push(row.value);
    at = row.offset;
  }
  return rows;
}
