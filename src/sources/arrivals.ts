/**
 * Fetched files on their way into a queue. A file is in `arriving/<day>/<source>/` until the day is complete: then the folder is moved to
 * `waiting/<day>`, which `carquet ingest --queue` ingests, so that a day never changes while it is ingested. `superseded/` keeps the files that a newer
 * one of the same day replaced, `quarantine/` the broken ones with the reason, `sources/<source>.json` what is known of a source's files.
 *
 * Each step leaves the queue complete: a file is queued before it is recorded, and a fetch that was killed between the two repeats both.
 */
import { existsSync } from "node:fs";
import { appendFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDay } from "../base/day.ts";
import { createFolder, folderEntries, isNotFound, moveFile, replaceFile, sha256Of, syncToDisk } from "../base/files.ts";
import { isObject } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import { classifyFault } from "../db/engine-faults.ts";
import { sql } from "../db/sql.ts";
import { SqliteDatabase } from "../db/sqlite.ts";
import { pathForReplaced } from "../ingest/replaced-files.ts";

/** The last content of a file at a source. */
export interface KnownFile {
  /** Null if it was not received whole. */
  readonly sha256: string | null;
  readonly modifiedMs: number | null;
  readonly tag: string | null;
  readonly arrivedAt: string;
  /** The day that it belongs to. */
  readonly day: string;
  /** Why it is in quarantine. */
  readonly fault: string | null;
  /** The names of its columns, if it is a text with a header. */
  readonly columns?: readonly string[];
}

export type KnownFiles = Readonly<Record<string, KnownFile>>;

/** Runs `work` as the only fetch of a queue. The kernel releases the lock when the process ends, even after a kill. */
export async function withQueueLock<T>(queue: string, work: () => Promise<T>): Promise<T> {
  await createFolder(queue);
  const path = join(queue, "fetch.lock");
  await appendFile(path, "");
  const lock = SqliteDatabase.open(path, { busyMs: 0 });
  try {
    lock.run(sql`BEGIN EXCLUSIVE`);
  } catch (thrown) {
    lock.close();
    if (classifyFault(thrown) !== "busy") throw thrown;
    throw new UserError(`${queue}: another fetch is running: expected one at a time.`);
  }
  const removeUnfinished = (): Promise<void> => rm(join(queue, "incoming"), { recursive: true, force: true });
  try {
    await removeUnfinished();
    return await work();
  } finally {
    await removeUnfinished();
    lock.close();
  }
}

/** Returns the path of a file while it is received. */
export async function incomingPath(queue: string, source: string, path: string): Promise<string> {
  const incoming = join(queue, "incoming", source, path);
  await createFolder(dirname(incoming));
  return incoming;
}

/** Moves a received file to its path in a day. Keeps another file that was there, numbered by its name. */
export async function queueFile(queue: string, day: string, path: string, from: string, sha256: string): Promise<void> {
  const target = join(queue, "arriving", day, path);
  await createFolder(dirname(target));
  if (existsSync(target) && (await sha256Of(target)) !== sha256) {
    await moveFile(target, await pathForReplaced(join(queue, "superseded", day), path));
  }
  await moveFile(from, target);
}

/** Writes a text file of a day unless it has this content. */
export async function queueText(queue: string, day: string, path: string, text: string): Promise<void> {
  const target = join(queue, "arriving", day, path);
  await createFolder(dirname(target));
  if (!existsSync(target) || (await readFile(target, "utf8")) !== text) await replaceFile(target, text);
}

/** Moves a broken file, as far as it was received, to a path in quarantine, with the reason beside it. */
export async function quarantine(target: string, from: string, reason: string): Promise<void> {
  await createFolder(dirname(target));
  await rm(target, { force: true });
  if (existsSync(from)) await moveFile(from, target);
  await writeFile(`${target}.txt`, `${reason}\n`);
}

const knownPath = (queue: string, source: string): string => join(queue, "sources", `${source}.json`);

/** Returns what is known of a source's files. Without it, they are fetched again. */
export async function readKnown(queue: string, source: string): Promise<KnownFiles> {
  try {
    const known: unknown = JSON.parse(await readFile(knownPath(queue, source), "utf8"));
    return Object.fromEntries(
      Object.entries(isObject(known) ? known : {}).flatMap(([path, file]) => (isKnown(file) ? [[path, file]] : [])),
    );
  } catch (thrown) {
    if (isNotFound(thrown) || thrown instanceof SyntaxError) return {};
    throw thrown;
  }
}

const isKnown = (file: unknown): file is KnownFile =>
  isObject(file) && [file.arrivedAt, file.day].every((text) => typeof text === "string");

export async function writeKnown(queue: string, source: string, known: KnownFiles): Promise<void> {
  await createFolder(join(queue, "sources"));
  await replaceFile(knownPath(queue, source), JSON.stringify(known, null, 1));
}

/** Returns the last day that has left `arriving`; no file can be added to it, or to one before it. */
export async function lastClosedDay(queue: string): Promise<string | undefined> {
  const names = [...(await folderEntries(join(queue, "waiting"))), ...(await folderEntries(join(queue, "ingested")))];
  return names
    .map((name) => name.slice(0, 10))
    .filter(isDay)
    .sort()
    .at(-1);
}

/**
 * Moves a day that waits to be ingested back to those that take files, for one that is late or corrected. Returns false if it does not wait, or an
 * ingest has begun with it: that fails, and nothing is lost, if it begins meanwhile.
 */
export async function reopenDay(queue: string, day: string): Promise<boolean> {
  const from = join(queue, "waiting", day);
  const to = join(queue, "arriving", day);
  if (existsSync(to)) return true;
  if (!existsSync(from) || existsSync(join(queue, "ingested", `${day}.sha256`))) return false;
  await createFolder(dirname(to));
  await rename(from, to);
  return true;
}

/** Returns the days that take files, in order. */
export const arrivingDays = async (queue: string): Promise<readonly string[]> =>
  (await folderEntries(join(queue, "arriving"))).filter(isDay);

/** Moves a complete day to `waiting`. Throws a UserError if the queue has another folder of it. */
export async function closeDay(queue: string, day: string): Promise<void> {
  const target = join(queue, "waiting", day);
  if (existsSync(target)) throw new UserError(`${target} exists: expected no folder of a day that is fetched.`);
  await createFolder(dirname(target));
  await rename(join(queue, "arriving", day), target);
  for (const folder of ["waiting", "arriving"]) await syncToDisk(join(queue, folder));
}
