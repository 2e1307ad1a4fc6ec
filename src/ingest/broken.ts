/** What is wrong with a file, in one line that names the file, the row and the column as far as they are known. */
import { createReadStream } from "node:fs";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { Failure, messageOf } from "../base/failure.ts";
import { integerIn } from "../base/json.ts";
import { literal, sql } from "../base/sql.ts";
import type { Session } from "../lake/duckdb.ts";
import type { FeedFile } from "./delivery.ts";

/** Reads a gzip file to its end: the engine takes one that was cut short for a shorter one. */
export async function refuseBrokenGzip(file: FeedFile): Promise<void> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    await pipeline(createReadStream(file.path), createGunzip(), nowhere);
  } catch (thrown) {
    throw new Failure(`${file.name}: broken gzip: ${messageOf(thrown)}.`);
  }
}

/** What the engine says of a file, in one line that names the file, the row and the column as far as it knows them. */
export async function explained(
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
