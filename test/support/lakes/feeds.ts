/** Writes feeds with as few columns as a case needs. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { projectPath } from "../../../src/base/project-files.ts";
import { type FeedTable, feed, feedTables } from "../../../src/ingest/feed/feed-schema.ts";

export type FeedRow = Readonly<Record<string, string | number>>;

export type Feeds = Readonly<Partial<Record<FeedTable, readonly FeedRow[]>>>;

/** Writes a day's feeds as CSV below a folder; returns the day's folder. */
export async function writeFeeds(folder: string, day: string, feeds: Feeds): Promise<string> {
  const files = feedTables.flatMap((table) => {
    const rows = feeds[table];
    return rows === undefined ? [] : [[`${table}.csv`, csvOf(table, rows)] as const];
  });
  return writeFeedFiles(folder, day, Object.fromEntries(files));
}

/** Writes a day's files, by their paths in its folder, verbatim below a folder; returns the day's folder. */
export async function writeFeedFiles(
  folder: string,
  day: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  const path = join(folder, day);
  await mkdir(path, { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    if (file.includes("/")) await mkdir(dirname(join(path, file)), { recursive: true });
    await writeFile(join(path, file), content);
  }
  return path;
}

/** Returns the `n`-th test VIN. */
export const vinOf = (n: number): string => `1HGCM82633A${String(n).padStart(6, "0")}`;

/** Returns the `n`-th test dealer id; ids sort as the numbers do. */
export const dealerIdOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** Returns rows as CSV; missing columns are empty. */
export function csvOf(table: FeedTable, rows: readonly FeedRow[]): string {
  const columns = [...new Set([...feed[table].required, ...rows.flatMap((row) => Object.keys(row))])];
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? "")))];
  return lines.map((line) => `${line.map(quoteCell).join(",")}\n`).join("");
}

const quoteCell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A real CSV of used cars from auctions, which is not part of the project. */
export const realCsvPath = process.env.CARQUET_REAL_CSV ?? projectPath("data/real/usa_cars.csv");

/** Reason to skip a test of real feeds, or false. */
export const skipWithoutRealCsv = existsSync(realCsvPath)
  ? false
  : `${realCsvPath} does not exist: set CARQUET_REAL_CSV`;
