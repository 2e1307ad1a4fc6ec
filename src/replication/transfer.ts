/**
 * Transfers of files: resumes what was interrupted, compares size and SHA-256 with the manifest, and retries after faults. A transfer fails after
 * several attempts in a row without progress.
 */
import { createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createFolder, isNotFound, sha256Of, syncToDisk } from "../base/files.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import { classifyFault } from "../db/engine-faults.ts";
import { type ListedFile, mismatchOf } from "../lake/listed-file.ts";
import { type LakeSource, MissingFile, type OpenedFile, TransferFault } from "./source.ts";

/** Attempts in a row without progress, after which a transfer fails, and what counts as progress: sources can send a byte now and then. */
const attemptsMax = 5;
const progressBytesMin = 1024;

export interface TransferOptions {
  /** How long a transfer may bring no kibibyte before it is repeated. */
  readonly stallMs: number;
  /** The wait after the first failure, by default a quarter of a second; it doubles with each further one. */
  readonly retryMs?: number;
}

/** Fetches a listed file to a path, from where an earlier transfer to it ended, and syncs it to disk. Throws a MissingFile or a UserError. */
export async function fetchFile(
  source: LakeSource,
  file: ListedFile,
  target: string,
  options: TransferOptions,
): Promise<void> {
  await createFolder(dirname(target));
  const transfer: Transfer = { file, target, tag: undefined };
  let mismatches = 0;
  const attempt = async (): Promise<void> => {
    await fetchRest(source, transfer, options);
    const mismatch = mismatchOf(file, { sha256: await sha256Of(target) });
    if (mismatch === undefined) return;
    await rm(target);
    mismatches += 1;
    const message = `${source.placeOf(file.path)}: ${mismatch}`;
    // A second whole transfer excludes that the first one continued another file.
    throw mismatches === 1 ? new TransferFault(message) : new UserError(message);
  };
  await repeat(attempt, options, () => sizeOf(target));
  await syncToDisk(target);
}

/** A small file and its tag at the source. */
export interface ReadText {
  readonly text: string;
  readonly tag: string | undefined;
}

/** Reads a file of at most `bytesMax` bytes as text; undefined if it does not exist. Throws a UserError. */
export async function readText(
  source: LakeSource,
  path: string,
  bytesMax: number,
  options: TransferOptions,
): Promise<ReadText | undefined> {
  const place = source.placeOf(path);
  const read = (): Promise<ReadText | undefined> =>
    withStallTimeout(place, options.stallMs, async (signal, onBytes) => {
      const opened = await source.open(path, { offset: 0 }, signal);
      if (opened === undefined) return undefined;
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of opened.content) {
        bytes += chunk.length;
        if (bytes > bytesMax) throw new UserError(`${place}: too large: expected at most ${bytesMax} bytes.`);
        onBytes(chunk.length);
        chunks.push(chunk);
      }
      if (opened.bytes !== undefined && opened.bytes !== bytes)
        throw new TransferFault(`${place}: invalid size: expected ${opened.bytes} bytes, found ${bytes}.`);
      return { text: Buffer.concat(chunks).toString("utf8"), tag: opened.tag };
    });
  return repeat(read, options);
}

/** A file on its way, and the tag that it had when its transfer began: undefined at first. */
interface Transfer {
  readonly file: ListedFile;
  readonly target: string;
  tag: string | undefined;
}

/** Appends the missing rest of a file to its target. */
async function fetchRest(source: LakeSource, transfer: Transfer, { stallMs }: TransferOptions): Promise<void> {
  const { file, target, tag } = transfer;
  const received = await sizeOf(target);
  if (received === file.bytes) return;
  const offset = received < file.bytes ? received : 0;
  const place = source.placeOf(file.path);
  return withStallTimeout(place, stallMs, async (signal, onBytes) => {
    const opened = await source.open(file.path, { offset, tag }, signal);
    if (opened === undefined)
      throw new MissingFile(`${place}: not found: expected the file, as the manifest lists it.`);
    const mismatch = mismatchOf(file, { bytes: opened.bytes });
    if (mismatch !== undefined) throw new TransferFault(`${place}: ${mismatch}`);
    transfer.tag = opened.tag;
    const flags = opened.offset === 0 ? "w" : "a";
    const content = limitedContent(opened, file, place, onBytes);
    const failure = await pipeline(content, createWriteStream(target, { flags }), { signal }).catch(
      (thrown: unknown) => thrown,
    );
    if (failure !== undefined && isExplained(failure)) throw failure;
    const size = await sizeOf(target);
    if (size < file.bytes) throw new TransferFault(`${place}: cut off: expected ${file.bytes} bytes, found ${size}.`);
  });
}

/** Passes content on; throws a TransferFault if it is longer than the file. */
async function* limitedContent(
  { content, offset }: OpenedFile,
  { bytes }: ListedFile,
  place: string,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let received = offset;
  for await (const chunk of content) {
    received += chunk.length;
    if (received > bytes) throw new TransferFault(`${place}: invalid size: expected ${bytes} bytes, found more.`);
    onBytes(chunk.length);
    yield chunk;
    // The time of a slow disk is not the source's.
    onBytes(chunk.length);
  }
}

/**
 * Calls `work` with a signal that is aborted when `stallMs` pass in which it has not reported `transferProgressBytes`: a source that sends a
 * byte now and then has stalled too.
 */
export async function withStallTimeout<T>(
  place: string,
  stallMs: number,
  work: (signal: AbortSignal, onBytes: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stalled = new TransferFault(`${place}: stalled: expected more data within ${stallMs / 1000} seconds.`);
  const timer = setTimeout(() => controller.abort(stalled), stallMs);
  // A `fetch` stream whose request has been garbage-collected can end silently and ignore the signal.
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(stalled), { once: true });
  });
  let received = 0;
  const onBytes = (bytes: number): void => {
    received += bytes;
    if (received < progressBytesMin) return;
    received = 0;
    timer.refresh();
  };
  try {
    return await Promise.race([work(controller.signal, onBytes), aborted]);
  } catch (thrown) {
    if (controller.signal.aborted) throw stalled;
    if (isExplained(thrown)) throw thrown;
    throw new TransferFault(`${place}: ${messageOf(thrown)}`);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/** Returns whether an error explains itself, unlike the failure of a connection. */
const isExplained = (thrown: unknown): boolean =>
  thrown instanceof UserError || thrown instanceof TransferFault || classifyFault(thrown) === "disk full";

/**
 * Repeats an attempt after each TransferFault, with growing waits. Throws its message as a UserError after some attempts in a row without
 * progress, which is a growing number.
 */
export async function repeat<T>(
  attempt: () => Promise<T>,
  { retryMs = 250 }: Pick<TransferOptions, "retryMs">,
  progress = async (): Promise<number> => 0,
): Promise<T> {
  for (let failures = 0; ; ) {
    const before = await progress();
    try {
      return await attempt();
    } catch (thrown) {
      if (!(thrown instanceof TransferFault)) throw thrown;
      failures = (await progress()) >= before + progressBytesMin ? 1 : failures + 1;
      if (failures === attemptsMax) throw new UserError(thrown.message);
      await sleep(retryMs * 2 ** (failures - 1) * (0.5 + Math.random()));
    }
  }
}

async function sizeOf(path: string): Promise<number> {
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
