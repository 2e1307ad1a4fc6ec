/**
 * Ingests deliveries in day order and publishes them in batches.
 *
 * A failure leaves the published version unchanged, or publishes the days before it. A replay starts again from the version before a day and
 * publishes once, when all of its days are written.
 */
import { availableParallelism } from "node:os";
import { calendarMonth } from "../base/day.ts";
import { printable, UserError } from "../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase } from "../db/duckdb.ts";
import { integerLiteral, join, literal, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/derived-relations.ts";
import { readFeedDecisions } from "../lake/feed-decisions.ts";
import { currentManifest, type Manifest, readManifest, versionsIn } from "../lake/manifest.ts";
import { nextManifest, type Writer, withWriter } from "../lake/writer/writer.ts";
import { type CollapseThresholds, life } from "../listing/lifecycle-rules.ts";
import { withServingFiles } from "../serving/files/build-serving-files.ts";
import { usableFiles } from "../serving/files/serving-parts.ts";
import { withoutValuations, withValuations } from "../valuation/value-market.ts";
import { Batch } from "./batch.ts";
import { beginDays, ingestDay, type OnIngestStep } from "./day.ts";
import type { DeliveryReport } from "./delivery-report.ts";
import type { DealerList } from "./feed/dealer-list.ts";
import type { Delivery } from "./feed/delivery.ts";
import { defaultFeedLimits, type FeedLimits } from "./feed/feed-file.ts";
import type { Mapping } from "./mapping/rules.ts";

export interface IngestOptions extends DatabaseOptions {
  readonly mapping?: Mapping;
  readonly dealers?: DealerList;
  readonly limits?: Partial<FeedLimits>;
  /** When a feed is collapsed. Default: `life`. */
  readonly thresholds?: Partial<CollapseThresholds>;
  /** ISO 4217 code of the currency of prices. Default: the lake's, of an empty lake USD. */
  readonly currency?: string;
  /** Replay from the version before this day. */
  readonly replayFrom?: string;
  readonly onStep?: OnIngestStep;
  /** Whether to build serving files for the last day. Default: true. */
  readonly hasServingFiles?: boolean;
  /** After how long the days so far are published, in milliseconds: with 0, each day is. Default: a minute. */
  readonly batchMs?: number;
  /** Called after each day is written. Those of a batch are published together. */
  readonly onDay?: (report: DeliveryReport) => void;
  /** Called with the days that are skipped because the lake has them, before the first later one. */
  readonly onSkipped?: (days: readonly string[]) => void;
}

/** Deliveries in day order. They may be created lazily. */
export type Deliveries = Iterable<Delivery> | AsyncIterable<Delivery>;

/**
 * Ingests deliveries in day order. Returns one report per day. Days that the lake has are skipped if later ones follow, so that an ingest that
 * was killed is repeated to continue it. Throws a UserError, without publishing the day, if a file is invalid, the day is not after the as-of
 * date, or a replay lacks a day that the lake contains.
 */
export async function ingest(
  lake: string,
  deliveries: Deliveries,
  options: IngestOptions = {},
): Promise<readonly DeliveryReport[]> {
  return withWriter(lake, options, async (writer) => {
    const published = await currentManifest(lake);
    const run: IngestRun = { writer, published, deliveries, options };
    if (options.replayFrom !== undefined) return replay(run, options.replayFrom);
    const later = laterDeliveries(published, deliveries, options);
    return ingestDays({ ...run, deliveries: later }, published, new Batch(lake, options.batchMs));
  });
}

interface IngestRun {
  readonly writer: Writer;
  readonly published: Manifest | undefined;
  readonly deliveries: Deliveries;
  readonly options: IngestOptions;
}

/** Ingests the days from `firstDay` on again, on top of the version before it, and publishes once at the end. */
async function replay(run: IngestRun, firstDay: string): Promise<readonly DeliveryReport[]> {
  const { writer, published, options } = run;
  const deliveries: Delivery[] = [];
  for await (const delivery of run.deliveries) if (delivery.day >= firstDay) deliveries.push(delivery);
  requireAllDays(published, deliveries, firstDay);
  const base = await versionBefore(writer.lake, published, firstDay);
  const fields = { previous: published?.version ?? null, replayed_from: firstDay };
  return ingestDays({ ...run, deliveries }, base, new Batch(writer.lake, options.batchMs, fields));
}

/** Throws a UserError if a replay lacks a delivery of a day that the lake contains. */
function requireAllDays(published: Manifest | undefined, deliveries: readonly Delivery[], firstDay: string): void {
  const days = new Set(deliveries.map(({ day }) => day));
  const missingDays = Object.keys(published?.days ?? {}).filter((day) => day >= firstDay && !days.has(day));
  if (deliveries.length > 0 && missingDays.length === 0) return;
  const what = missingDays.length > 0 ? `no delivery of ${missingDays.join(", ")}` : "no deliveries";
  throw new UserError(`Cannot replay from ${firstDay}: ${what}; expected every day of the lake from ${firstDay} on.`);
}

/** Ingests each delivery on top of the day before it, and adds it to a batch. Publishes the days before a failure. */
async function ingestDays(
  { writer, deliveries, options }: IngestRun,
  base: Manifest | undefined,
  batch: Batch,
): Promise<readonly DeliveryReport[]> {
  let previous = base;
  const reports: DeliveryReport[] = [];
  await beginDays(writer, base);
  try {
    for await (const [delivery, isLast] of markLast(deliveries)) {
      const { manifest, report } = await writeDay(writer, previous, delivery, options);
      const day = isLast ? await finishDay(writer, manifest, options) : withUsableFiles(withoutValuations(manifest));
      await batch.add(day);
      if (isLast) await batch.publish();
      previous = day;
      reports.push(report);
      options.onDay?.(report);
    }
  } catch (thrown) {
    // The reason of the failure is reported also if nothing can be published, as on a full disk.
    await batch.publishEarly().catch(() => {});
    throw thrown;
  }
  return reports;
}

/** Up to this size of a lake a second engine thread costs 50 % more processor time without shortening a day. */
export const singleThreadListingsMax = 100_000;

/** Lets one engine thread write the days after a small one, unless options name a number. */
async function limitThreads({ session }: Writer, previous: Manifest | undefined, threads?: number): Promise<void> {
  if (threads !== undefined || previous === undefined) return;
  const isSmall = (previous.days[previous.as_of] ?? 0) <= singleThreadListingsMax;
  await session.run(sql`SET GLOBAL threads = ${integerLiteral(isSmall ? 1 : availableParallelism())}`);
}

/** Writes the files of a day on top of the day before it. */
async function writeDay(writer: Writer, previous: Manifest | undefined, delivery: Delivery, options: IngestOptions) {
  requireNewDay(previous, delivery);
  await limitThreads(writer, previous, options.threads);
  const next = withCurrency(nextManifest(writer, previous, delivery.day), previous, options.currency);
  const thresholds = { ...life, ...options.thresholds };
  const judgement = { thresholds, decisions: await readFeedDecisions(writer.lake) };
  const limits = { ...defaultFeedLimits, ...options.limits };
  return ingestDay(writer, { previous, next, delivery }, { ...options, limits, judgement });
}

/** Yields the deliveries after the days that the lake has. Throws a UserError if there are none after them. */
async function* laterDeliveries(
  published: Manifest | undefined,
  deliveries: Deliveries,
  { onSkipped }: IngestOptions,
): AsyncGenerator<Delivery, void, undefined> {
  const skipped: Delivery[] = [];
  let hasLater = false;
  for await (const delivery of deliveries) {
    if (!hasLater && published?.days[delivery.day] !== undefined) {
      skipped.push(delivery);
      continue;
    }
    if (!hasLater && skipped.length > 0) onSkipped?.(skipped.map(({ day }) => day));
    hasLater = true;
    yield delivery;
  }
  const [first] = skipped;
  if (!hasLater && first !== undefined) requireNewDay(published, first);
}

/** Returns a manifest with the currency that an ingest asks for. Throws a UserError if the lake has another. */
function withCurrency(next: Manifest, previous: Manifest | undefined, currency = next.currency): Manifest {
  if (previous === undefined || previous.currency === currency) return { ...next, currency };
  throw new UserError(
    `Invalid value "${printable(currency)}" for --currency: expected ${previous.currency}, the currency of the lake.`,
  );
}

/** Yields each delivery with whether it is the last. */
async function* markLast(deliveries: Deliveries): AsyncGenerator<readonly [Delivery, boolean], void, undefined> {
  let previous: Delivery | undefined;
  for await (const delivery of deliveries) {
    if (previous !== undefined) yield [previous, false];
    previous = delivery;
  }
  if (previous !== undefined) yield [previous, true];
}

/** Values the market of the last day, and builds its serving files. */
async function finishDay(
  writer: Writer,
  written: Manifest,
  { hasServingFiles = true, onStep }: IngestOptions,
): Promise<Manifest> {
  onStep?.(`${written.as_of}, market values`, 0, 1, "fitting prices");
  const manifest = await withValuations(writer, written);
  if (!hasServingFiles) return withUsableFiles(manifest);
  return withServingFiles(writer, manifest, "size", (step, steps, description) =>
    onStep?.(`${manifest.as_of}, serving files`, step, steps, description),
  );
}

const withUsableFiles = (manifest: Manifest): Manifest => ({ ...manifest, serving: usableFiles(manifest) });

function requireNewDay(previous: Manifest | undefined, { day }: Delivery): void {
  if (previous === undefined || day > previous.as_of) return;
  throw new UserError(
    `Cannot ingest ${day}: the lake is at ${previous.as_of}; expected a later day. Use --replay-from to ingest days again.`,
  );
}

/** The tables whose rows hold from a day on. */
const heldTables = ["listings", "past_listings", "contenders"] as const;

/**
 * Returns whether a lake's first version has no day before one. That of a followed lake has the earlier days of its source, or, of days that a vacuum
 * has removed, what remains: cars that left, and rows that held.
 */
async function beginsAt(lake: string, { days, tables }: Manifest, day: string): Promise<boolean> {
  if (Object.keys(days).some((known) => known < day)) return false;
  const months = Object.values(tables).flatMap((files) => files.flatMap(({ partition }) => partition ?? []));
  if (months.some((month) => month < calendarMonth(day))) return false;
  const held = heldTables.map((table) => sql`SELECT valid_from FROM (${rowsOfFiles(table, tables[table], lake)})`);
  const earlier = sql`SELECT * FROM (${join(held, sql` UNION ALL `)}) WHERE valid_from < DATE ${literal(day)} LIMIT 1`;
  return DuckDatabase.use({ threads: 1 }, async (session) => (await session.rows(earlier)).length === 0);
}

/**
 * Returns the newest version with an as-of date before `day`; undefined if the lake begins on `day` or later. Throws a UserError if its day was
 * replayed later: a replay publishes only once, so its intermediate days have no version, and the older one would undo their corrections.
 */
export async function versionBefore(
  lake: string,
  published: Manifest | undefined,
  day: string,
): Promise<Manifest | undefined> {
  let version = published;
  let replayedFrom: string | undefined;
  while (version !== undefined && version.as_of >= day) {
    if (version.previous === null && (await beginsAt(lake, version, day))) return undefined;
    if (version.previous === null || !(await versionsIn(lake)).includes(version.previous)) {
      throw new UserError(
        `Cannot replay from ${day}: no version before it exists; expected a day after ${version.as_of}.`,
      );
    }
    const { replayed_from: from } = version;
    if (from !== undefined && (replayedFrom === undefined || from < replayedFrom)) replayedFrom = from;
    version = await readManifest(lake, version.previous);
  }
  if (version !== undefined && replayedFrom !== undefined && replayedFrom <= version.as_of)
    throw new UserError(
      `Cannot replay from the day after ${version.as_of}, which was itself replayed: expected ${version.as_of} or an earlier day.`,
    );
  return version;
}
