/**
 * The fetch of new files from one source. Each is received whole, checked, and queued in its day; one that is broken, or was cut off, goes to
 * quarantine. A source of which nothing can be received fails.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { plusDays } from "../base/day.ts";
import { sha256Of } from "../base/files.ts";
import { withTimeLimit } from "../base/time-limit.ts";
import { messageOf, printable, UserError } from "../base/user-error.ts";
import { type Connector, type RemoteFile, TransferFault } from "../connectors/connector.ts";
import { type FileMatch, isFileName, matchPath } from "../connectors/file-pattern.ts";
import { receive, repeat, sizeOf, withStallTimeout } from "../connectors/transfer.ts";
import { unpack } from "../ingest/documents/prepared-files.ts";
import { dealerListName } from "../ingest/feed/dealer-list.ts";
import { folderMapping } from "../ingest/feed/delivery.ts";
import { type FeedLimits, feedEndings, fileOf, limitMessages, tableOfName } from "../ingest/feed/feed-file.ts";
import { checkFeedFile, contentOf } from "../ingest/feed/file-checks.ts";
import { presetPath } from "../ingest/mapping/mapping.ts";
import {
  arrivingDays,
  incomingPath,
  type KnownFile,
  quarantine,
  queueFile,
  queueText,
  readKnown,
  reopenDay,
  writeKnown,
} from "./arrivals.ts";
import { connectTo } from "./connect.ts";
import type { FeedSource } from "./sources-file.ts";

/** Limits of time. A file has half of that of its source. */
export interface FetchTimes {
  readonly sourceMs: number;
  readonly fetchMs: number;
  /** How long after the deadline of a day a fetch may still receive files of it. */
  readonly graceMs: number;
}

export const minuteMs = 60_000;

export const fetchTimes: FetchTimes = { sourceMs: 30 * minuteMs, fetchMs: 60 * minuteMs, graceMs: 5 * minuteMs };

export interface FetchSettings {
  readonly queue: string;
  readonly limits: FeedLimits;
  /** How long a transfer may bring less than 64 KiB. */
  readonly stallMs: number;
  /** The wait after the first fault in a row; it doubles with each further one. */
  readonly retryMs: number;
  readonly times: FetchTimes;
  /** When the fetch began. */
  readonly now: Date;
  /** Called after each source. */
  readonly onSource: (report: SourceReport) => void;
}

/** What became of the files of a source. */
export interface FetchResult {
  fetched: number;
  unchanged: number;
  /** Files that are too young: they may still be written. */
  unsettled: number;
  /** Reasons by path: of files that were put in quarantine now, or before on the same day and are still broken. */
  readonly quarantined: Record<string, string>;
  /** Messages about columns that differ from those of the files before. */
  readonly changed: string[];
  bytes: number;
  /** Why the source could not be listed, or a file of it not be received. */
  error?: string;
}

export interface SourceReport extends Partial<FetchResult> {
  readonly source: string;
  /** Since when the source had failed, if it works again. */
  readonly failedSince?: string;
}

/** Attempts in a row at a connection and at a file, and faults in a row after which a source is left. */
const attemptsMax = 3;
const faultsMax = 6;

/** What is known of files is written after this many, and at the end. */
const recordsUntilWritten = 50;

/** Connecting and listing may take this many times as long as a stall. */
const listingStalls = 10;

/** For how many days what is known of a file is kept that the source lists no longer. */
const unlistedDays = 90;

/** The names of files or columns in a message. */
export const namesMax = 10;

/** The settings of a fetch, its day in the time zone of the sources, and the last day that can take no file any more; empty if there is none. */
export type FetchRun = FetchSettings & { readonly today: string; readonly closed: string };

/** A connection, and the files that it lists, by path. */
interface Session {
  readonly connector: Connector;
  readonly files: ReadonlyMap<string, RemoteFile>;
}

/** A fetch from one source. */
export class SourceFetch {
  readonly result: FetchResult = { fetched: 0, unchanged: 0, unsettled: 0, quarantined: {}, changed: [], bytes: 0 };
  private known: Record<string, KnownFile> = {};
  private recorded = 0;
  /** Ends the connection. */
  private connection = new AbortController();
  /** Ends the fetch. */
  private signal = new AbortController().signal;
  /** The file that is added to the queue: days are closed after it. */
  private queueing: Promise<void> = Promise.resolve();
  /** Whether the source is at fault if a file fails, and not its content. */
  private isReceiving = false;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly source: FeedSource,
    private readonly options: FetchRun,
  ) {}

  /** Takes each file; after a fault, over a new connection, and the file again after the others. Throws a UserError if the source is left. */
  async fetch(signal: AbortSignal): Promise<void> {
    this.signal = signal;
    signal.addEventListener("abort", () => this.connection.abort(), { once: true });
    this.known = { ...(await readKnown(this.options.queue, this.source.name)) };
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
    this.forgetUnlisted(session.files);
  }

  /** Forgets the files that the source lists no longer, unless their day is among the last ones: the next file may lack columns that they had. */
  private forgetUnlisted(files: Session["files"]): void {
    const { closed } = this.options;
    if (closed === "") return;
    const keptFrom = plusDays(closed, -unlistedDays);
    this.known = Object.fromEntries(
      Object.entries(this.known).filter(([path, { day }]) => files.has(path) || day >= keptFrom),
    );
  }

  /** Ends the connection of a fetch that has ended or is aborted, and writes what is known. */
  async end(): Promise<void> {
    this.connection.abort();
    await this.queueing.catch(() => undefined);
    await this.writeKnown();
  }

  /** The files in quarantine that came on the day of the fetch. */
  get faultsOfToday(): Readonly<Record<string, string>> {
    const faulty = Object.entries(this.known).filter(
      ([, { fault, day }]) => fault !== null && day === this.options.today,
    );
    return Object.fromEntries(faulty.map(([path, { fault }]) => [path, fault ?? ""]));
  }

  /** Returns how many files are too young, or lie in days that take files. */
  async waiting(): Promise<number> {
    const days = new Set(await arrivingDays(this.options.queue));
    return (
      this.result.unsettled +
      Object.values(this.known).filter(({ fault, day }) => fault === null && days.has(day)).length
    );
  }

  /** Connects and lists, after ending the connection before. Throws a UserError after several attempts. */
  private connect(): Promise<Session> {
    const { source, options } = this;
    const timed = <T>(work: () => Promise<T>): Promise<T> =>
      withStallTimeout(source.name, listingStalls * options.stallMs, work, this.signal);
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

  /** Writes what is known, after an earlier write: two at once would take each other's temporary file. */
  private writeKnown(): Promise<void> {
    this.writing = this.writing.then(() => writeKnown(this.options.queue, this.source.name, this.known));
    return this.writing;
  }

  /** Takes a file. Refuses it if it is broken, or, at the last attempt, if it cannot be received; returns the fault of the connection then. */
  private async attempt(connector: Connector, file: RemoteFile, isLast: boolean): Promise<TransferFault | undefined> {
    if (file.fault !== undefined)
      return this.refuse(file, undefined, file.fault, { tag: file.tag ?? null, sha256: null });
    const from = await incomingPath(this.options.queue, this.source.name, file.path);
    try {
      const outcome = await this.take(connector, file, from);
      if (outcome !== undefined) this.result[outcome] += 1;
      return undefined;
    } catch (thrown) {
      // What a fetch that is left was doing says nothing about the file, and the next fetch may have begun.
      this.signal.throwIfAborted();
      const fault = thrown instanceof TransferFault ? thrown : undefined;
      if (fault === undefined && !(thrown instanceof UserError)) throw thrown;
      // A file that cannot be received is requested again by the next fetch, one that is broken when it has changed.
      const tag = fault === undefined ? (file.tag ?? null) : null;
      if (fault !== undefined && !isLast) return fault;
      const reason = publicMessageOf(this.source, thrown);
      if (this.isReceiving && (await sizeOf(from)) === 0) this.result.error ??= reason;
      else await this.refuse(file, from, reason, { tag, sha256: null });
      return fault;
    } finally {
      this.isReceiving = false;
    }
  }

  /** Returns the outcome; undefined if the file is in quarantine, and is new there or has not changed. */
  private async take(connector: Connector, file: RemoteFile, from: string): Promise<Outcome | undefined> {
    const { limits, now, today, closed } = this.options;
    const { path } = file;
    const match = matchPath(this.source.pattern, path);
    if (match === undefined) throw new UserError("no day in its name: expected %Y, %m and %d of a day.");
    if (match.day !== undefined && match.day > plusDays(today, 1))
      throw new UserError(`named for a day in the future: expected one up to ${plusDays(today, 1)}.`);
    const known = this.known[path];
    if (known !== undefined && file.tag !== undefined && file.tag === known.tag && this.isSettled(known))
      return this.keep(path, known);
    // A time far in the future is that of a wrong clock, and says nothing.
    if (file.modifiedMs !== undefined && Math.abs(now.getTime() - file.modifiedMs) < 1000 * this.source.settleSeconds)
      return "unsettled";
    requireUsableName(this.source, match);
    const content = await this.receive(connector, file, from);
    if (content === undefined) return known === undefined ? "unchanged" : this.keep(path, known);
    this.signal.throwIfAborted();
    const { sha256, modifiedMs } = content;
    const day = match.day ?? (closed < today ? today : plusDays(closed, 1));
    const isNewer = modifiedMs !== null && modifiedMs > (known?.modifiedMs ?? 0);
    const arrived: KnownFile = { ...content, day, arrivedAt: now.toISOString(), fault: null };
    // A file that is delivered again counts for a later day, but not for tomorrow.
    if (known?.sha256 === sha256 && (known.day === day || !isNewer || day > today)) {
      await this.record(path, { ...known, ...content, ...(isNewer ? { arrivedAt: arrived.arrivedAt } : {}) });
      return "unchanged";
    }
    if (day <= closed && !(await reopenDay(this.options.queue, day)))
      return this.refuse(file, from, `late: ${day} is ingested: expected a file of a day after ${closed}.`, content);
    await checkContent(match.name, from, limits);
    const columns = await columnsOf(match.name, from, limits);
    this.noteColumns(path, columns);
    this.result.bytes += await sizeOf(from);
    this.signal.throwIfAborted();
    this.queueing = this.queueMatch(match, day, from, sha256);
    await this.queueing;
    await this.record(path, { ...arrived, ...(columns && { columns }) });
    return "fetched";
  }

  /** Receives a file; returns undefined if its content is the known one. */
  private async receive(connector: Connector, file: RemoteFile, from: string): Promise<ReceivedFile | undefined> {
    const { limits, stallMs } = this.options;
    const { path, bytes } = file;
    this.isReceiving = true;
    const ms = this.options.times.sourceMs / 2;
    const error = new TransferFault(
      `${connector.locationOf(path)}: expected the file within ${ms / minuteMs} minutes.`,
    );
    const opened = await withTimeLimit({ ms, error, signal: this.signal }, (signal) =>
      receive(connector, path, from, {
        knownTag: this.known[path]?.tag ?? undefined,
        bytes,
        stallMs,
        signal,
        checkSize: (size) => {
          if (size <= limits.fileBytes) return;
          this.isReceiving = false;
          throw new UserError(limitMessages.fileBytes(limits));
        },
      }),
    );
    if (opened === undefined) throw new TransferFault(`${connector.locationOf(path)}: not found: expected the file.`);
    this.isReceiving = false;
    if (opened === "unchanged") return undefined;
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
  private keep(path: string, { fault, day, sha256 }: KnownFile): Outcome | undefined {
    // A late file is reported once: it does not become right.
    if (fault === null || sha256 !== null || day !== this.options.today) return "unchanged";
    this.result.quarantined[path] = fault;
    return undefined;
  }

  /** Notes which columns a file lacks that the last one with its name had, but for numbers such as a day, in the same folder. */
  private noteColumns(path: string, columns: readonly string[] | undefined): void {
    const shapeOf = (text: string): string => text.replace(/[^/]*$/, (name) => name.replaceAll(/\d+/g, "#"));
    const others = Object.entries(this.known).filter(
      ([other, { fault }]) => fault === null && shapeOf(other) === shapeOf(path),
    );
    const [last] = others.map(([, file]) => file).sort((a, b) => b.arrivedAt.localeCompare(a.arrivedAt));
    const before = this.known[path]?.columns ?? last?.columns;
    const gone = columns && before?.filter((column) => !columns.includes(column));
    if (gone === undefined || gone.length === 0) return;
    const names = gone.slice(0, namesMax).map((name) => `"${printable(name, 40)}"`);
    this.result.changed.push(`${path}: columns gone: ${names.join(", ")}: expected those of the file before.`);
  }

  /** Queues a file in its day, after the mapping of its source. */
  private async queueMatch({ name, dealer }: FileMatch, day: string, from: string, sha256: string): Promise<void> {
    const { name: source, mapping, preset, dealers, dealer: fixed } = this.source;
    const { queue } = this.options;
    if (preset === "carquet") {
      return queueFile(queue, day, tableFileName(source, { name, dealer }), from, sha256);
    }
    const path = mapping ?? (preset === undefined ? undefined : presetPath(preset));
    if (path !== undefined) await queueText(queue, day, join(source, folderMapping), await readFile(path, "utf8"));
    if (dealers !== undefined)
      await queueText(queue, day, join(source, dealerListName), await readFile(dealers, "utf8"));
    await queueFile(queue, day, join(source, dealer ?? fixed ?? "", name), from, sha256);
  }

  private async refuse(
    file: RemoteFile,
    from: string | undefined,
    reason: string,
    content: Pick<KnownFile, "sha256" | "tag">,
  ): Promise<undefined> {
    const { path, modifiedMs = null } = file;
    const { queue, today: day, now } = this.options;
    if (from !== undefined) await quarantine(join(queue, "quarantine", day, this.source.name, path), from, reason);
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

/** Returns the message of an error without the values of the variables that the source names: a server can repeat these secrets. */
export function publicMessageOf({ https, sftp, ftp, s3 }: FeedSource, thrown: unknown): string {
  const settings = Object.entries({ ...https, ...sftp, ...ftp, ...s3 });
  return settings
    .flatMap(([key, name]) => (key.endsWith("Variable") ? process.env[String(name)] || [] : []))
    .reduce((text, secret) => text.replaceAll(secret, "[secret]"), messageOf(thrown));
}

/** Returns the names of the columns of a text file; undefined if its first line is none of names. */
async function columnsOf(name: string, path: string, limits: FeedLimits): Promise<readonly string[] | undefined> {
  const kind = fileOf(name);
  if (kind?.format !== "csv") return undefined;
  const content = contentOf({ ...kind, name, path, table: "inventory" }, limits);
  const { value } = await content.next().finally(() => content.return(undefined));
  const [line = ""] = String(value ?? "")
    .slice(0, 65_536)
    .split(/\r?\n/, 1);
  const columns = line
    .replace(/^\uFEFF/, "")
    .split(/[,;|\t]/)
    .map((text) => text.replaceAll('"', "").trim().toLowerCase());
  return columns.some((text) => text === "" || /^[\d.$]+$/.test(text)) ? undefined : columns;
}

/** Throws a UserError for a name by which ingest would not read a file. */
function requireUsableName({ preset, name: source }: FeedSource, { name, dealer }: FileMatch): void {
  if (fileOf(name) === undefined || name === folderMapping)
    throw new UserError(`unknown file format: expected a name that ends with ${feedEndings}.`);
  if (preset === "carquet" && tableOfName(name).isForeign)
    throw new UserError(
      "no table in its name: expected one that begins with inventory, dealers, options or deliveries.",
    );
  if (preset === "carquet" && !isFileName(tableFileName(source, { name, dealer })))
    throw new UserError("name too long: expected at most 200 bytes with the names of its table, source and folder.");
}

/** Returns the name in the queue of a file in Carquet's format. Names of sources have no dot, so that two files have two names. */
function tableFileName(source: string, { name, dealer }: Pick<FileMatch, "name" | "dealer">): string {
  const dealerPart = dealer === undefined ? "" : `${encodeURIComponent(dealer).replaceAll(".", "%2E")}.`;
  return `${tableOfName(name).table}-${source}.${dealerPart}${name}`;
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
