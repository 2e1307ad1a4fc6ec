/** The files of charts, as a browser downloads them. */
import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";

export type CsvRow = Readonly<Record<string, string>>;

/** Returns the rows of the CSV file of a chart. */
export async function chartRows(page: Page, id: string): Promise<readonly CsvRow[]> {
  const url = (await page.locator(`a[download="${id}.csv"]`).getAttribute("href")) ?? "";
  return parse(decodeURIComponent(url.slice(url.indexOf(",") + 1)), { columns: true });
}

/** Returns a column of numbers; null where a cell is empty. */
export const numbersOf = (rows: readonly CsvRow[], name: string): readonly (number | null)[] =>
  rows.map((row) => (row[name] === "" ? null : Number(row[name])));
