/** The facts that generated markets are made from, read without the generator. */
import { parse } from "csv-parse/sync";
import { projectText } from "../../../src/base/project-files.ts";

type Fact = Readonly<Record<string, string>>;

/** The rows of a file of `data/reference/market`. */
export function facts(file: string): readonly Fact[] {
  const rows: unknown = parse(projectText(`data/reference/market/${file}.csv`), { columns: true });
  if (!Array.isArray(rows)) throw new TypeError(`${file}: no rows`);
  return rows;
}

/** A fact's value in a column, which is there. */
export function fact(row: Fact | undefined, column: string): string {
  const value = row?.[column];
  if (value === undefined) throw new RangeError(`no ${column}`);
  return value;
}
