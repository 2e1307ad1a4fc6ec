/**
 * Fetches the new files of a source: each is received whole, checked, and placed in its day. After a fault the connection is opened again; a file that
 * cannot be received, and one that is broken, go to quarantine, and the others in.
 */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { plusDays } from "../base/day.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import { unpack } from "../ingest/documents/prepared-files.ts";
import { folderMapping } from "../ingest/feed/delivery.ts";
import { type FeedLimits, feedEndings, fileOf, limitMessages, tableOfName } from "../ingest/feed/feed-file.ts";
import { checkFeedFile, contentOf } from "../ingest/feed/file-checks.ts";
import { presetPath } from "../ingest/mapping/presets.ts";
import { TransferFault } from "../replication/source.ts";
import { withStallTimeout } from "../replication/transfer.ts";
import {
  incomingPath,
  type KnownFile,
  placeFile,
  placeText,
  quarantine,
  type Received,
  readKnown,
  writeKnown,
} from "./arrivals.ts";
import type { FeedServer, OpenedFeed, ServerFile } from "./feed-server.ts";
import { type FileMatch, matchPath } from "./file-pattern.ts";
import { connectTo } from "./servers/connect.ts";
import type { FeedSource } from "./sources-file.ts";

export interface FetchOptions {
  readonly queue: string;
  readonly limits: FeedLimits;
  /** How long a transfer may bring no kibibyte. */
  readonly stallMs: number;
  /** The wait after the first fault in a row; it doubles with each further one. */
  readonly retryMs: number;
  /** When the fetch began. */
  readonly now: Date;
  /** Its day, in the time zone of the sources. */
  readonly today: string;
  /** The last day that can take no file any more; empty if there is none. */
  readonly lastClosedDay: string;
}

/** What became of the files of a source. */
export interface FetchResult {
  fetched: number;
  unchanged: number;
  /** Files that are too young: they may still be written. */
  unsettled: number;
  /** Reasons by path: of files that were put in quarantine now, or before and have not changed. */
  readonly quarantined: Record<string, string>;
  bytes: number;
}

/** Attempts in a row, at a connection and at a file, and faults in a row after which a source is left. */
const [attemptsMax, faultsMax] = [3, 6];

/** What is known of files is written after this many, and at the end. */
const recordsUntilWritten = 50;

/** Connecting and listing may take this many times as long as a stall. */
const listingStalls = 10;

/** Fetches the new files of a source. Throws a UserError if it cannot be listed. */
export async function fetchSource(source: FeedSource, options: FetchOptions): Promise<FetchResult> {
  const result: FetchResult = { fetched: 0, unchanged: 0, unsettled: 0, quarantined: {}, bytes: 0 };
  const run = new SourceFetch(source, options, { ...(await readKnown(options.queue, source.name)) }, result);
  for (let [connecting, faults] = [0, 0]; ; ) {
    const { tried, done } = { tried: run.tried, done: run.done.size };
    try {
      await run.connectAndFetch();
      return result;
    } catch (thrown) {
      if (!(thrown instanceof TransferFault)) throw thrown;
      connecting = run.tried > tried ? 0 : connecting + 1;
      faults = run.done.size > done ? 1 : faults + 1;
      if (connecting === attemptsMax || faults === faultsMax) throw new UserError(thrown.message);
      await sleep(options.retryMs * 2 ** (faults - 1));
    }
  }
}

class SourceFetch {
  readonly done = new Set<string>();
  /** Attempts at files. */
  tried = 0;
  private readonly attempts = new Map<string, number>();
  private recorded = 0;

  constructor(
    private readonly source: FeedSource,
    private readonly options: FetchOptions,
    private readonly known: Record<string, KnownFile>,
    readonly result: FetchResult,
  ) {}

  /** Takes the files that are not done over one connection. Throws a TransferFault if a new connection is needed. */
  async connectAndFetch(): Promise<void> {
    const { name } = this.source;
    const { stallMs } = this.options;
    const session = new AbortController();
    const timed = <T>(work: () => Promise<T>): Promise<T> => withStallTimeout(name, listingStalls * stallMs, work);
    try {
      const server = await timed(() => connectTo(this.source, stallMs, session.signal));
      const files = (await timed(() => server.list())).filter(({ path }) => !this.done.has(path));
      const attemptsAt = ({ path }: ServerFile): number => this.attempts.get(path) ?? 0;
      for (const file of files.toSorted((one, other) => attemptsAt(one) - attemptsAt(other)))
        await this.attempt(server, file);
    } finally {
      session.abort();
      await this.writeKnown();
    }
  }

  private writeKnown = (): Promise<void> => writeKnown(this.options.queue, this.source.name, this.known);

  /** Takes a file; refuses it if it is broken, or after several attempts. */
  private async attempt(server: FeedServer, file: ServerFile): Promise<void> {
    const { pattern, name: source } = this.source;
    const whole = { name: file.path, day: undefined, dealer: undefined };
    const match = pattern === undefined ? whole : matchPath(pattern, file.path);
    const from = await incomingPath(this.options.queue, source, file.path);
    const attempts = (this.attempts.get(file.path) ?? 0) + 1;
    this.attempts.set(file.path, attempts);
    this.tried += 1;
    try {
      if (match === undefined) throw new UserError("no day in its name: expected %Y, %m and %d of a day.");
      const outcome = await this.take(server, file, { match, from });
      if (outcome !== undefined) this.result[outcome] += 1;
    } catch (thrown) {
      const isFault = thrown instanceof TransferFault;
      if (!isFault && !(thrown instanceof UserError)) throw thrown;
      if (isFault && attempts < attemptsMax) throw thrown;
      // A file that cannot be received is requested again by the next fetch, one that is broken when it has changed.
      await this.refuse(file, from, messageOf(thrown), { tag: isFault ? null : (file.tag ?? null), sha256: null });
      if (isFault) throw thrown;
    }
    this.done.add(file.path);
  }

  /** Returns the outcome; undefined if the file is in quarantine and has not changed. */
  private async take(
    server: FeedServer,
    file: ServerFile,
    { match, from }: FileOnItsWay,
  ): Promise<Outcome | undefined> {
    const { limits, stallMs, now, today, lastClosedDay: closed } = this.options;
    const { source } = this;
    const known = this.known[file.path];
    if (known !== undefined && file.tag !== undefined && file.tag === known.tag && this.isSettled(known))
      return this.keep(file, known);
    // A time far in the future is that of a wrong clock, and says nothing.
    if (file.modifiedMs !== undefined && Math.abs(now.getTime() - file.modifiedMs) < 1000 * source.settleSeconds)
      return "unsettled";
    requireUsableName(source, match.name);
    const received = await withStallTimeout(file.path, stallMs, async (signal, onBytes) => {
      const opened = await server.open(file, known?.tag ?? undefined, signal);
      return opened === undefined ? undefined : receive(opened, from, { limits, signal, onBytes });
    });
    if (received === undefined) return known === undefined ? "unchanged" : this.keep(file, known);
    const day = match.day ?? (closed < today ? today : plusDays(closed, 1));
    const isNewer = received.modifiedMs !== null && received.modifiedMs > (known?.modifiedMs ?? 0);
    const { bytes, ...content } = received;
    const arrived = { ...content, day, arrivedAt: now.toISOString(), fault: null };
    // A file that is delivered again counts for a later day, but not for tomorrow.
    if (known?.sha256 === received.sha256 && (known.day === day || !isNewer || day > today)) {
      await this.record(file.path, { ...arrived, day: known.day, ...(isNewer ? {} : { arrivedAt: known.arrivedAt }) });
      return "unchanged";
    }
    if (day <= closed)
      return this.refuse(file, from, `late: ${day} is complete: expected a file of a day after ${closed}.`, content);
    await checkContent(match.name, from, limits);
    await this.place(match, day, { from, sha256: received.sha256 });
    await this.record(file.path, arrived);
    this.result.bytes += bytes;
    return "fetched";
  }

  /** Returns whether a file that has not changed needs no look: a broken one has one a day, because limits can change; a late one stays late. */
  private isSettled = ({ fault, day, sha256 }: KnownFile): boolean =>
    fault === null || sha256 !== null || day === this.options.today;

  /** Leaves a file that has not changed where it is. */
  private keep({ path }: ServerFile, { fault, day }: KnownFile): Outcome | undefined {
    if (fault === null || day !== this.options.today) return "unchanged";
    this.result.quarantined[path] = fault;
    return undefined;
  }

  /** Places a file in its day, after the mapping of its source. */
  private async place({ name, dealer }: FileMatch, day: string, received: Received): Promise<void> {
    const { name: source, mapping, preset, dealer: fixed } = this.source;
    const { queue } = this.options;
    if (preset === "carquet") {
      const parts = [tableOfName(name).table, source, ...(dealer === undefined ? [] : [dealer]), name];
      return placeFile(queue, day, parts.join("-"), received);
    }
    const path = mapping ?? (preset === undefined ? undefined : presetPath(preset));
    if (path !== undefined) await placeText(queue, day, join(source, folderMapping), await readFile(path, "utf8"));
    await placeFile(queue, day, join(source, dealer ?? fixed ?? "", name), received);
  }

  private async refuse(
    file: ServerFile,
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
    this.done.add(path);
  }

  private async record(path: string, file: KnownFile): Promise<void> {
    this.known[path] = file;
    this.recorded += 1;
    if (this.recorded % recordsUntilWritten === 0) await this.writeKnown();
  }
}

type Outcome = "fetched" | "unchanged" | "unsettled";

interface FileOnItsWay {
  readonly match: FileMatch;
  /** Where it is received. */
  readonly from: string;
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

interface Receiving {
  readonly limits: FeedLimits;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
}

interface ReceivedFile extends Pick<KnownFile, "modifiedMs" | "tag"> {
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes a file that is read to a path. Throws a UserError if it is too large, and a TransferFault if it was cut off. */
async function receive(opened: OpenedFeed, to: string, { limits, signal, onBytes }: Receiving): Promise<ReceivedFile> {
  const { bytes: expected, modifiedMs = null, tag = null } = opened;
  const hash = createHash("sha256");
  let bytes = 0;
  const content = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of opened.content) {
      bytes += chunk.length;
      if (bytes > limits.fileBytes) throw new UserError(limitMessages.fileBytes(limits));
      hash.update(chunk);
      onBytes(chunk.length);
      yield chunk;
    }
  };
  if (expected !== undefined && expected > limits.fileBytes) throw new UserError(limitMessages.fileBytes(limits));
  await pipeline(content, createWriteStream(to), { signal });
  if (expected !== undefined && bytes !== expected)
    throw new TransferFault(`cut off: expected ${expected} bytes, found ${bytes}.`);
  return { bytes, sha256: hash.digest("hex"), modifiedMs, tag };
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
