/**
 * Encodes tables as CSV (RFC 4180) with a header. Null is an empty cell, an empty text is quoted; lists and structs are JSON text.
 */
import { stringify } from "csv-stringify/sync";
import type { Json } from "../base/json.ts";
import type { Table } from "./table.ts";

/** Returns the text of a file. Lines end with CR LF. */
export function encodeCsv({ columns, rows }: Table): string {
  const names = columns.map(({ name }) => name);
  const cells = rows.map((row) => names.map((name) => cellOf(row[name])));
  return stringify([names, ...cells], { record_delimiter: "windows", quoted_match: /^$|[\r\n]/ });
}

/** Returns the content of a cell; undefined stays unquoted. */
function cellOf(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
