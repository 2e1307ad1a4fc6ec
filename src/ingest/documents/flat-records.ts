/** Records of documents as flat NDJSON, which the engine reads: each value a text, its column the path to it, such as `image[0].url`. */
import { open } from "node:fs/promises";
import { isObject } from "../../base/json.ts";
import type { FeedFile } from "../feed/feed-file.ts";
import { type FeedLimits, feedColumnsMax } from "../feed/feed-limits.ts";
import { fileError, limitError } from "../feed/file-errors.ts";

/** Texts by path. */
export type FlatRecord = ReadonlyMap<string, string>;

/** Text that is written at once. */
const partCharacters = 2 ** 20;

/** Writes records to a file. Returns the names of their columns. Throws a UserError if these are too many, or a record is too large. */
export async function writeRecords(
  file: FeedFile,
  records: AsyncIterable<FlatRecord>,
  path: string,
  limits: FeedLimits,
): Promise<readonly string[]> {
  const columns = new Map<string, string>();
  const target = await open(path, "w");
  let [part, row] = ["", 0];
  try {
    for await (const record of records) {
      row += 1;
      const line = JSON.stringify(Object.fromEntries(named(record, columns)));
      if (columns.size > feedColumnsMax)
        throw fileError(file, `, row ${row}: too many columns: expected at most ${feedColumnsMax}.`);
      if (Buffer.byteLength(line) > limits.recordBytes) throw limitError(file, "recordBytes", limits, row);
      part += `${line}\n`;
      if (part.length < partCharacters) continue;
      await target.write(part);
      part = "";
    }
    await target.write(part);
  } finally {
    await target.close();
  }
  return [...columns.values()];
}

/** Returns the texts of a record by column: names that differ only in case are one column. Adds the columns that are new. */
function* named(record: FlatRecord, columns: Map<string, string>): Iterable<readonly [string, string]> {
  for (const [path, text] of record) {
    const key = path.toLowerCase();
    const column = columns.get(key) ?? (key === "row" ? `${path}_` : path);
    columns.set(key, column);
    yield [column, text];
  }
}

/** Returns the texts in a parsed JSON record. */
export function flattened(record: unknown): FlatRecord {
  const texts = new Map<string, string>();
  const add = (path: string, value: unknown): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) for (const [index, item] of value.entries()) add(`${path}[${index}]`, item);
    else if (isObject(value))
      for (const [key, item] of Object.entries(value)) add(path === "" ? key : `${path}.${key}`, item);
    else texts.set(path === "" ? "value" : path, String(value));
  };
  add("", record);
  return texts;
}
