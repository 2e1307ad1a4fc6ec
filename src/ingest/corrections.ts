/**
 * Corrections: files that replace those of a day that the queue has ingested. One waits in `corrected/<day>/`, under the name that the file has in the
 * delivery, for the next ingest of the queue, which replays the lake from that day. Then it takes the file's location in `ingested/<day>/`, and
 * `replaced/<day>/` keeps the file before it.
 *
 * An ingest claims the corrections of a day by moving them to `correcting/<day>/`, so that a file that comes meanwhile waits for the next one. After a
 * kill, the next ingest repeats the replay. A correction that cannot be ingested is moved to `refused/`, and the lake stays as it was.
 */

import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDay } from "../base/day.ts";
import { createFolder, folderEntries, isNotFound, moveFile } from "../base/files.ts";
import { ownValue } from "../base/json.ts";
import { messageOf, printable, UserError } from "../base/user-error.ts";
import { DuckDatabase } from "../db/duckdb.ts";
import { currentManifest, type Manifest } from "../lake/manifest.ts";
import { tryDay } from "./day.ts";
import { type Delivery, deliveriesAt, type MappedDay } from "./feed/delivery.ts";
import { defaultFeedLimits, kindOf } from "./feed/feed-file.ts";
import { type IngestOptions, ingest, versionBefore } from "./ingest.ts";
import { lastReplacedFile, pathForReplaced } from "./replaced-files.ts";

/** A file of a delivery: its day, and its name in the delivery, such as `source/dealer/stock.csv`. */
export interface DeliveredFile {
  readonly day: string;
  readonly file: string;
}

/** The names of the files of a day that are corrected. */
type CorrectedFiles = readonly string[];

const namesMax = 10;

/**
 * Queues a file, which is copied from a path, as the correction of one that was ingested, or of an archive with it. `name` is its own name. Returns the
 * name of the corrected file in the delivery. Throws a UserError if the delivery of the day has no such file, or one of another format.
 */
export async function queueCorrection(
  queue: string,
  { day, file }: DeliveredFile,
  { name, path }: { readonly name: string; readonly path: string },
): Promise<string> {
  const { files } = await ingestedDelivery(queue, day);
  const found = files.find((known) => file === known.name || file.startsWith(`${known.name}/`));
  if (found === undefined) {
    const names = files.slice(0, namesMax).map((known) => `"${printable(known.name, 60)}"`);
    throw new UserError(
      `No file "${printable(file, 60)}" in the delivery of ${day}: expected one of ${names.join(", ")}.`,
    );
  }
  const kind = kindOf(basename(name));
  if (kind?.format !== found.format || kind.isGzip !== found.isGzip)
    throw new UserError(
      `Invalid file "${printable(name, 60)}": expected one of the format of ${printable(found.name, 60)}.`,
    );
  const target = join(queue, "corrected", day, found.name);
  // An ingest moves the folder of the day, so that a file is copied beside it; after a kill, the next attempt replaces what was copied.
  const copied = join(queue, "corrected", `.${hash("sha256", `${day}/${found.name}`)}.part`);
  await createFolder(dirname(copied));
  try {
    await copyFile(path, copied);
    await moveIntoFolder(copied, target);
  } finally {
    await rm(copied, { force: true });
  }
  return found.name;
}

/** Moves a file into a folder, which an ingest can claim before the move, so that it is created again, or right after it. */
async function moveIntoFolder(from: string, to: string): Promise<void> {
  await createFolder(dirname(to));
  await moveFile(from, to).catch(async (thrown: unknown) => {
    if (!isNotFound(thrown)) throw thrown;
    if (!existsSync(from)) return;
    await createFolder(dirname(to));
    await moveFile(from, to);
  });
}

/** Returns whether a correction waits for an ingest, or is being ingested. */
export const isCorrectionWaiting = (queue: string, { day, file }: DeliveredFile): boolean =>
  ["corrected", "correcting"].some((folder) => existsSync(join(queue, folder, day, file)));

/**
 * Withdraws a correction. One that was ingested is corrected by the file that it replaced; one that was refused has replaced none. Throws a UserError
 * while it is being ingested.
 */
export async function withdrawCorrection(queue: string, { day, file }: DeliveredFile): Promise<void> {
  const waiting = join(queue, "corrected", day, file);
  if (existsSync(waiting)) return rm(waiting, { force: true });
  if (existsSync(join(queue, "correcting", day, file)))
    throw new UserError(
      `The correction of ${printable(file, 60)} of ${day} is being ingested: expected one that waits.`,
    );
  const path = await lastReplacedFile(replacedFolder(queue, day), file);
  if (path !== undefined) await queueCorrection(queue, { day, file }, { name: file, path });
}

/** The folder of the files that corrections of a day have replaced; those that a fetch replaces are in another one. */
const replacedFolder = (queue: string, day: string): string => join(queue, "replaced", day);

/** Returns the days with corrections that wait, or that a killed ingest has claimed, newest first: a replay cannot start within the days of another one. */
export const correctedDays = async (queue: string): Promise<readonly string[]> => {
  const folders = [await folderEntries(join(queue, "correcting")), await folderEntries(join(queue, "corrected"))];
  return [...new Set(folders.flat().filter(isDay))].sort().reverse();
};

type CorrectionOptions = IngestOptions & { readonly mappedDay?: MappedDay | undefined };

export interface CorrectionOutcome {
  readonly day: string;
  /** Why the correction was refused; undefined if the day has been replayed. */
  readonly reason?: string;
}

/** Replays the lake with the corrections of a day. Undefined if they were withdrawn meanwhile. Throws what else stops the ingest. */
export async function ingestCorrections(
  lake: string,
  queue: string,
  day: string,
  options: CorrectionOptions,
): Promise<CorrectionOutcome | undefined> {
  const claimed = join(queue, "correcting", day);
  if (!existsSync(claimed)) {
    await createFolder(dirname(claimed));
    await rename(join(queue, "corrected", day), claimed);
  }
  const files = await filesIn(claimed);
  if (files.length === 0) {
    await rm(claimed, { recursive: true, force: true });
    return undefined;
  }
  let replay: Replay;
  try {
    replay = await replayOf(lake, queue, { day, files }, options);
  } catch (thrown) {
    if (thrown instanceof UserError) return { day, reason: messageOf(thrown) };
    throw thrown;
  }
  await ingest(lake, replay.deliveries, { ...options, replayFrom: replay.from });
  for (const file of files) await keepCorrection(queue, { day, file });
  await rm(claimed, { recursive: true, force: true });
  return { day };
}

/** Puts a correction in the location of the file that it replaces, of which it keeps a copy. */
async function keepCorrection(queue: string, { day, file }: DeliveredFile): Promise<void> {
  const target = join(queue, "ingested", day, file);
  const kept = await pathForReplaced(replacedFolder(queue, day), file);
  await copyFile(target, `${kept}.part`);
  await moveFile(`${kept}.part`, kept);
  await moveFile(join(queue, "correcting", day, file), target);
}

/** The deliveries of the lake's days from one on, for a replay. */
interface Replay {
  readonly from: string;
  readonly deliveries: readonly Delivery[];
}

interface CorrectedDay {
  readonly day: string;
  readonly files: CorrectedFiles;
}

/** Returns the replay of a day with its corrections. Throws a UserError if the lake cannot be replayed from it, or a correction cannot be read. */
async function replayOf(
  lake: string,
  queue: string,
  { day, files }: CorrectedDay,
  options: CorrectionOptions,
): Promise<Replay> {
  const published = await currentManifest(lake);
  if (published === undefined || ownValue(published.days, day) === undefined)
    throw new UserError(`The lake has no day ${day}: expected an ingested day.`);
  const from = await replayStart(lake, published, day);
  const deliveries: Delivery[] = [];
  for (const one of Object.keys(published.days).sort()) {
    if (one < from) continue;
    const delivery = await ingestedDelivery(queue, one, options.mappedDay);
    deliveries.push(one === day ? correctedBy(delivery, files, join(queue, "correcting", day)) : delivery);
  }
  const corrected = deliveries.flatMap((delivery) => (delivery.day === day ? delivery.files : []));
  for (const file of corrected.filter(({ name }) => files.includes(name)))
    await tryFile({ day, files: [file] }, { ...options, currency: published.currency });
  return { from, deliveries };
}

const correctedBy = ({ day, files }: Delivery, corrected: CorrectedFiles, folder: string): Delivery => ({
  day,
  files: files.map((file) => (corrected.includes(file.name) ? { ...file, path: join(folder, file.name) } : file)),
});

/** Reads a file as an ingest does, which would leave out one of several mapped files that cannot be read. Throws a UserError for such a file. */
async function tryFile(delivery: Delivery, { limits, memoryLimit, ...options }: CorrectionOptions): Promise<void> {
  const settings = { ...options, limits: { ...defaultFeedLimits, ...limits } };
  const engine = { threads: 1, ...(memoryLimit !== undefined && { memoryLimit }) };
  await DuckDatabase.use(engine, (session) => tryDay(session, delivery, settings));
}

/** Returns the latest day up to another one from which the lake can be replayed. Throws a UserError if there is none. */
async function replayStart(lake: string, published: Manifest, day: string): Promise<string> {
  const days = Object.keys(published.days).filter((known) => known <= day);
  let fault: unknown;
  for (const from of days.sort().reverse())
    try {
      await versionBefore(lake, published, from);
      return from;
    } catch (thrown) {
      if (!(thrown instanceof UserError)) throw thrown;
      fault ??= thrown;
    }
  throw fault;
}

/** Returns the delivery of a day that the queue has ingested. Throws a UserError if the queue does not have it. */
async function ingestedDelivery(queue: string, day: string, mappedDay?: MappedDay): Promise<Delivery> {
  const path = join(queue, "ingested", day);
  if (!isDay(day) || !existsSync(path))
    throw new UserError(
      `${path}: not found: expected the delivery of ${printable(day, 40)}, which a correction needs.`,
    );
  const [delivery] = await deliveriesAt(path, undefined, mappedDay);
  if (delivery?.day === day) return delivery;
  throw new UserError(`${path}: contains folders of days: expected the feed files of ${day}.`);
}

/** Returns the names of all files in a folder and the folders in it, without those that are being copied. */
async function filesIn(folder: string): Promise<CorrectedFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".part"))
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();
}
