/** Finds the feed files of deliveries: one folder per day, or a single inventory file. Does not read them. */
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { isDay } from "../../base/day.ts";
import { isNotFound } from "../../base/files.ts";
import { UserError } from "../../base/user-error.ts";
import { type FeedTable, feedTables } from "./feed-schema.ts";

export type FeedFormat = "csv" | "ndjson" | "parquet";

export interface FeedFile {
  readonly table: FeedTable;
  readonly format: FeedFormat;
  readonly path: string;
  /** File name, as used in messages and rejects. */
  readonly name: string;
}

export interface Delivery {
  readonly day: string;
  readonly files: readonly FeedFile[];
}

const formats: Readonly<Record<string, FeedFormat>> = {
  ".csv": "csv",
  ".csv.gz": "csv",
  ".ndjson": "ndjson",
  ".ndjson.gz": "ndjson",
  ".parquet": "parquet",
};

/**
 * Returns the deliveries at a path in day order. A path with folders named YYYY-MM-DD has one delivery per folder. Any other path is one
 * delivery, of `day` or of the day in its name. If `day` is set, returns only that day. Throws a UserError if there is none.
 */
export async function deliveriesAt(path: string, day: string | undefined): Promise<readonly Delivery[]> {
  if (day !== undefined && !isDay(day)) throw new UserError(`Invalid value "${day}" for --day: expected YYYY-MM-DD.`);
  if (!(await isFolder(path))) return [{ day: day ?? dayOf(path), files: [fileAt(path, "inventory")] }];
  const dated = (await readdir(path)).filter(isDay).sort();
  if (dated.length === 0) return [await folderDelivery(path, day ?? dayOf(path))];
  const chosen = day === undefined ? dated : dated.filter((folder) => folder === day);
  if (chosen.length === 0) throw new UserError(`${path}: no folder for ${day}: expected one of ${dated.join(", ")}.`);
  return Promise.all(chosen.map((folder) => folderDelivery(join(path, folder), folder)));
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (thrown) {
    if (isNotFound(thrown)) throw new UserError(`${path}: no such file or folder.`);
    throw thrown;
  }
}

function dayOf(path: string): string {
  const day = basename(path);
  if (isDay(day)) return day;
  throw new UserError(`${path}: unknown day: expected --day YYYY-MM-DD or a name of that form.`);
}

/** Returns the delivery in a day's folder. The prefix of a file name selects its table; other files are ignored. */
async function folderDelivery(folder: string, day: string): Promise<Delivery> {
  const names = (await readdir(folder)).sort();
  const files = names.flatMap((file) => {
    const table = feedTables.find((prefix) => file.toLowerCase().startsWith(prefix));
    return table === undefined ? [] : [fileAt(join(folder, file), table)];
  });
  if (files.length === 0) {
    throw new UserError(
      `${folder}: no feed files: expected ${feedTables.join(", ")} as ${Object.keys(formats).join(", ")}.`,
    );
  }
  return { day, files };
}

function formatOf(file: string): FeedFormat | undefined {
  return Object.entries(formats).find(([extension]) => file.toLowerCase().endsWith(extension))?.[1];
}

function fileAt(path: string, table: FeedTable): FeedFile {
  const format = formatOf(path);
  if (format === undefined) {
    throw new UserError(`${path}: unknown file format: expected ${Object.keys(formats).join(", ")}.`);
  }
  return { table, format, path, name: basename(path) };
}
