/**
 * Runs `carquet export` in a separate process, at the lowest priority: searches keep the processors, and the export's memory cannot fail them.
 * Ending the process ends all work.
 */
import { type ChildProcess, fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { text } from "node:stream/consumers";
import { integerIn, isRow, type Json } from "../../base/json.ts";
import { programPath } from "../../base/project-files.ts";
import { refuse } from "../../contract/errors.ts";
import { decodedName, splitQuery } from "../../contract/query-string.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import type { TableFormat } from "../../formats/table-formats.ts";

export interface ExportTask {
  readonly lake: string;
  readonly version: string;
  readonly queryString: string;
  readonly format: TableFormat;
  readonly path: string;
  /** The memory limit of its query engine. */
  readonly memory: string;
}

export interface ExportSize {
  readonly rows: number;
  readonly bytes: number;
}

const lowestPriority = 19;

/** The `Retry-After` of an export that is refused because too many are written, or because their disk space is used up. */
export const exportRetrySeconds = 30;

/** How the writing of an export is observed. */
export interface WriteEvents {
  readonly signal: AbortSignal;
  /** Called with the rows that are written, or are being written. */
  readonly onRows: (rows: number) => void;
}

/** Writes an export. Rejects with the reason of the signal when it aborts, and with `data_unavailable` if the disk is full. */
export async function runExport(task: ExportTask, { signal, onRows }: WriteEvents): Promise<ExportSize> {
  signal.throwIfAborted();
  const child = fork(programPath, argumentsOf(task), { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
  if (child.pid !== undefined) yieldResources(child.pid);
  child.on("message", (rows) => {
    if (typeof rows === "number") onRows(rows);
  });
  const kill = (): boolean => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  try {
    const [code, output, errors] = await Promise.all([ended(child), textOf(child.stdout), textOf(child.stderr)]);
    signal.throwIfAborted();
    // Only the kernel ends it with a signal, because memory is short.
    if (code === null) throw refuse("overloaded", { retryAfter: exportRetrySeconds });
    if (code !== 0) throw failureOf(errors);
    const result: Json = JSON.parse(output);
    if (!isRow(result)) throw new TypeError(`Invalid output ${output}: expected a JSON object.`);
    return { rows: integerIn(result, "rows"), bytes: integerIn(result, "bytes") };
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

/** Sets the lowest priority for a process and its threads, and lets the kernel end it first when memory is short. A sandbox may forbid both. */
function yieldResources(pid: number): void {
  const ignore = (work: () => void): void => {
    try {
      work();
    } catch {}
  };
  ignore(() => setPriority(pid, lowestPriority));
  ignore(() => writeFileSync(`/proc/${pid}/oom_score_adj`, "1000"));
}

/** Returns the arguments of `carquet`. The format was negotiated, and replaces the one of the query string. */
function argumentsOf({ lake, version, queryString, format, path, memory }: ExportTask): readonly string[] {
  const parameters = splitQuery(queryString).filter(([name]) => decodedName(name) !== "format");
  const place = ["--lake", lake, "--lake-version", version, "--output", path, "--format", format];
  const search = parameters.map(([name, raw]) => `${name}=${raw}`);
  return ["export", ...place, "--memory", memory, "--threads", "1", "--json", "--", ...search];
}

const textOf = (stream: NodeJS.ReadableStream | null): Promise<string> =>
  stream === null ? Promise.resolve("") : text(stream);

/** Resolves with the exit code of a process; null if a signal ended it. */
const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });

function failureOf(errors: string): Error {
  const failure = new Error(`The export failed: ${errors.trim()}`);
  return classifyFault(failure) === "disk full" ? spoolFull() : failure;
}

/** Returns the refusal of an export that does not fit on the disk. */
export const spoolFull = (): Error =>
  refuse("data_unavailable", { reason: "No disk space is left for this export. Retry later, or add filters." });
