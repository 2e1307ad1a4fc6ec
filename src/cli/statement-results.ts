/** Runs the statements of `carquet sql`, and prints their results or writes the last one to a file. */
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { replaceFileWith } from "../base/files.ts";
import { isRow, type Row } from "../base/json.ts";
import { messageOf, UsageError, UserError } from "../base/user-error.ts";
import type { AnalystDatabase, WrittenResult } from "../lake/analyst/analyst-database.ts";
import type { ResultForm } from "../lake/analyst/result-columns.ts";
import { isBlankStatement, splitStatements } from "../lake/analyst/statements.ts";
import { cellsOf, columnWidths, formatRowCount, formatTableHead, formatTableLines } from "./print.ts";

/** `json` is an array of rows, `ndjson` a line for each. */
export const resultFormats = ["table", "csv", "json", "ndjson", "parquet", "arrow"] as const;

export type ResultFormat = (typeof resultFormats)[number];

const textFormats: readonly ResultFormat[] = ["table", "csv", "json", "ndjson"];

type Content = AsyncIterable<string | Uint8Array>;

interface PrintedFormat {
  readonly form: ResultForm;
  /** Returns what is printed of the file of a result. */
  readonly contentOf: (result: WrittenResult) => Content;
}

const bytesOf = ({ path }: WrittenResult): Content => createReadStream(path, { highWaterMark: 1 << 20 });

const printedFormats: Readonly<Record<ResultFormat, PrintedFormat>> = {
  table: { form: { format: "ndjson", isExact: true }, contentOf: tableOf },
  csv: { form: { format: "csv" }, contentOf: ({ path }) => createReadStream(path, "utf8") },
  json: { form: { format: "ndjson" }, contentOf: arrayOf },
  ndjson: { form: { format: "ndjson" }, contentOf: jsonLinesOf },
  parquet: { form: { format: "parquet" }, contentOf: bytesOf },
  arrow: { form: { format: "arrow" }, contentOf: bytesOf },
};

async function* tableOf(result: WrittenResult): AsyncGenerator<string> {
  const { columns, rows } = result;
  let widths = columnWidths([columns], []);
  for await (const batch of rowsOf(result)) widths = columnWidths(cellsOf(batch, columns), widths);
  yield formatTableHead(columns, widths);
  for await (const batch of rowsOf(result)) yield formatTableLines(cellsOf(batch, columns), widths);
  yield formatRowCount(rows);
}

/** JSON has no NaN and no infinity: they are null. */
async function* jsonLinesOf({ path }: WrittenResult): AsyncGenerator<string> {
  for await (const lines of linesOf(path))
    yield lines.map((line) => `${replaceNonFinite(line, () => "null")}\n`).join("");
}

async function* arrayOf(result: WrittenResult): AsyncGenerator<string> {
  let before = "[";
  for await (const lines of jsonLinesOf(result)) {
    yield `${before}\n${lines.trimEnd().replaceAll("\n", ",\n")}`;
    before = ",";
  }
  yield before === "[" ? "[]\n" : "\n]\n";
}

async function* rowsOf({ path }: WrittenResult): AsyncGenerator<readonly Row[]> {
  for await (const lines of linesOf(path))
    yield lines.map((line) => JSON.parse(replaceNonFinite(line, (number) => `"${number}"`))).filter(isRow);
}

/** Yields the lines of a file in batches. `node:readline` would split lines at U+2028 too, which JSON strings may contain. */
async function* linesOf(path: string): AsyncGenerator<readonly string[]> {
  const chunks: AsyncIterable<string> = createReadStream(path, { encoding: "utf8", highWaterMark: 1 << 18 });
  let rest = "";
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) yield lines;
  }
}

/** The strings, and the numbers without a JSON form, of a line that the engine wrote. */
const stringOrNonFinite = /"(?:[^"\\]|\\.)*"|-?NaN|-?Infinity/g;

/** Replaces numbers that JSON cannot represent in a line that the engine wrote. */
const replaceNonFinite = (line: string, replacement: (number: string) => string): string =>
  line.replaceAll(stringOrNonFinite, (part) => (part.startsWith('"') ? part : replacement(part)));

/** Throws a UsageError for a format of bytes where a terminal would print it. */
export function checkPrintable(format: ResultFormat, isTerminal: boolean): void {
  if (isTerminal && !textFormats.includes(format))
    throw new UsageError(
      `Invalid format ${format} for a terminal: expected --output, a pipe, or one of ${textFormats.join(", ")}.`,
    );
}

/** Yields the statements of a stream of text, each when it is complete. */
async function* statementsIn(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let pending = "";
  for await (const chunk of chunks) {
    const { statements, rest } = splitStatements(pending + chunk);
    pending = rest;
    yield* statements;
  }
  if (!isBlankStatement(pending)) yield pending.trim();
}

/** Runs the statements of a text as they arrive, and prints the result of each. Throws a UserError at the first that fails. */
export async function printResults(
  database: AnalystDatabase,
  text: AsyncIterable<string>,
  format: ResultFormat,
  isRaw: boolean,
): Promise<void> {
  const { form, contentOf } = printedFormats[format];
  for await (const statement of statementsIn(text)) {
    const result = await database.write(statement, { ...form, isRaw });
    for await (const chunk of result === undefined ? [] : contentOf(result))
      if (!process.stdout.write(chunk)) await once(process.stdout, "drain");
  }
}

/**
 * Runs the statements of a text and writes the result of the last one to a file, which has its former content or all of the new one; returns its number of
 * rows and its size. Throws a UserError if another statement has a result, or that one has none, or the file cannot be written.
 */
export async function writeLastResult(
  database: AnalystDatabase,
  text: AsyncIterable<string>,
  { file, format, isRaw }: { readonly file: string; readonly format: ResultFormat; readonly isRaw: boolean },
): Promise<{ readonly rows: number; readonly bytes: number }> {
  let last: string | undefined;
  for await (const statement of statementsIn(text)) {
    if (last !== undefined) await database.run(last);
    last = statement;
  }
  const { form, contentOf } = printedFormats[format];
  const result = last === undefined ? undefined : await database.write(last, { ...form, isRaw });
  if (result === undefined) throw new UserError("Invalid statements: expected one with a result as the last one.");
  try {
    await replaceFileWith(file, contentOf(result));
  } catch (thrown) {
    throw new UserError(`Cannot write ${file}: ${messageOf(thrown)}.`);
  }
  return { rows: result.rows, bytes: (await stat(file)).size };
}
