/** Transfers from connectors: a stalled one fails, and is repeated after a fault, up to several attempts in a row without progress. */
import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isNotFound } from "../base/files.ts";
import { orAborted, withTimeLimit } from "../base/time-limit.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import { classifyFault } from "../db/engine-faults.ts";
import { type Connector, type OpenedFile, type ReadFrom, TransferFault } from "./connector.ts";

/** What counts as progress of attempts: sources can send a byte now and then. */
const progressBytesMin = 1024;

/** What a transfer brings at least while it could stall: one that drips would take as long as it likes. */
const stallBytesMin = 65_536;

export interface TransferOptions {
  /** How long a transfer may bring less than 64 KiB before it is repeated. */
  readonly stallMs: number;
  /** The wait after the first failure, by default a quarter of a second; it doubles with each further one. */
  readonly retryMs?: number;
  /** Attempts in a row without progress, after which a transfer fails. Default: 5. */
  readonly attemptsMax?: number;
}

export interface ReceiveOptions extends ReadFrom {
  readonly stallMs: number;
  /** Ends the transfer. */
  readonly signal?: AbortSignal;
  /** The size of the file if the source does not state it when it opens the file. */
  readonly bytes?: number | undefined;
  /** Called before content is received. */
  readonly onOpen?: (opened: OpenedFile) => void;
  /** Throws if a file must not have this many bytes. */
  readonly checkSize: (bytes: number) => void;
}

/** A small file and its tag at the source. */
export interface ReadText {
  readonly text: string;
  readonly tag: string | undefined;
}

/** Reads a file of at most `bytesMax` bytes as text; undefined if it does not exist. Throws a UserError. */
export async function readText(
  source: Connector,
  path: string,
  bytesMax: number,
  options: TransferOptions,
): Promise<ReadText | undefined> {
  const location = source.locationOf(path);
  const checkSize = (bytes: number): void => {
    if (bytes > bytesMax) throw new UserError(`${location}: too large: expected at most ${bytesMax} bytes.`);
  };
  const read = (): Promise<ReadText | undefined> =>
    withStallTimeout(location, options.stallMs, async (signal, onBytes) => {
      const opened = await source.read(path, { isFresh: true }, signal);
      if (opened === undefined || opened === "unchanged") return undefined;
      const chunks: Uint8Array[] = [];
      for await (const chunk of checkedContent(opened, checkSize, onBytes)) chunks.push(chunk);
      const content = Buffer.concat(chunks);
      requireWhole(location, opened.bytes, content.length);
      return { text: content.toString("utf8"), tag: opened.tag };
    });
  return repeat(read, options);
}

/**
 * Appends the content of a file, from an offset, to a local one; replaces that if the source sends the file from its start. Returns what was
 * opened; undefined if the file does not exist, "unchanged" if its tag is the known one. Throws a TransferFault if it was cut off.
 */
export function receive(
  source: Connector,
  path: string,
  target: string,
  options: ReceiveOptions,
): Promise<OpenedFile | "unchanged" | undefined> {
  const location = source.locationOf(path);
  const transfer = async (signal: AbortSignal, onBytes: (bytes: number) => void) => {
    if (options.bytes !== undefined) options.checkSize(options.bytes);
    const opened = await source.read(path, options, signal);
    if (opened === undefined || opened === "unchanged") return opened;
    options.onOpen?.(opened);
    const { bytes = options.bytes } = opened;
    if (bytes !== undefined) options.checkSize(bytes);
    const output = createWriteStream(target, { flags: opened.offset === 0 ? "w" : "a" });
    const content = checkedContent(opened, options.checkSize, onBytes);
    const failure = await pipeline(content, output, { signal }).catch((thrown: unknown) => {
      // A connection can fail after the last byte.
      if (isExplained(thrown) || bytes === undefined) throw thrown;
      return thrown;
    });
    requireWhole(location, bytes, await sizeOf(target), failure);
    return opened;
  };
  return withStallTimeout(location, options.stallMs, transfer, options.signal);
}

function requireWhole(location: string, expected: number | undefined, found: number, failure?: unknown): void {
  if (expected === undefined || found === expected) return;
  const reason = failure === undefined ? "" : ` (${messageOf(failure)})`;
  throw new TransferFault(`${location}: cut off: expected ${expected} bytes, found ${found}${reason}.`);
}

async function* checkedContent(
  { content, offset }: OpenedFile,
  checkSize: (bytes: number) => void,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let received = offset;
  for await (const chunk of content) {
    received += chunk.length;
    checkSize(received);
    yield chunk;
    // After it is written: the time of a slow disk is not the source's.
    onBytes(chunk.length);
  }
}

/**
 * Calls `work` with a signal that is aborted when `stallMs` pass in which it has not reported `stallBytesMin`, or by another signal, whose reason is
 * thrown then.
 */
export function withStallTimeout<T>(
  location: string,
  stallMs: number,
  work: (signal: AbortSignal, onBytes: (bytes: number) => void) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const error = new TransferFault(`${location}: stalled: expected more data within ${stallMs / 1000} seconds.`);
  return withTimeLimit({ ms: stallMs, error, signal }, async (limited, restart) => {
    let received = 0;
    const onBytes = (bytes: number): void => {
      received += bytes;
      if (received < stallBytesMin) return;
      received = 0;
      restart();
    };
    try {
      // A `fetch` stream whose request has been garbage-collected can end silently and ignore the signal.
      return await orAborted(limited, work(limited, onBytes));
    } catch (thrown) {
      throw isExplained(thrown) ? thrown : new TransferFault(`${location}: ${messageOf(thrown)}`);
    }
  });
}

/** Returns whether an error explains itself, unlike the failure of a connection. */
const isExplained = (thrown: unknown): boolean =>
  thrown instanceof UserError || thrown instanceof TransferFault || classifyFault(thrown) === "disk full";

/**
 * Repeats an attempt after each TransferFault, with growing waits. Throws its message as a UserError after some attempts in a row without
 * progress beyond the most before: what begins again and again has an end.
 */
export async function repeat<T>(
  attempt: () => Promise<T>,
  { retryMs = 250, attemptsMax = 5 }: Omit<TransferOptions, "stallMs">,
  progress = async (): Promise<number> => 0,
): Promise<T> {
  let most = await progress();
  for (let failures = 0; ; ) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!(thrown instanceof TransferFault)) throw thrown;
      const reached = await progress();
      failures = reached >= most + progressBytesMin ? 1 : failures + 1;
      most = Math.max(most, reached);
      if (failures === attemptsMax) throw new UserError(thrown.message);
      await sleep(retryMs * 2 ** (failures - 1) * (0.5 + Math.random()));
    }
  }
}

/** Returns the size of a file; 0 if it does not exist. */
export async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (thrown) {
    if (isNotFound(thrown)) return 0;
    throw thrown;
  }
}

/** Calls `work` for each item, for several at once. Begins no further one after a failure, and throws the first when all have ended. */
export async function forEachOf<T>(
  items: readonly T[],
  concurrent: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const failures: unknown[] = [];
  const runWorks = async (): Promise<void> => {
    for (const item of rest) {
      if (failures.length > 0) return;
      await work(item).catch((thrown: unknown) => failures.push(thrown));
    }
  };
  await Promise.all(Array.from({ length: concurrent }, runWorks));
  if (failures.length > 0) throw failures[0];
}
