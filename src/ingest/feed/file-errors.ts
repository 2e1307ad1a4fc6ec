/**
 * Errors about feed files: one line with the file and, if known, the row and column.
 *
 * A message never quotes a file except for column names, shortened: the file may be another one than its name says.
 */
import { isObject, parsedJson } from "../../base/json.ts";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { chunksOf, type FeedFile, type FeedLimits, layoutOf, limitMessages, linesOf } from "./feed-file.ts";

/**
 * Returns the column names of a file as a list for a message, shortened; only their number if none of them is known, because then they may
 * be values.
 */
export function printableColumns(columns: readonly string[], known: readonly string[]): string {
  if (!columns.some((column) => known.includes(column))) return `${columns.length} unknown names`;
  const shown = columns.slice(0, 50).map((column) => printable(column, 40));
  return shown.length < columns.length ? `${shown.join(", ")} and others` : shown.join(", ");
}

/** Creates a UserError about a file. `message` begins with a colon, or with a comma and the row. */
export const fileError = ({ name }: Pick<FeedFile, "name">, message: string): UserError =>
  new UserError(`${printable(name)}${message}`);

/** Creates the error of an exceeded limit, in a row if it is known. */
export const limitError = (file: FeedFile, limit: keyof FeedLimits, limits: FeedLimits, row?: number): UserError =>
  fileError(file, `${row === undefined ? "" : `, row ${row}`}: ${limitMessages[limit](limits)}`);

/** Causes of system errors that an operator can fix. */
const systemErrors: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "too many symbolic links",
  ENOTDIR: "no such file or folder",
  ENAMETOOLONG: "name too long",
};

/** Describes a failed file operation. */
export function describeSystemError(thrown: unknown): string {
  const code = isObject(thrown) && typeof thrown.code === "string" ? thrown.code : "";
  return systemErrors[code] ?? `cannot be read (${code === "" ? messageOf(thrown) : code})`;
}

/** What an error of the engine is about. */
interface ErrorContext {
  readonly columns: readonly string[];
  readonly limits: FeedLimits;
}

/** Returns whether an error of the engine is that of a limit on rows (see `withinLimit`). */
export const isLimitFault = (thrown: unknown): boolean => messageOf(thrown).includes("exceeds the limit ");

/** Converts an error of the engine to a UserError about the file. Returns UserErrors and the error of a full disk unchanged. */
export async function describeFileError(file: FeedFile, context: ErrorContext, thrown: unknown): Promise<unknown> {
  if (thrown instanceof UserError || classifyFault(thrown) === "disk full") return thrown;
  const message = messageOf(thrown);
  const [, limit, row] = /exceeds the limit (rows|recordBytes) in row (\d+)/.exec(message) ?? [];
  if (limit === "rows") return limitError(file, "rows", context.limits);
  if (limit === "recordBytes") return limitError(file, "recordBytes", context.limits, Number(row));
  if (file.format === "csv") return fileError(file, await describeCsvError(file, message, context));
  const description = file.format === "ndjson" ? await describeNdjsonError(file).catch(() => undefined) : undefined;
  return fileError(file, description ?? `: ${withoutContent(message)}`);
}

/** Returns the first line of an engine's message without the parts that it quotes. */
const withoutContent = (message: string): string =>
  printable((message.split("\n")[0] ?? "").replaceAll(/"[^"]*"?|'[^']*'?|`[^`]*`?|\{.*/g, "..."));

async function describeCsvError(file: FeedFile, message: string, { columns, limits }: ErrorContext): Promise<string> {
  const record = /CSV Error on Line: (\d+)/.exec(message)?.[1];
  const location =
    record === undefined
      ? ""
      : `, row ${Number(record) - (layoutOf(file).hasHeader ? 1 : 0) - (await countBlankLines(file, Number(record)))}`;
  const counts = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(message);
  if (counts !== null) {
    const expected = Number(counts[1]);
    const found = Number(counts[2]);
    const cause =
      found < expected
        ? `column "${printable(columns[found] ?? "")}" is missing`
        : `unexpected field after column "${printable(columns.at(-1) ?? "")}"`;
    return `${location}: ${found} fields: expected ${expected}, as in the header; ${cause}.`;
  }
  if (/maximum line size|max_line_size/i.test(message)) return `${location}: ${limitMessages.recordBytes(limits)}`;
  if (message.includes("unterminated quote"))
    return `${location}: invalid quotes: expected a closing quote followed by a delimiter or the end of the row.`;
  if (/unicode|utf-?8|encod/i.test(message))
    return `${location}: invalid byte sequence: expected text in the file's encoding.`;
  if (message.includes("state machine reached an invalid state"))
    return `${location}: invalid CSV: expected rows as in RFC 4180, all with the same line ending.`;
  return `${location}: ${withoutContent(message)}`;
}

const lineFeed = 10;
const carriageReturn = 13;

/** Counts the blank lines before a line. The engine's line numbers include them, Carquet's row numbers do not. */
async function countBlankLines(file: FeedFile, before: number): Promise<number> {
  let line = 1;
  let blank = 0;
  let length = 0;
  for await (const chunk of chunksOf(file)) {
    for (const byte of chunk) {
      if (byte === lineFeed) {
        if (length === 0) blank += 1;
        line = line + 1;
        length = 0;
        if (line >= before) return blank;
      } else if (byte !== carriageReturn) length += 1;
    }
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

const isJsonObject = (text: string): boolean => isObject(parsedJson(text));
