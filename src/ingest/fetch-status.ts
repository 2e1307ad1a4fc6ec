/** What the last fetch left in a queue: how each source does, and what its days wait for. Commands, the service and its pages read it. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createFolder, isNotFound, replaceFile } from "../base/files.ts";
import { isObject } from "../base/json.ts";
import { messageOf } from "../base/user-error.ts";

export interface SourceStatus {
  /** When a fetch found nothing wrong last; null if none has. */
  readonly succeededAt: string | null;
  /** Since when it fails; null if it works. */
  readonly failedSince: string | null;
  readonly error: string | null;
  /** Files that are too young, or lie in days that are not complete. */
  readonly waiting: number;
  /** Reasons by path: of files that came on the day of the fetch, and are broken or late. */
  readonly quarantined: Readonly<Record<string, string>>;
  /** Messages about columns that differ from those of the files before. */
  readonly changed: readonly string[];
}

/** A day that waits, or the last complete one, and what it lacks, by source. */
export interface DayStatus {
  readonly day: string;
  readonly deadline: string;
  readonly missing: Readonly<Record<string, string>>;
}

export interface FetchStatus {
  readonly at: string;
  /** Why the fetch failed as a whole. */
  readonly error: string | null;
  readonly warnings: readonly string[];
  readonly sources: Readonly<Record<string, SourceStatus>>;
  readonly waiting: readonly DayStatus[];
  readonly completed: DayStatus | null;
}

const pathIn = (queue: string): string => join(queue, "last-fetch.json");

/** Returns the status of a queue; undefined if no fetch has left one. */
export async function readFetchStatus(queue: string): Promise<FetchStatus | undefined> {
  try {
    const status: unknown = JSON.parse(await readFile(pathIn(queue), "utf8"));
    return isStatus(status) ? status : undefined;
  } catch (thrown) {
    if (isNotFound(thrown) || thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

const isStatus = (value: unknown): value is FetchStatus =>
  isObject(value) && typeof value.at === "string" && isObject(value.sources) && Array.isArray(value.waiting);

export async function writeFetchStatus(queue: string, status: FetchStatus): Promise<void> {
  await createFolder(queue);
  await replaceFile(pathIn(queue), JSON.stringify(status, null, 1));
}

/** Records that a fetch failed as a whole, beside what is known from the one before. */
export async function recordFailedFetch(queue: string, error: string, now: Date): Promise<void> {
  const before = (await readFetchStatus(queue)) ?? { warnings: [], sources: {}, waiting: [], completed: null };
  await writeFetchStatus(queue, { ...before, at: now.toISOString(), error });
}

/** Calls `work`, and records its failure, unless the queue does not exist: a mistyped one is not created. */
export async function recordingFailure<T>(queue: string, now: Date, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    // The reason is reported also if the record cannot be written.
    if (existsSync(queue)) await recordFailedFetch(queue, messageOf(thrown), now).catch(() => undefined);
    throw thrown;
  }
}

/** Returns why a service of this queue is degraded, in a form that everyone may read. */
export function fetchFaults({ error, sources, completed }: FetchStatus): readonly string[] {
  const named = (reason: string, isMeant: (source: SourceStatus) => boolean): readonly string[] =>
    Object.entries(sources).flatMap(([name, source]) => (isMeant(source) ? [`source ${name} ${reason}`] : []));
  const missing = Object.keys(completed?.missing ?? {});
  return [
    ...(error === null ? [] : ["the last fetch failed"]),
    ...named("fails", (source) => source.failedSince !== null),
    ...named("has files in quarantine", ({ quarantined }) => Object.keys(quarantined).length > 0),
    ...named("has other columns than before", ({ changed }) => changed.length > 0),
    ...(missing.length === 0 ? [] : [`${completed?.day} was completed without all files of ${missing.join(", ")}`]),
  ];
}
