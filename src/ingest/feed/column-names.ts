/** Column names of feed files: reads the header of a CSV file, and checks the names of any format. */
import { parse } from "csv-parse";
import { printable, type UserError } from "../../base/user-error.ts";
import { distinctNames } from "../mapping/mapping.ts";
import { chunksOf, type FeedFile, type FeedLimits, feedColumnsMax, layoutOf, limitMessages } from "./feed-file.ts";
import { fieldOfColumn } from "./feed-schema.ts";
import { fileError } from "./file-errors.ts";

/** Reads the column names of a CSV file in UTF-8. Throws a UserError if the header is malformed or too large. */
export async function readCsvHeader(file: FeedFile, limits: FeedLimits): Promise<readonly string[]> {
  const { delimiter, quote, hasHeader, names: positional } = layoutOf(file);
  const content = chunksOf(file);
  const records = parse({
    bom: true,
    delimiter,
    quote: quote === "" ? null : quote,
    to: 1,
    relax_column_count: true,
    max_record_size: limits.recordBytes,
  });
  content.on("error", (error: Error) => records.destroy(error));
  let first: readonly string[] = [];
  try {
    for await (const record of content.pipe(records)) first = Array.isArray(record) ? record.map(String) : [];
  } catch (thrown) {
    throw fileError(file, `, row 0 (header): ${describeHeaderError(thrown, limits)}`);
  } finally {
    content.destroy();
  }
  if (first.length === 0) throw fileError(file, ", row 0 (header): empty file: expected column names.");
  const found = file.isNumbered ? first.slice(1) : first;
  const columns = hasHeader ? found : found.map((_, index) => positional[index] ?? "");
  const names = file.mapping === undefined || columns.length > feedColumnsMax ? columns : distinctNames(columns);
  checkColumnNames(file, names);
  return names;
}

/** Describes an error of the parser, whose messages quote the file. */
function describeHeaderError(thrown: unknown, limits: FeedLimits): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return code === "CSV_MAX_RECORD_SIZE" ? limitMessages.recordBytes(limits) : "invalid quotes: expected column names.";
}

/** Throws a UserError if there are too many columns, or one has no name, a repeated name or one that is no text. */
export function checkColumnNames(file: FeedFile, columns: readonly string[]): void {
  const fail = (message: string): UserError => headerError(file, message);
  if (columns.length > feedColumnsMax) throw fail(`too many columns: expected at most ${feedColumnsMax}.`);
  if (columns.includes("")) throw fail(`column ${columns.indexOf("") + 1} has no name.`);
  const unprintable = columns.findIndex((column) => /[\0\ufffd]/.test(column));
  if (unprintable >= 0)
    throw fail(`invalid byte sequence in the name of column ${unprintable + 1}: expected text in the file's encoding.`);
  const seen = new Set<string>();
  for (const column of columns) {
    const folded = column.toLowerCase();
    if (seen.has(folded))
      throw fail(`duplicate column "${printable(column, 40)}": expected each name once, in any case.`);
    if (folded === "row") throw fail(`reserved column name "${column}": expected any other name.`);
    seen.add(folded);
  }
}

/** Returns the column of each field of a file in the Carquet format. Throws a UserError if two columns are the same field. */
export function columnsByField(file: FeedFile, columns: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const column of columns) {
    const field = fieldOfColumn(file.table, column);
    if (field === undefined) continue;
    const other = found.get(field);
    if (other !== undefined) {
      const names = `columns "${printable(other, 40)}" and "${printable(column, 40)}"`;
      throw headerError(file, `${names} are both the field ${field}: expected one of them.`);
    }
    found.set(field, column);
  }
  return found;
}

const headerError = (file: FeedFile, message: string): UserError =>
  fileError(file, `${file.format === "csv" ? ", row 0 (header)" : ""}: ${message}`);
