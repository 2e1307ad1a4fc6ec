/**
 * Finds the feed files of deliveries: one folder per day, or a single inventory file. Does not read them.
 *
 * Folders may belong to third parties, so a symbolic link in one is followed only to a target in the same folder.
 */
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { isDay } from "../../base/day.ts";
import { printable, UserError } from "../../base/user-error.ts";
import type { FeedFile } from "./feed-file.ts";
import { type FeedTable, feedTables } from "./feed-schema.ts";
import { describeSystemError } from "./file-errors.ts";

export interface Delivery {
  readonly day: string;
  readonly files: readonly FeedFile[];
}

const formats: Readonly<Record<string, Pick<FeedFile, "format" | "isGzip">>> = {
  ".csv": { format: "csv", isGzip: false },
  ".csv.gz": { format: "csv", isGzip: true },
  ".ndjson": { format: "ndjson", isGzip: false },
  ".ndjson.gz": { format: "ndjson", isGzip: true },
  ".parquet": { format: "parquet", isGzip: false },
};

/** The day that a mapping file assigns to a delivery without a dated folder. */
export interface MappedDay {
  readonly file: string;
  readonly day: string;
}

/**
 * Returns the deliveries at a path in day order. A path with folders named YYYY-MM-DD has one delivery per folder. Any other path is one
 * delivery, of `day`, of the day in its name, or of the mapping's. If `day` is set, returns only that day. Throws a UserError if there is
 * none, or if a folder is of another day than the mapping.
 */
export async function deliveriesAt(
  path: string,
  day: string | undefined,
  mapped?: MappedDay,
): Promise<readonly Delivery[]> {
  if (day !== undefined && !isDay(day)) throw new UserError(`Invalid value "${day}" for --day: expected YYYY-MM-DD.`);
  const isFolder = (await orUserError(path, stat(path))).isDirectory();
  if (!isFolder)
    return [{ day: day ?? mapped?.day ?? dayOf(path), files: [feedFile(path, basename(path), "inventory")] }];
  const dated = (await namesIn(path)).filter(isDay);
  if (day === undefined && mapped !== undefined) requireMappedDay(mapped, [basename(path), ...dated].filter(isDay));
  if (dated.length === 0) return [await folderDelivery(path, day ?? mapped?.day ?? dayOf(path))];
  const chosen = day === undefined ? dated : dated.filter((folder) => folder === day);
  if (chosen.length === 0)
    throw new UserError(`${printable(path)}: no folder for ${day}: expected one of ${dated.join(", ")}.`);
  return Promise.all(chosen.map(async (folder) => folderDelivery(await resolveWithin(path, folder), folder)));
}

function requireMappedDay({ file, day }: MappedDay, folders: readonly string[]): void {
  const other = folders.find((folder) => folder !== day);
  if (other !== undefined)
    throw new UserError(
      `${printable(file)}: its day ${day} contradicts the folder ${other}: expected a mapping of ${other}, or without a day.`,
    );
}

/** Returns the result of a file operation. Throws a UserError if it fails. */
async function orUserError<T>(path: string, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (thrown) {
    throw new UserError(`${printable(path)}: ${describeSystemError(thrown)}.`);
  }
}

const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await orUserError(folder, readdir(folder))).sort();

/** Returns the path of a folder's entry without symbolic links. Throws a UserError if it is not in the folder. */
async function resolveWithin(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  const target = await orUserError(path, realpath(path));
  const root = await orUserError(folder, realpath(folder));
  if (target.startsWith(root.endsWith(sep) ? root : root + sep)) return target;
  throw new UserError(`${printable(path)}: symbolic link out of its folder: expected a file or a link within it.`);
}

function dayOf(path: string): string {
  const day = basename(path);
  if (isDay(day)) return day;
  throw new UserError(`${printable(path)}: unknown day: expected --day YYYY-MM-DD or a name of that form.`);
}

/** Returns the delivery in a day's folder. The prefix of a file name selects its table; other files are ignored. */
async function folderDelivery(folder: string, day: string): Promise<Delivery> {
  const files: FeedFile[] = [];
  for (const name of await namesIn(folder)) {
    const table = feedTables.find((prefix) => name.toLowerCase().startsWith(prefix));
    if (table !== undefined) files.push(feedFile(await resolveWithin(folder, name), name, table));
  }
  if (files.length > 0) return { day, files };
  throw new UserError(
    `${printable(folder)}: no feed files: expected ${feedTables.join(", ")} as ${Object.keys(formats).join(", ")}.`,
  );
}

function feedFile(path: string, name: string, table: FeedTable): FeedFile {
  const [, format] = Object.entries(formats).find(([ending]) => name.toLowerCase().endsWith(ending)) ?? [];
  if (format !== undefined) return { ...format, table, path, name };
  throw new UserError(`${printable(name)}: unknown file format: expected ${Object.keys(formats).join(", ")}.`);
}
