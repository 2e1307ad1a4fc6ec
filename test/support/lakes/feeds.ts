/** Dealers' feeds for a test, with as few columns as the case needs. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FeedTable, feed, feedTables } from "../../../src/ingest/feed/feed-schema.ts";

export type FeedRow = Readonly<Record<string, string | number>>;

export type Feeds = Readonly<Partial<Record<FeedTable, readonly FeedRow[]>>>;

/** Writes a day's feeds as CSV into the day's folder below a folder, and gives the day's folder. */
export async function deliver(folder: string, day: string, feeds: Feeds): Promise<string> {
  const files = feedTables.flatMap((table) => {
    const rows = feeds[table];
    return rows === undefined ? [] : [[`${table}.csv`, csvOf(table, rows)] as const];
  });
  return deliverFiles(folder, day, Object.fromEntries(files));
}

/** Writes a day's files as they are, into the day's folder below a folder, and gives the day's folder. */
export async function deliverFiles(
  folder: string,
  day: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  const path = join(folder, day);
  await mkdir(path, { recursive: true });
  for (const [file, content] of Object.entries(files)) await writeFile(join(path, file), content);
  return path;
}

/** The `n`-th of a test's vehicles. */
export const vinOf = (n: number): string => `1HGCM82633A${String(n).padStart(6, "0")}`;

/** The `n`-th of a test's dealers; ids sort as the numbers do. */
export const dealerIdOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** Rows as CSV; a column that a row lacks is empty in it. */
export function csvOf(table: FeedTable, rows: readonly FeedRow[]): string {
  const columns = [...new Set([...feed[table].required, ...rows.flatMap((row) => Object.keys(row))])];
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? "")))];
  return lines.map((line) => `${line.map(quoted).join(",")}\n`).join("");
}

const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
