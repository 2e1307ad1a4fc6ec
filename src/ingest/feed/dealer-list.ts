/**
 * Lists of dealers by the provider's key: a CSV file `dealers.csv` with the column `key` and dealer fields, for feeds that name no address. Where a list
 * has a field of a dealer, a mapping's rule of it applies only to dealers without that field.
 */
import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import { feed, fieldOfColumn } from "./feed-schema.ts";

export interface DealerList {
  /** The file's path, for messages. */
  readonly name: string;
  readonly keys: readonly string[];
  /** The texts of each dealer field, in the order of the keys. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

/** The name of the list in a source's folder. */
export const dealerListName = "dealers.csv";

/** Reads a list. Throws a UserError that names the file, the row and what was expected. */
export async function readDealerList(path: string, name = path): Promise<DealerList> {
  const fail = (message: string): never => {
    throw new UserError(`${printable(name)}${message}`);
  };
  let text = "";
  let rows: string[][] = [];
  try {
    const bytes = await readFile(path);
    text = bytes.toString("latin1");
    rows = parse(bytes, { bom: true, trim: true, skip_empty_lines: true });
  } catch (thrown) {
    fail(`: ${printable(messageOf(thrown))}: expected a CSV file with the column key.`);
  }
  const broken = text.split("\n").findIndex((line) => !isUtf8(Buffer.from(line, "latin1")));
  if (broken >= 0) fail(`, row ${broken}: invalid byte sequence: expected text in the encoding UTF-8.`);
  const [header = [], ...dealers] = rows;
  const known = Object.keys(feed.dealers.properties).filter((field) => field !== "dealer_id");
  const columns = header.map((column) => (/^key$/i.test(column) ? "key" : fieldOfColumn("dealers", column)));
  const unknown = columns.findIndex((column) => column !== "key" && (column === undefined || !known.includes(column)));
  if (unknown >= 0)
    fail(
      `, row 0 (header): unknown column "${printable(header[unknown] ?? "", 40)}": expected key, ${known.join(", ")}.`,
    );
  const again = columns.findIndex((column, index) => columns.indexOf(column) < index);
  if (again >= 0)
    fail(
      `, row 0 (header): column "${printable(header[again] ?? "", 40)}" is ${columns[again]} again: expected it once.`,
    );
  if (!columns.includes("key")) fail(', row 0 (header): missing column "key": expected the key of each dealer.');
  const textsOf = (field: string): readonly string[] => dealers.map((row) => row[columns.indexOf(field)] ?? "");
  const keys = textsOf("key").map((key) => key.toLowerCase());
  const invalid = keys.findIndex((key, index) => key === "" || keys.indexOf(key) < index);
  if (invalid >= 0)
    fail(
      `, row ${invalid + 1}: ${keys[invalid] === "" ? "no key" : `key "${printable(keys[invalid] ?? "", 40)}" again`}: expected each key once.`,
    );
  const fields = columns.flatMap((column) => (column === undefined || column === "key" ? [] : [column]));
  return { name, keys, fields: Object.fromEntries(fields.map((field) => [field, textsOf(field)])) };
}

/** Selects the dealers of a list: `listed_key`, and each field as `listed <field>`, null where it is empty. */
export function listedDealers({ keys, fields }: DealerList): Sql {
  const columns = Object.entries(fields).map(
    ([field, texts]) => sql`nullif(unnest(${texts}::VARCHAR[]), '') AS ${ident(`listed ${field}`)}`,
  );
  return sql`SELECT ${join([sql`unnest(${keys}::VARCHAR[]) AS listed_key`, ...columns])}`;
}
