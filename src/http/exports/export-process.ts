/**
 * Runs `carquet export` in a separate process, at the lowest priority: searches keep the processors, and the export's memory cannot fail them.
 * Ending the process ends all work.
 */
import { integerIn, isRow, type Json } from "../../base/json.ts";
import { runProgram } from "../../base/worker-threads.ts";
import { refuse } from "../../contract/errors.ts";
import { decodedName, splitQuery } from "../../contract/query-string.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { damagedMessage } from "../../export/limits.ts";
import type { TableFormat } from "../../formats/table-formats.ts";
import { damagedData } from "../../serving/files/version-files.ts";

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

/** The `Retry-After` of an export that is refused because too many are written, or because their disk space is used up. */
export const exportRetrySeconds = 30;

/** How the writing of an export is observed. */
export interface WriteEvents {
  readonly signal: AbortSignal;
  /** Called with the rows that are written, or are being written. */
  readonly onRows: (rows: number) => void;
}

/** Writes an export. Rejects with the reason of the signal when it aborts, and with `data_unavailable` if the disk is full or a file is damaged. */
export async function runExport(task: ExportTask, { signal, onRows }: WriteEvents): Promise<ExportSize> {
  let isDamaged = false;
  const { code, output, errors } = await runProgram(argumentsOf(task), { signal }, (message) => {
    if (typeof message === "number") onRows(message);
    if (message === damagedMessage) isDamaged = true;
  });
  // Only the kernel ends it with a signal, because memory is short.
  if (code === null) throw refuse("overloaded", { retryAfter: exportRetrySeconds });
  if (code !== 0) throw isDamaged ? damagedData() : processFailure(errors);
  const result: Json = JSON.parse(output);
  if (!isRow(result)) throw new TypeError(`Invalid output ${output}: expected a JSON object.`);
  return { rows: integerIn(result, "rows"), bytes: integerIn(result, "bytes") };
}

/** Returns the arguments of `carquet`. The format was negotiated, and replaces the one of the query string. */
function argumentsOf({ lake, version, queryString, format, path, memory }: ExportTask): readonly string[] {
  const parameters = splitQuery(queryString).filter(([name]) => decodedName(name) !== "format");
  const place = ["--lake", lake, "--lake-version", version, "--output", path, "--format", format];
  const search = parameters.map(([name, raw]) => `${name}=${raw}`);
  return ["export", ...place, "--memory", memory, "--threads", "1", "--json", "--", ...search];
}

/** Returns the failure of a process from what it wrote to its standard error. */
export function processFailure(errors: string): Error {
  const failure = new Error(`The process failed: ${errors.trim()}`);
  return classifyFault(failure) === "disk full" ? spoolFull() : failure;
}

/** Returns the refusal of an export that does not fit on the disk. */
export const spoolFull = (): Error =>
  refuse("data_unavailable", { reason: "No disk space is left for this export. Retry later, or add filters." });
