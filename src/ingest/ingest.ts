/**
 * From feeds to a published version of the lake: days in their order, a version after each.
 *
 * Whatever fails on the way leaves the published version as it was. A replay starts again from the version before a day and
 * publishes once, at its end.
 */
import { Failure } from "../base/failure.ts";
import type { DatabaseOptions } from "../lake/duckdb.ts";
import { currentManifest, type Manifest, readManifest, versionsIn } from "../lake/manifest.ts";
import { nextManifest, publish, type Writer, writing } from "../lake/writer.ts";
import type { Account } from "./account.ts";
import { type OnStep, writeDay } from "./day.ts";
import type { Delivery } from "./delivery.ts";
import type { Mapping } from "./mapping.ts";

export interface IngestOptions extends DatabaseOptions {
  readonly mapping?: Mapping;
  /** Start again from the version before this day. */
  readonly replayFrom?: string;
  readonly onStep?: OnStep;
  /** Called when a day is in: published, or, in a replay, written. */
  readonly onDay?: (account: Account) => void;
}

/**
 * Ingests deliveries in the order of their days. Fails, with nothing published of that day, when a file is broken, a day is
 * already in, or a replay lacks a day that the lake has.
 */
export async function ingest(
  lake: string,
  deliveries: readonly Delivery[],
  options: IngestOptions = {},
): Promise<readonly Account[]> {
  return writing(lake, options, async (writer) => {
    const published = await currentManifest(lake);
    return options.replayFrom === undefined
      ? straight(writer, published, deliveries, options)
      : replay(writer, published, deliveries, options.replayFrom, options);
  });
}

async function straight(
  writer: Writer,
  published: Manifest | undefined,
  deliveries: readonly Delivery[],
  options: IngestOptions,
): Promise<readonly Account[]> {
  let before = published;
  const accounts: Account[] = [];
  for (const delivery of deliveries) {
    if (before !== undefined && before.as_of >= delivery.day) {
      throw new Failure(
        `${delivery.day} is already in: the lake is at ${before.as_of}, and days go in order; see --replay-from.`,
      );
    }
    const { manifest, account } = await writeDay(
      writer,
      before,
      nextManifest(writer, before, delivery.day),
      delivery,
      options,
    );
    await publish(writer.lake, manifest);
    before = manifest;
    accounts.push(account);
    options.onDay?.(account);
  }
  return accounts;
}

async function replay(
  writer: Writer,
  published: Manifest | undefined,
  deliveries: readonly Delivery[],
  from: string,
  options: IngestOptions,
): Promise<readonly Account[]> {
  const again = deliveries.filter(({ day }) => day >= from);
  const days = new Set(again.map(({ day }) => day));
  const lacking = (published?.tables.deliveries ?? [])
    .map((file) => file.partition ?? "")
    .filter((day) => day >= from && !days.has(day));
  if (lacking.length > 0)
    throw new Failure(
      `a replay from ${from} needs all days from there on; there is no folder of ${lacking.join(", ")}.`,
    );
  if (again.length === 0) throw new Failure(`a replay from ${from} needs the folders from there on; there is none.`);
  let before = await lastBefore(writer.lake, published, from);
  const accounts: Account[] = [];
  for (const delivery of again) {
    const { manifest, account } = await writeDay(
      writer,
      before,
      nextManifest(writer, before, delivery.day),
      delivery,
      options,
    );
    before = manifest;
    accounts.push(account);
    options.onDay?.(account);
  }
  if (before !== undefined) await publish(writer.lake, { ...before, previous: published?.version ?? null });
  return accounts;
}

/** The newest version of a day before `from`; undefined when the lake begins there. */
async function lastBefore(lake: string, published: Manifest | undefined, from: string): Promise<Manifest | undefined> {
  let at = published;
  while (at !== undefined && at.as_of >= from) {
    if (at.previous === null) return undefined;
    if (!(await versionsIn(lake)).includes(at.previous)) {
      throw new Failure(`no version before ${from} is kept; the oldest to replay from is after ${at.as_of}.`);
    }
    at = await readManifest(lake, at.previous);
  }
  return at;
}
