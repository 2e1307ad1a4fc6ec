/** Reference data of generated markets, read without the generator. */
import { parse } from "csv-parse/sync";
import { projectText } from "../../../src/base/project-files.ts";

type ReferenceRow = Readonly<Record<string, string>>;

/** Returns the rows of a file in `data/reference/market`. */
export function readReference(file: string): readonly ReferenceRow[] {
  const rows: unknown = parse(projectText(`data/reference/market/${file}.csv`), { columns: true });
  if (!Array.isArray(rows)) throw new TypeError(`${file}.csv: expected rows.`);
  return rows;
}

/** Returns a value; throws if the row or the column is missing. */
export function referenceValue(row: ReferenceRow | undefined, column: string): string {
  const value = row?.[column];
  if (value === undefined) throw new RangeError(`Missing value: expected ${column}.`);
  return value;
}
