/** What is wrong with a file, in one line that names the file, the row and the column as far as they are known. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { isObject } from "../../base/json.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import type { FeedFile } from "./delivery.ts";

/** Reads a gzip file to its end: the engine takes one that was cut short for a shorter one. */
export async function checkGzip(file: FeedFile): Promise<void> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    await pipeline(createReadStream(file.path), createGunzip(), nowhere);
  } catch (thrown) {
    throw new UserError(`${file.name}: broken gzip: ${messageOf(thrown)}.`);
  }
}

/** A failure of the engine in the words of whoever delivered the file; what is a failure already stays as it is. */
export async function describeFileError(file: FeedFile, columns: readonly string[], thrown: unknown): Promise<unknown> {
  if (thrown instanceof UserError) return thrown;
  const message = messageOf(thrown);
  if (file.format === "csv") return new UserError(`${file.name}${await csvFault(file, message, columns)}`);
  const fault = file.format === "ndjson" ? await ndjsonFault(file).catch(() => undefined) : undefined;
  return new UserError(`${file.name}${fault ?? `: ${message.split("\n")[0]}`}`);
}

async function csvFault(file: FeedFile, message: string, columns: readonly string[]): Promise<string> {
  const record = /CSV Error on Line: (\d+)/.exec(message)?.[1];
  const place = record === undefined ? "" : `, row ${Number(record) - 1 - (await blankLines(file, Number(record)))}`;
  const counts = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(message);
  if (counts !== null) {
    const [expected, found] = [Number(counts[1]), Number(counts[2])];
    const missing = `the column "${columns[found]}" is missing`;
    const fault = found < expected ? missing : `nothing may follow the column "${columns.at(-1)}"`;
    return `${place}: ${found} fields where the header has ${expected}; ${fault}.`;
  }
  if (message.includes("unterminated quote")) return `${place}: a quoted value does not end, or text follows its end.`;
  if (/unicode|utf-8 encoded/i.test(message)) return `${place}: a value is not in the file's encoding.`;
  return `${place}: ${message.split("\n")[0]}`;
}

/** The engine counts blank lines as records; rows are counted without them. */
async function blankLines(file: FeedFile, before: number): Promise<number> {
  let [line, blank] = [0, 0];
  for await (const text of linesOf(file)) {
    line += 1;
    if (line >= before) break;
    if (text === "") blank += 1;
  }
  return blank;
}

/** The first line that is no JSON object; the engine counts lines from another start. */
async function ndjsonFault(file: FeedFile): Promise<string | undefined> {
  let row = 0;
  for await (const text of linesOf(file)) {
    if (text.trim() === "") continue;
    row += 1;
    if (text.includes("\ufffd")) return `, row ${row}: not in UTF-8.`;
    if (!isJsonObject(text)) return `, row ${row}: not a JSON object.`;
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
