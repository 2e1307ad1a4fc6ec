/** Translates engine errors about feed files into UserErrors: one line with the file and, if known, the row and column. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { isObject } from "../../base/json.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import type { FeedFile } from "./delivery.ts";

/**
 * Decompresses a gzip file to its end and throws a UserError if it is corrupt or truncated. The engine reads a truncated file without
 * an error.
 */
export async function checkGzip(file: FeedFile): Promise<void> {
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    await pipeline(createReadStream(file.path), createGunzip(), discard);
  } catch (thrown) {
    throw new UserError(`${file.name}: invalid gzip file: ${messageOf(thrown)}.`);
  }
}

/** Converts an error of the engine to a UserError about the file. Returns a UserError unchanged. */
export async function describeFileError(file: FeedFile, columns: readonly string[], thrown: unknown): Promise<unknown> {
  if (thrown instanceof UserError) return thrown;
  const message = messageOf(thrown);
  if (file.format === "csv") return new UserError(`${file.name}${await describeCsvError(file, message, columns)}`);
  const description = file.format === "ndjson" ? await describeNdjsonError(file).catch(() => undefined) : undefined;
  return new UserError(`${file.name}${description ?? `: ${message.split("\n")[0]}`}`);
}

async function describeCsvError(file: FeedFile, message: string, columns: readonly string[]): Promise<string> {
  const record = /CSV Error on Line: (\d+)/.exec(message)?.[1];
  const place =
    record === undefined ? "" : `, row ${Number(record) - 1 - (await countBlankLines(file, Number(record)))}`;
  const counts = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(message);
  if (counts !== null) {
    const [expected, found] = [Number(counts[1]), Number(counts[2])];
    const cause =
      found < expected ? `column "${columns[found]}" is missing` : `unexpected field after column "${columns.at(-1)}"`;
    return `${place}: ${found} fields: expected ${expected}, as in the header; ${cause}.`;
  }
  if (message.includes("unterminated quote"))
    return `${place}: invalid quotes: expected a closing quote followed by a delimiter or the end of the row.`;
  if (/unicode|utf-8 encoded/i.test(message))
    return `${place}: invalid byte sequence: expected text in the file's encoding.`;
  return `${place}: ${message.split("\n")[0]}`;
}

/** Counts the blank lines before a line. The engine's line numbers include them, Carquet's row numbers do not. */
async function countBlankLines(file: FeedFile, before: number): Promise<number> {
  let [line, blank] = [0, 0];
  for await (const text of linesOf(file)) {
    line += 1;
    if (line >= before) break;
    if (text === "") blank += 1;
  }
  return blank;
}

/** Describes the first line that is not a JSON object, because the line numbers in the engine's errors are unreliable. */
async function describeNdjsonError(file: FeedFile): Promise<string | undefined> {
  let row = 0;
  for await (const text of linesOf(file)) {
    if (text.trim() === "") continue;
    row += 1;
    if (text.includes("\ufffd")) return `, row ${row}: invalid byte sequence: expected UTF-8.`;
    if (!isJsonObject(text)) return `, row ${row}: invalid JSON: expected an object.`;
  }
  return undefined;
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function linesOf(file: FeedFile): AsyncIterable<string> {
  const bytes = createReadStream(file.path);
  return createInterface({ input: file.path.endsWith(".gz") ? bytes.pipe(createGunzip()) : bytes, crlfDelay: 1000 });
}
