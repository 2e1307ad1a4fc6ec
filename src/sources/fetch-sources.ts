/**
 * Fetches the new files of sources into a queue, and closes the days that are complete. Each file is received whole, checked, and queued in its day;
 * one that cannot be received, or is broken, goes to quarantine. A source that fails stops no other.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DateTime } from "luxon";
import { plusDays } from "../base/day.ts";
import { sha256Of } from "../base/files.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import { type Connector, type RemoteFile, TransferFault } from "../connectors/connector.ts";
import { type FileMatch, matchPath } from "../connectors/file-pattern.ts";
import { forEachOf, receive, repeat, sizeOf, withStallTimeout } from "../connectors/transfer.ts";
import { unpack } from "../ingest/documents/prepared-files.ts";
import { dealerListName } from "../ingest/feed/dealer-list.ts";
import { folderMapping } from "../ingest/feed/delivery.ts";
import { type FeedLimits, feedEndings, fileOf, limitMessages, tableOfName } from "../ingest/feed/feed-file.ts";
import { checkFeedFile, contentOf } from "../ingest/feed/file-checks.ts";
import { presetPath } from "../ingest/mapping/mapping.ts";
import {
  closeDays,
  incomingPath,
  type KnownFile,
  lastClosedDay,
  quarantine,
  queueFile,
  queueText,
  readKnown,
  withQueueLock,
  writeKnown,
} from "./arrivals.ts";
import { connectTo } from "./connect.ts";
import type { FeedSource, FeedSources } from "./sources-file.ts";

export interface FetchSettings {
  readonly queue: string;
  readonly limits: FeedLimits;
  /** How long a transfer may bring no kibibyte. */
  readonly stallMs: number;
  /** The wait after the first fault in a row; it doubles with each further one. */
  readonly retryMs: number;
  /** When the fetch began. */
  readonly now: Date;
  /** Called after each source. */
  readonly onSource: (report: SourceReport) => void;
}

/** What became of the files of a source. */
interface FetchResult {
  fetched: number;
  unchanged: number;
  /** Files that are too young: they may still be written. */
  unsettled: number;
  /** Reasons by path: of files that were put in quarantine now, or before and have not changed. */
  readonly quarantined: Record<string, string>;
  bytes: number;
}

export interface SourceReport extends Partial<FetchResult> {
  readonly source: string;
  /** Why the source could not be listed. */
  readonly error?: string;
}

/** Sources that are fetched from at once. */
const concurrentMax = 4;

/** Attempts in a row at a connection and at a file, and faults in a row after which a source is left. */
const attemptsMax = 3;
const faultsMax = 6;

/** What is known of files is written after this many, and at the end. */
const recordsUntilWritten = 50;

/** Connecting and listing may take this many times as long as a stall. */
const listingStalls = 10;

/** Fetches the new files of all sources. Returns the days that are complete now, and have been moved to the queue's waiting deliveries. */
export const fetchSources = (file: FeedSources, settings: FetchSettings): Promise<readonly string[]> =>
  withQueueLock(settings.queue, async () => {
    const { queue, now, onSource } = settings;
    const today = dayOfTime(now, file);
    const closed = (await lastClosedDay(queue)) ?? "";
    await forEachOf(file.sources, concurrentMax, async (source) => {
      const fetched = new SourceFetch(source, { ...settings, today, closed }).fetch();
      onSource({
        source: source.name,
        ...(await fetched.catch((thrown: unknown) => ({ error: messageOf(thrown) }))),
      });
    });
    return closeDays(queue, (day) => isComplete(day, file, settings));
  });

const dayOfTime = (time: Date, { timeZone: zone }: FeedSources): string =>
  DateTime.fromJSDate(time, { zone }).toFormat("yyyy-MM-dd");

/** Returns whether a day has begun and its deadline has passed, or every source has delivered its files on the day. */
async function isComplete(day: string, file: FeedSources, { queue, now }: FetchSettings): Promise<boolean> {
  const deadline = DateTime.fromISO(`${day}T${file.deadline}`, { zone: file.timeZone });
  if (deadline.toMillis() <= now.getTime()) return true;
  if (day > dayOfTime(now, file)) return false;
  for (const { name, requiredFiles, pattern } of file.sources) {
    const delivered = Object.values(await readKnown(queue, name)).filter(
      (known) =>
        known.fault === null &&
        known.day === day &&
        (pattern.hasDay || dayOfTime(new Date(known.arrivedAt), file) === day),
    );
    if (delivered.length < requiredFiles) return false;
  }
  return true;
}

/** The settings of a fetch, its day in the time zone of the sources, and the last day that can take no file any more; empty if there is none. */
type Fetch = FetchSettings & { readonly today: string; readonly closed: string };

/** A connection, and the files that it lists, by path. */
interface Session {
  readonly connector: Connector;
  readonly files: ReadonlyMap<string, RemoteFile>;
}

class SourceFetch {
  private readonly result: FetchResult = { fetched: 0, unchanged: 0, unsettled: 0, quarantined: {}, bytes: 0 };
  private known: Record<string, KnownFile> = {};
  private recorded = 0;
  /** Ends the connection. */
  private connection = new AbortController();

  constructor(
    private readonly source: FeedSource,
    private readonly options: Fetch,
  ) {}

  /** Takes each file; after a fault, over a new connection, and the file again after the others. */
  async fetch(): Promise<FetchResult> {
    this.known = { ...(await readKnown(this.options.queue, this.source.name)) };
    try {
      let session = await this.connect();
      const paths = [...session.files.keys()];
      const attempts = new Map<string, number>();
      let faults = 0;
      for (const path of paths) {
        const file = session.files.get(path);
        if (file === undefined) continue;
        const attempt = (attempts.get(path) ?? 0) + 1;
        attempts.set(path, attempt);
        const fault = await this.attempt(session.connector, file, attempt === attemptsMax);
        faults = fault === undefined ? 0 : faults + 1;
        if (fault === undefined) continue;
        if (faults === faultsMax) throw new UserError(fault.message);
        if (attempt < attemptsMax) paths.push(path);
        await sleep(this.options.retryMs * 2 ** (faults - 1));
        session = await this.connect();
      }
      return this.result;
    } finally {
      this.connection.abort();
      await this.writeKnown();
    }
  }

  /** Connects and lists, after ending the connection before. Throws a UserError after several attempts. */
  private connect(): Promise<Session> {
    const { source, options } = this;
    const timed = <T>(work: () => Promise<T>): Promise<T> =>
      withStallTimeout(source.name, listingStalls * options.stallMs, work);
    const attempt = async (): Promise<Session> => {
      this.connection.abort();
      this.connection = new AbortController();
      const { signal } = this.connection;
      const connector = await timed(() => connectTo(source, options.stallMs, signal));
      const files = await timed(() => connector.list(source.pattern));
      return { connector, files: new Map(files.map((file) => [file.path, file])) };
    };
    return repeat(attempt, { retryMs: options.retryMs, attemptsMax });
  }

  private writeKnown = (): Promise<void> => writeKnown(this.options.queue, this.source.name, this.known);

  /** Takes a file. Refuses it if it is broken, or, at the last attempt, if it cannot be received; returns the fault of the connection then. */
  private async attempt(connector: Connector, file: RemoteFile, isLast: boolean): Promise<TransferFault | undefined> {
    const from = await incomingPath(this.options.queue, this.source.name, file.path);
    try {
      const outcome = await this.take(connector, file, from);
      if (outcome !== undefined) this.result[outcome] += 1;
      return undefined;
    } catch (thrown) {
      const fault = thrown instanceof TransferFault ? thrown : undefined;
      if (fault === undefined && !(thrown instanceof UserError)) throw thrown;
      // A file that cannot be received is requested again by the next fetch, one that is broken when it has changed.
      const tag = fault === undefined ? (file.tag ?? null) : null;
      if (fault === undefined || isLast) await this.refuse(file, from, messageOf(thrown), { tag, sha256: null });
      return fault;
    }
  }

  /** Returns the outcome; undefined if the file is in quarantine, and is new there or has not changed. */
  private async take(connector: Connector, file: RemoteFile, from: string): Promise<Outcome | undefined> {
    const { limits, now, today, closed } = this.options;
    const { path } = file;
    const match = matchPath(this.source.pattern, path);
    if (match === undefined) throw new UserError("no day in its name: expected %Y, %m and %d of a day.");
    const known = this.known[path];
    if (known !== undefined && file.tag !== undefined && file.tag === known.tag && this.isSettled(known))
      return this.keep(path, known);
    // A time far in the future is that of a wrong clock, and says nothing.
    if (file.modifiedMs !== undefined && Math.abs(now.getTime() - file.modifiedMs) < 1000 * this.source.settleSeconds)
      return "unsettled";
    requireUsableName(this.source, match.name);
    const content = await this.receive(connector, file, from);
    if (content === undefined) return known === undefined ? "unchanged" : this.keep(path, known);
    const { sha256, modifiedMs } = content;
    const day = match.day ?? (closed < today ? today : plusDays(closed, 1));
    const isNewer = modifiedMs !== null && modifiedMs > (known?.modifiedMs ?? 0);
    const arrived = { ...content, day, arrivedAt: now.toISOString(), fault: null };
    // A file that is delivered again counts for a later day, but not for tomorrow.
    if (known?.sha256 === sha256 && (known.day === day || !isNewer || day > today)) {
      await this.record(path, { ...arrived, day: known.day, ...(isNewer ? {} : { arrivedAt: known.arrivedAt }) });
      return "unchanged";
    }
    if (day <= closed)
      return this.refuse(file, from, `late: ${day} is complete: expected a file of a day after ${closed}.`, content);
    await checkContent(match.name, from, limits);
    this.result.bytes += await sizeOf(from);
    await this.queueMatch(match, day, from, sha256);
    await this.record(path, arrived);
    return "fetched";
  }

  /** Receives a file; returns undefined if its content is the known one. */
  private async receive(connector: Connector, file: RemoteFile, from: string): Promise<ReceivedFile | undefined> {
    const { limits, stallMs } = this.options;
    const { path, bytes } = file;
    const opened = await receive(connector, path, from, {
      knownTag: this.known[path]?.tag ?? undefined,
      bytes,
      stallMs,
      checkSize: (size) => {
        if (size > limits.fileBytes) throw new UserError(limitMessages.fileBytes(limits));
      },
    });
    if (opened === "unchanged") return undefined;
    if (opened === undefined) throw new TransferFault(`${connector.locationOf(path)}: not found: expected the file.`);
    return {
      sha256: await sha256Of(from),
      modifiedMs: file.modifiedMs ?? opened.modifiedMs ?? null,
      tag: file.tag ?? opened.tag ?? null,
    };
  }

  /** Returns whether a file that has not changed needs no look: a broken one has one a day, because limits can change; a late one stays late. */
  private isSettled = ({ fault, day, sha256 }: KnownFile): boolean =>
    fault === null || sha256 !== null || day === this.options.today;

  /** Leaves a file that has not changed where it is. */
  private keep(path: string, { fault, day }: KnownFile): Outcome | undefined {
    if (fault === null || day !== this.options.today) return "unchanged";
    this.result.quarantined[path] = fault;
    return undefined;
  }

  /** Queues a file in its day, after the mapping of its source. */
  private async queueMatch({ name, dealer }: FileMatch, day: string, from: string, sha256: string): Promise<void> {
    const { name: source, mapping, preset, dealers, dealer: fixed } = this.source;
    const { queue } = this.options;
    if (preset === "carquet") {
      const parts = [tableOfName(name).table, source, ...(dealer === undefined ? [] : [dealer]), name];
      return queueFile(queue, day, parts.join("-"), from, sha256);
    }
    const path = mapping ?? (preset === undefined ? undefined : presetPath(preset));
    if (path !== undefined) await queueText(queue, day, join(source, folderMapping), await readFile(path, "utf8"));
    if (dealers !== undefined)
      await queueText(queue, day, join(source, dealerListName), await readFile(dealers, "utf8"));
    await queueFile(queue, day, join(source, dealer ?? fixed ?? "", name), from, sha256);
  }

  private async refuse(
    file: RemoteFile,
    from: string,
    reason: string,
    content: Pick<KnownFile, "sha256" | "tag">,
  ): Promise<undefined> {
    const { path, modifiedMs = null } = file;
    const { queue, today: day, now } = this.options;
    await quarantine(join(queue, "quarantine", day, this.source.name, path), from, reason);
    this.result.quarantined[path] = reason;
    const { sha256, tag } = content;
    await this.record(path, { sha256, modifiedMs, tag, day, arrivedAt: now.toISOString(), fault: reason });
  }

  private async record(path: string, file: KnownFile): Promise<void> {
    this.known[path] = file;
    this.recorded += 1;
    if (this.recorded % recordsUntilWritten === 0) await this.writeKnown();
  }
}

type Outcome = "fetched" | "unchanged" | "unsettled";

interface ReceivedFile extends Pick<KnownFile, "modifiedMs" | "tag"> {
  readonly sha256: string;
}

/** Throws a UserError for a name by which ingest would not read a file. */
function requireUsableName({ preset }: FeedSource, name: string): void {
  if (fileOf(name) === undefined || name === folderMapping)
    throw new UserError(`unknown file format: expected a name that ends with ${feedEndings}.`);
  if (preset === "carquet" && tableOfName(name).isForeign)
    throw new UserError(
      "no table in its name: expected one that begins with inventory, dealers, options or deliveries.",
    );
}

/** Throws a UserError if an archive or a Parquet file is damaged, or larger inside than the limits. */
async function checkContent(name: string, path: string, limits: FeedLimits): Promise<void> {
  const kind = fileOf(name);
  if (kind === undefined) return;
  const file = { ...kind, name, path, table: "inventory" } as const;
  if (kind.format === "zip") await unpack(file, limits, async () => undefined);
  else if (kind.format === "parquet") await checkFeedFile(file, limits);
  else if (kind.isGzip) for await (const _ of contentOf(file, limits));
}
