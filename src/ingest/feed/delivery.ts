/** Which files make a delivery: a folder per day, or one file and the day that somebody gave for it. */
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
  /** Its name within the delivery, by which messages and rejects speak of it. */
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
 * The deliveries below a path, in the order of their days: every dated folder in it, or the path itself for the day given
 * or for the day that it is named after.
 */
export async function deliveriesAt(path: string, day: string | undefined): Promise<readonly Delivery[]> {
  if (day !== undefined && !isDay(day)) throw new UserError(`--day ${day}: not a day; allowed is YYYY-MM-DD.`);
  if (!(await isFolder(path))) return [{ day: day ?? dayOf(path), files: [fileAt(path, "inventory")] }];
  const dated = (await readdir(path)).filter(isDay).sort();
  if (dated.length === 0) return [await folderDelivery(path, day ?? dayOf(path))];
  const wanted = day === undefined ? dated : dated.filter((folder) => folder === day);
  if (wanted.length === 0) throw new UserError(`${path}: no folder of the day ${day}; there are ${dated.join(", ")}.`);
  return Promise.all(wanted.map((folder) => folderDelivery(join(path, folder), folder)));
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
  throw new UserError(`${path}: of which day is it? Give --day YYYY-MM-DD, or name its folder after the day.`);
}

/** The files of one day's folder, by the table that each is named after. */
async function folderDelivery(folder: string, day: string): Promise<Delivery> {
  const names = (await readdir(folder)).sort();
  const files = names.flatMap((file) => {
    const table = feedTables.find((of) => file.toLowerCase().startsWith(of));
    return table === undefined ? [] : [fileAt(join(folder, file), table)];
  });
  if (files.length === 0) {
    throw new UserError(
      `${folder}: no feed file; expected are ${feedTables.join(", ")} as ${Object.keys(formats).join(", ")}.`,
    );
  }
  return { day, files };
}

function formatOf(file: string): FeedFormat | undefined {
  return Object.entries(formats).find(([ending]) => file.toLowerCase().endsWith(ending))?.[1];
}

function fileAt(path: string, table: FeedTable): FeedFile {
  const format = formatOf(path);
  if (format === undefined) {
    throw new UserError(`${path}: unknown kind of file; allowed are ${Object.keys(formats).join(", ")}.`);
  }
  return { table, format, path, name: basename(path) };
}
