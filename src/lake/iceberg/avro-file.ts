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
  const sync = createHash("sha256").update(content).digest().subarray(0, 16);
  const start = header.toBuffer({ magic, meta, sync });
  if (rows.length === 0) return start;
  return Buffer.concat([start, block.toBuffer({ count: rows.length, rows: deflateRawSync(content) }), sync]);
}

/** Returns the rows of a file that `avroFile` wrote with the same schema. Throws for any other file. */
export function avroRows(schema: Schema, file: Buffer): readonly unknown[] {
  const type = typeOf(schema);
  const start = header.decode(file, 0);
  if (start.offset === file.length) return [];
  const { value } = block.decode(file, start.offset);
  const found: { readonly count: number; readonly rows: Buffer } = value;
  const content = inflateRawSync(found.rows);
  const rows: unknown[] = [];
  for (let at = 0; rows.length < found.count; ) {
    const row = type.decode(content, at);
    rows.push(row.value);
    at = row.offset;
  }
  return rows;
}
