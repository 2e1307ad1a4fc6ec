/**
 * Encodes tables as CSV (RFC 4180) with a header. Null is an empty cell, an empty text is quoted; lists and structs are JSON text. Lines end
 * with CR LF. Texts that a spreadsheet would take for formulas are escaped, as OWASP recommends against CSV injection.
 */
import { stringify } from "csv-stringify/sync";
import type { Json } from "../base/json.ts";
import type { Table } from "../contract/tables.ts";

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
export function encodeCsv({ columns, rows }: NamedRows, isRaw = false): string {
  const cells = rows.map((row) => columns.map(({ name }) => cellOf(row[name], isRaw)));
  return csvLines([columns.map(({ name }) => name), ...cells]);
}

/** Returns the lines of rows. A cell of undefined is empty, one of an empty text is quoted. */
export const csvLines = (rows: readonly (readonly (string | undefined)[])[]): string =>
  stringify([...rows], { record_delimiter: "windows", quoted_match: /^$|[\r\n]/ });

/** Returns the content of a cell; undefined stays unquoted. */
function cellOf(value: Json | undefined, isRaw: boolean): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return isRaw ? value : escapeFormula(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
