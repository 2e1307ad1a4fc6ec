/**
 * Errors about feed files: one line with the file and, if known, the row and column.
 *
 * A message never quotes a file except for column names, shortened: the file may be another one than its name says.
 */
import { isObject } from "../../base/json.ts";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { type FeedFile, type FeedLimits, limitMessages } from "./feed-file.ts";

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

/** Returns whether an error of the engine is that of a limit on rows (see `withinLimit`). */
export const isLimitFault = (thrown: unknown): boolean => messageOf(thrown).includes("exceeds the limit ");

/** Converts an error of the engine to a UserError about the file. Returns UserErrors and the error of a full disk unchanged. */
export function describeFileError(file: FeedFile, limits: FeedLimits, thrown: unknown): unknown {
  if (thrown instanceof UserError || classifyFault(thrown) === "disk full") return thrown;
  const message = messageOf(thrown);
  const [, limit, row] = /exceeds the limit (rows|recordBytes) in row (\d+)/.exec(message) ?? [];
  if (limit === "rows") return limitError(file, "rows", limits);
  if (limit === "recordBytes") return limitError(file, "recordBytes", limits, Number(row));
  return fileError(file, `: ${withoutContent(message)}`);
}

/** Returns the first line of an engine's message without the parts that it quotes. */
const withoutContent = (message: string): string =>
  printable((message.split("\n")[0] ?? "").replaceAll(/"[^"]*"?|'[^']*'?|`[^`]*`?|\{.*/g, "..."));

/** Returns a remark about some files. */
export function describeFiles(remark: string, [first = "", ...others]: readonly string[]): string {
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return `${printable(first)}${more}: ${remark}`;
}
