/**
 * From feeds to a published version of the lake: days in their order, a version after each.
 *
 * Whatever fails on the way leaves the published version as it was. A replay starts again from the version before a day and
 * publishes once, at its end.
 */
import { UserError } from "../base/user-error.ts";
import type { DatabaseOptions } from "../db/duckdb.ts";
import { currentManifest, type Manifest, readManifest, versionsIn } from "../lake/manifest.ts";
import { nextManifest, publish, type Writer, withWriter } from "../lake/writer/writer.ts";
import { withServingFiles } from "../serving/build-serving-files.ts";
import { usableFiles } from "../serving/serving-files.ts";
import { ingestDay, type OnIngestStep } from "./day.ts";
import type { DeliveryReport } from "./delivery-report.ts";
import type { Delivery } from "./feed/delivery.ts";
import type { Mapping } from "./feed/mapping.ts";

export interface IngestOptions extends DatabaseOptions {
  readonly mapping?: Mapping;
  /** Start again from the version before this day. */
  readonly replayFrom?: string;
  readonly onStep?: OnIngestStep;
  /** Whether serving files are built for the last of the days; they are unless this is false. */
  readonly hasServingFiles?: boolean;
  /** Called when a day is in: published, or, in a replay, written. */
  readonly onDay?: (account: DeliveryReport) => void;
}

/** Deliveries in the order of their days, there already or made as they are asked for. */
export type Deliveries = Iterable<Delivery> | AsyncIterable<Delivery>;

/**
 * Ingests deliveries in the order of their days. Fails, with nothing published of that day, when a file is broken, a day is
 * already in, or a replay lacks a day that the lake has.
 */
export async function ingest(
  lake: string,
  deliveries: Deliveries,
  options: IngestOptions = {},
): Promise<readonly DeliveryReport[]> {
  return withWriter(lake, options, async (writer) => {
    const published = await currentManifest(lake);
    const { replayFrom } = options;
    if (replayFrom !== undefined) return replay(writer, published, deliveries, replayFrom, options);
    return writeDays(writer, published, deliveries, options, (manifest) => publish(lake, manifest));
  });
}

/** The days from one on again, on what was published before it; published when all are written. */
async function replay(
  writer: Writer,
  published: Manifest | undefined,
  deliveries: Deliveries,
  from: string,
  options: IngestOptions,
): Promise<readonly DeliveryReport[]> {
  const again: Delivery[] = [];
  for await (const delivery of deliveries) if (delivery.day >= from) again.push(delivery);
  const days = new Set(again.map(({ day }) => day));
  const lacking = (published?.tables.deliveries ?? [])
    .map((file) => file.partition ?? "")
    .filter((day) => day >= from && !days.has(day));
  if (again.length === 0 || lacking.length > 0) {
    const what = lacking.length > 0 ? lacking.join(", ") : "any of them";
    throw new UserError(`a replay from ${from} needs all days from there on; there is no folder of ${what}.`);
  }
  let last: Manifest | undefined;
  const accounts = await writeDays(
    writer,
    await lastBefore(writer.lake, published, from),
    again,
    options,
    async (manifest) => {
      last = manifest;
    },
  );
  if (last !== undefined) await publish(writer.lake, { ...last, previous: published?.version ?? null });
  return accounts;
}

/** Writes days one on top of the other; `onWritten` is awaited after each. */
async function writeDays(
  writer: Writer,
  base: Manifest | undefined,
  deliveries: Deliveries,
  options: IngestOptions,
  onWritten: (manifest: Manifest) => Promise<void>,
): Promise<readonly DeliveryReport[]> {
  let before = base;
  const accounts: DeliveryReport[] = [];
  for await (const [delivery, isLast] of markLast(deliveries)) {
    refuseAgain(before, delivery);
    const next = nextManifest(writer, before, delivery.day);
    const { manifest: written, account } = await ingestDay(writer, before, next, delivery, options);
    const manifest = await withServingFilesOf(writer, written, isLast, options);
    await onWritten(manifest);
    before = manifest;
    accounts.push(account);
    options.onDay?.(account);
  }
  return accounts;
}

/** Each delivery, and whether it is the last. */
async function* markLast(deliveries: Deliveries): AsyncGenerator<readonly [Delivery, boolean], void, undefined> {
  let previous: Delivery | undefined;
  for await (const delivery of deliveries) {
    if (previous !== undefined) yield [previous, false];
    previous = delivery;
  }
  if (previous !== undefined) yield [previous, true];
}

/** A manifest with its serving files; before the last day it lists those that it has from the version before. */
function withServingFilesOf(
  writer: Writer,
  manifest: Manifest,
  isLast: boolean,
  options: IngestOptions,
): Promise<Manifest> {
  const { hasServingFiles = true, onStep } = options;
  if (!isLast || !hasServingFiles) return Promise.resolve({ ...manifest, serving: usableFiles(manifest) });
  return withServingFiles(writer, manifest, "size", (done, all, what) =>
    onStep?.(`${manifest.as_of}, serving files`, done, all, what),
  );
}

function refuseAgain(before: Manifest | undefined, { day }: Delivery): void {
  if (before === undefined || day > before.as_of) return;
  const reason = `the lake is at ${before.as_of}; give the days after it, or --replay-from to do days again`;
  throw new UserError(`${day} is already in: ${reason}.`);
}

/** The newest version of a day before `from`; undefined when the lake begins there. */
async function lastBefore(lake: string, published: Manifest | undefined, from: string): Promise<Manifest | undefined> {
  let at = published;
  while (at !== undefined && at.as_of >= from) {
    if (at.previous === null) return undefined;
    if (!(await versionsIn(lake)).includes(at.previous)) {
      throw new UserError(`no version before ${from} is kept; the oldest to replay from is after ${at.as_of}.`);
    }
    at = await readManifest(lake, at.previous);
  }
  refuseUndoing(published, at);
  return at;
}

/** A replay publishes once, so that there is no version of the days between; from one of those it would undo what it corrected. */
function refuseUndoing(published: Manifest | undefined, base: Manifest | undefined): void {
  const newest = base?.tables.deliveries.find(({ partition }) => partition === base.as_of);
  if (newest === undefined || published?.tables.deliveries.some(({ path }) => path === newest.path)) return;
  throw new UserError(`${base?.as_of} was itself replayed since; replay from ${base?.as_of} or a day before it.`);
}
