/**
 * The formats of answers and files, with their media types and extensions; and CSV (RFC 4180) with a header. Null is an empty cell, an empty text is quoted,
 * lists and structs are JSON text, lines end with CR LF. Texts that a spreadsheet would take for formulas are escaped, as OWASP recommends.
 */
import { extname } from "node:path";
import { stringify } from "csv-stringify/sync";
import type { Json } from "../base/json.ts";
import { UsageError } from "../base/user-error.ts";
import type { Table } from "../contract/tables.ts";
import type { QueryOf } from "../contract/types.ts";

export type FormatName = NonNullable<QueryOf<"searchListings">["format"]>;

export type TableFormat = Exclude<FormatName, "json">;

interface FormatRow {
  /** As `Accept` names it. */
  readonly mediaType: string;
  /** Parameters of the media type in `Content-Type`. */
  readonly parameters?: string;
  /** Of its files, the usual one first. */
  readonly extensions: readonly [usual: string, ...others: string[]];
}

export const answerFormats: Readonly<Record<FormatName, FormatRow>> = {
  json: { mediaType: "application/json", parameters: "charset=utf-8", extensions: ["json"] },
  arrow: { mediaType: "application/vnd.apache.arrow.stream", extensions: ["arrows", "arrow"] },
  parquet: { mediaType: "application/vnd.apache.parquet", extensions: ["parquet"] },
  csv: { mediaType: "text/csv", parameters: "charset=utf-8; header=present", extensions: ["csv"] },
  ndjson: { mediaType: "application/x-ndjson", extensions: ["ndjson", "jsonl"] },
};

/** The formats of pages, in the order in which they are preferred if a client accepts several of them equally. */
export const pageFormats = ["json", "arrow", "parquet", "csv", "ndjson"] as const satisfies readonly FormatName[];

/** The formats of exports, in the same order. */
export const exportFormats = ["parquet", "arrow", "csv", "ndjson"] as const satisfies readonly TableFormat[];

/** The formats of files that `carquet export` writes. JSON is an array of the rows. */
export const fileFormats = [...exportFormats, "json"] as const satisfies readonly FormatName[];

/** Returns the format of a file by the extension of its name; `otherwise` without one. Throws a UsageError if it is unknown. */
export function formatOfFile<Format extends FormatName | "table">(
  path: string,
  formats: readonly Format[],
  otherwise: Format,
): Format {
  const extension = extname(path).toLowerCase();
  if (extension === "") return otherwise;
  const extensionsOf = (format: FormatName | "table"): readonly string[] =>
    (format === "table" ? ["txt"] : answerFormats[format].extensions).map((one) => `.${one}`);
  const format = formats.find((one) => extensionsOf(one).includes(extension));
  if (format !== undefined) return format;
  const known = formats.flatMap(extensionsOf).join(", ");
  throw new UsageError(`Unknown extension ${extension} of --output ${path}: expected ${known}, or --format.`);
}

/** The beginning of a text that spreadsheets take for a formula: a regular expression of JavaScript and of the engine. */
export const formulaPattern = "^[=+\\-@\\t\\r\\n＝＋－＠]";

const formula = new RegExp(formulaPattern);

/** Precedes a text by an apostrophe if a spreadsheet would take it for a formula. */
export const escapeFormula = (text: string): string => (formula.test(text) ? `'${text}` : text);

/** Rows, and the names of their columns in order. */
interface NamedRows extends Pick<Table, "rows"> {
  readonly columns: readonly { readonly name: string }[];
}

/** Returns the text of a file with a header. `isRaw` leaves texts unchanged. */
export const encodeCsv = (table: NamedRows, isRaw = false): string =>
  csvLines([table.columns.map(({ name }) => name)]) + csvRows(table, isRaw);

/** Returns the lines of a table without the header. */
export const csvRows = ({ columns, rows }: NamedRows, isRaw: boolean): string =>
  csvLines(rows.map((row) => columns.map(({ name }) => cellOf(row[name], isRaw))));

/** Returns the lines of rows. A cell of undefined is empty, one of an empty text is quoted. */
export const csvLines = (rows: readonly (readonly (string | undefined)[])[]): string =>
  stringify([...rows], { record_delimiter: "windows", quoted_match: /^$|[\r\n]/ });

/** Returns the content of a cell; undefined stays unquoted. */
function cellOf(value: Json | undefined, isRaw: boolean): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return isRaw ? value : escapeFormula(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
