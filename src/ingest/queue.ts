/**
 * The queue of deliveries: a folder with `waiting/`, whose dated folders are ingested in the order of their days, and `ingested/` and
 * `refused/`, where they are moved to.
 *
 * `ingested/<day>.sha256` is written before a day is ingested. So a delivery that was published but not moved, because the process was killed or
 * the file system refused, is recognised and not ingested again. A delivery that the lake cannot take any more is set aside with the reason. One
 * that fails stays, and later days wait for it, because a day cannot follow a later one. Corrections of ingested days come last; see `corrections.ts`.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDay } from "../base/day.ts";
import { createFolder, folderEntries, isNotFound, replaceFile, sha256Of } from "../base/files.ts";
import { messageOf, printable, UserError } from "../base/user-error.ts";
import { currentManifest } from "../lake/manifest.ts";
import { correctedDays, ingestCorrections } from "./corrections.ts";
import { type Delivery, deliveriesAt, type MappedDay } from "./feed/delivery.ts";
import { type IngestOptions, ingest } from "./ingest.ts";

/** The outcome of a waiting delivery. `published before`: by a run that could not move it. `corrected`: replayed with corrections. */
export type QueueOutcome = "ingested" | "published before" | "refused" | "corrected";

export interface QueueEvent {
  readonly day: string;
  readonly outcome: QueueOutcome;
  readonly reason?: string;
  /** Why the delivery could not be moved and is still waiting. */
  readonly notMoved?: string;
}

export interface QueueOptions extends IngestOptions {
  readonly mappedDay?: MappedDay | undefined;
  /** Called after each delivery. */
  readonly onDelivery: (event: QueueEvent) => void;
}

const folders = ["waiting", "ingested", "refused"] as const;

/** A day in `arriving` is before one in `waiting` only while a fetch adds a late file to it. */
type Folder = (typeof folders)[number] | "arriving";

/**
 * Ingests the deliveries that wait in a queue, and moves them. Returns whether a version was published. Throws a UserError at the first
 * delivery that cannot be ingested, which stays with all later ones.
 */
export async function ingestQueue(lake: string, queue: string, options: QueueOptions): Promise<boolean> {
  if (!existsSync(queue))
    throw new UserError(`${queue}: not found: expected the folder of a queue, as "carquet fetch" creates it.`);
  for (const folder of folders) await createFolder(join(queue, folder));
  let hasPublished = false;
  const waiting = await daysIn(queue, "waiting");
  // A day that is reopened from now on is missed in its turn, before later ones.
  const [arriving] = await daysIn(queue, "arriving");
  for (const day of waiting) {
    if (arriving !== undefined && arriving < day)
      throw new UserError(
        `${join(queue, "waiting", day)}: waits for ${arriving}, to which a file is being added: expected "carquet fetch" to complete that day.`,
      );
    const event = await takeDelivery(lake, queue, day, options);
    hasPublished ||= event.outcome === "ingested";
    options.onDelivery({ ...event, ...(await moved(queue, event)) });
  }
  for (const day of await correctedDays(queue)) {
    const outcome = await ingestCorrections(lake, queue, day, options);
    if (outcome === undefined) continue;
    hasPublished ||= outcome.reason === undefined;
    const event: QueueEvent = { ...outcome, outcome: outcome.reason === undefined ? "corrected" : "refused" };
    options.onDelivery({ ...event, ...(outcome.reason === undefined ? {} : await moved(queue, event, "correcting")) });
  }
  const others = await misnamedIn(queue);
  if (others.length === 0) return hasPublished;
  const names = others.slice(0, 10).map((name) => `"${printable(name, 40)}"`);
  throw new UserError(
    `${join(queue, "waiting")}: ${names.join(", ")}: expected folders named by their days, YYYY-MM-DD; while one is copied, it begins with "." or ends with .part or .tmp.`,
  );
}

/** Returns the names in `waiting` that are no days, without those of deliveries that are being copied. */
const misnamedIn = async (queue: string): Promise<readonly string[]> =>
  (await folderEntries(join(queue, "waiting"))).filter(
    (name) => !isDay(name) && !/^\.|\.(?:part|partial|tmp)$/.test(name),
  );

/** Counts the deliveries of a queue that wait, those with corrections included, and those that were refused and have not been removed since. */
export const countQueue = async (queue: string): Promise<{ readonly waiting: number; readonly refused: number }> => ({
  waiting:
    (await daysIn(queue, "waiting")).length + (await misnamedIn(queue)).length + (await correctedDays(queue)).length,
  refused: (await folderEntries(join(queue, "refused"))).filter((name) => isDay(name.replace(/\.\d+$/, ""))).length,
});

/** Counts the days that an ingest of a queue writes: those that wait, and for each with corrections, all days from it on, which it replays. */
export async function countDaysToIngest(queue: string): Promise<number> {
  const { waiting } = await countQueue(queue);
  const days = [...(await daysIn(queue, "ingested")), ...(await daysIn(queue, "waiting"))];
  const later = (await correctedDays(queue)).flatMap((corrected) => days.filter((day) => day > corrected));
  return waiting + later.length;
}

/** Returns the days of the deliveries in a folder, in order. */
const daysIn = async (queue: string, folder: Folder): Promise<readonly string[]> =>
  (await folderEntries(join(queue, folder))).filter(isDay);

/** Ingests a delivery unless the lake is past its day. */
async function takeDelivery(lake: string, queue: string, day: string, options: QueueOptions): Promise<QueueEvent> {
  const path = join(queue, "waiting", day);
  const receipt = join(queue, "ingested", `${day}.sha256`);
  const asOf = (await currentManifest(lake))?.as_of;
  if (asOf !== undefined && day <= asOf) {
    const hash = await deliveryIn(path, day, undefined).then(hashOf, messageOf);
    if ((await textOf(receipt)) === hash) return { day, outcome: "published before" };
    const reason = `the lake is at ${asOf}: expected a later day, or "carquet ingest --replay-from ${day}" with all days from it on`;
    return { day, outcome: "refused", reason };
  }
  const delivery = await deliveryIn(path, day, options.mappedDay);
  const before = await textOf(receipt);
  await replaceFile(receipt, await hashOf(delivery));
  try {
    await ingest(lake, [delivery], options);
  } catch (thrown) {
    // What fails after the publish leaves the day published. A receipt that existed may be that of an ingest that is running.
    if (before === undefined && (await currentManifest(lake))?.as_of !== day) await rm(receipt, { force: true });
    throw thrown;
  }
  return { day, outcome: "ingested" };
}

/** Returns the delivery in a waiting folder. Throws a UserError if it has none. */
async function deliveryIn(path: string, day: string, mapped: MappedDay | undefined): Promise<Delivery> {
  const [delivery, ...others] = await deliveriesAt(path, undefined, mapped);
  if (delivery?.day === day && others.length === 0) return delivery;
  throw new UserError(`${path}: contains folders of days: expected the feed files of ${day}.`);
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    if (isNotFound(thrown)) return undefined;
    throw thrown;
  }
}

/** Returns the SHA-256 of a delivery's files: of their names and contents. */
async function hashOf({ files }: Delivery): Promise<string> {
  const hash = createHash("sha256");
  for (const { name, path } of files) hash.update(`${name}\0${await sha256Of(path)}\0`);
  return hash.digest("hex");
}

/** Moves a delivery to the folder of its outcome, and writes the reason of a refusal to a file next to it. */
async function moved(
  queue: string,
  { day, outcome, reason }: QueueEvent,
  from = "waiting",
): Promise<Pick<QueueEvent, "notMoved">> {
  const folder = outcome === "refused" ? "refused" : "ingested";
  try {
    const name = await freeName(join(queue, folder), day);
    await rename(join(queue, from, day), join(queue, folder, name));
    if (reason !== undefined) await writeFile(join(queue, folder, `${name}.txt`), `${reason}\n`);
    return {};
  } catch (thrown) {
    return { notMoved: messageOf(thrown) };
  }
}

/** Returns the day, followed by a number if the folder already has a delivery of that day. */
async function freeName(folder: string, day: string): Promise<string> {
  const names = new Set(await readdir(folder));
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? day : `${day}.${number}`;
    if (!names.has(name)) return name;
  }
}
