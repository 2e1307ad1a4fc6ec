/**
 * Runs `carquet export` and `carquet sql` in a separate process, at the lowest priority: searches keep the processors, and the memory of a writer
 * cannot fail them. Ending the process ends all work. What statements may do is limited by the command.
 */
import { dirname } from "node:path";
import { isObject } from "../../base/json.ts";
import { runProgram } from "../../base/programs.ts";
import { type Refusal, refuse } from "../../contract/errors.ts";
import { decodedName, quoted, splitQuery } from "../../contract/query-string.ts";
import type { BodyOf } from "../../contract/types.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import type { FormatName, TableFormat } from "../../formats/table-formats.ts";
import { filesNamedIn } from "../../lake/analyst/analyst-views.ts";
import type { LakeFile } from "../../lake/manifest.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import { damagedData } from "../../serving/files/verified-files.ts";

/** Where a process writes a file, and what it reads. */
interface WriterTask {
  readonly lake: string;
  readonly version: string;
  readonly path: string;
  /** The memory limit of its query engine. */
  readonly memory: string;
}

export interface ExportTask extends WriterTask {
  readonly queryString: string;
  /** It was negotiated, and replaces the one of the query string. */
  readonly format: TableFormat;
}

export interface StatementTask extends WriterTask, BodyOf<"runSql"> {
  /** The numbers in `params` as their sender wrote them, by name; without it, they are doubles. */
  readonly numbers?: ReadonlyMap<string, string>;
  readonly format: FormatName;
  /** Whether texts that a spreadsheet would take for formulas are unchanged in CSV. */
  readonly isRaw: boolean;
  /** The most rows of the result. */
  readonly rowsMax: number;
  /** The files that the statements can read. */
  readonly files: readonly LakeFile[];
}

/** Returns the version in service, and its files that statements can read. */
export const versionFor = (current: CurrentVersion, statements: string) =>
  current.use(async ({ meta, manifest }) => ({ ...meta, files: filesNamedIn(statements, manifest) }));

export interface FileSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Writes an export. */
export function runExport({ queryString, format, ...task }: ExportTask, signal: AbortSignal): Promise<FileSize> {
  const parameters = splitQuery(queryString).filter(([name]) => decodedName(name) !== "format");
  const search = parameters.map(([name, raw]) => `${name}=${raw}`);
  return runWriter("export", task, ["--format", format, "--", ...search], signal);
}

/** The processor time of statements, without the start of their process. */
export interface StatementUse {
  readonly ms: number;
  /** Whether a statement has been planned and run. */
  readonly hasRun: boolean;
}

/**
 * Writes the result of the last statement to a file, in NDJSON for JSON. Calls `onUse` with the processor time until then. Rejects with
 * `invalid_parameter_value`, with `invalid_statement` if a statement is invalid or fails, and with `data_unavailable` if one of the files is damaged or
 * changes meanwhile.
 */
export function runStatement(
  { files, ...task }: StatementTask,
  current: CurrentVersion,
  signal: AbortSignal,
  onUse?: (use: StatementUse) => void,
): Promise<FileSize> {
  return current.use((version) => version.reading(files, () => writeStatement(task, signal, onUse)));
}

async function writeStatement(
  { sql, params = {}, numbers, format, isRaw, rowsMax, ...task }: Omit<StatementTask, "files">,
  signal: AbortSignal,
  onUse?: (use: StatementUse) => void,
): Promise<FileSize> {
  if (sql.includes("\0")) throw invalid("sql", sql, "text without the character U+0000");
  const names = new Set<string>();
  const values: string[] = [];
  for (const [name, value] of Object.entries(params)) {
    if (typeof value === "object" && value !== null)
      throw invalid(`params.${name}`, value, "a number, a text, true, false or null");
    if (names.has(name.toLowerCase())) throw invalid(`params.${name}`, value, "each name once, in upper or lower case");
    names.add(name.toLowerCase());
    values.push("--param", `${name}=${numbers?.get(name) ?? JSON.stringify(value)}`);
  }
  const form = ["--format", format === "json" ? "ndjson" : format, ...(isRaw ? [] : ["--escape-formulas"])];
  return runWriter("sql", task, [...form, "--max-rows", String(rowsMax), ...values, "--", sql], signal, onUse);
}

const invalid = (parameter: string, value: unknown, allowed: string): Refusal =>
  refuse("invalid_parameter_value", { parameter, value: quoted(value), allowed, hint: "" });

/**
 * Runs a command that writes a file. Rejects with the reason of the signal when it aborts, with `data_unavailable` if the disk is full or a file
 * is damaged, and with `overloaded` if the kernel ends the process because memory is short.
 */
async function runWriter(
  command: "export" | "sql",
  { lake, version, path, memory }: WriterTask,
  args: readonly string[],
  signal: AbortSignal,
  onUse?: (use: StatementUse) => void,
): Promise<FileSize> {
  let size: FileSize | undefined;
  let failure: Error | undefined;
  const common = ["--lake", lake, "--data-version", version, "--output", path, "--memory", memory, "--threads", "1"];
  // Temporary files of the process lie beside its file, and are removed with it.
  const environment = { TMPDIR: dirname(path) };
  const { code, errors } = await runProgram([command, ...common, ...args], { signal, environment }, (message) => {
    if (!isObject(message)) return;
    if (typeof message.usedMs === "number") onUse?.({ ms: message.usedMs, hasRun: message.hasRun === true });
    if (message.isDamaged === true) failure = damagedData();
    if (typeof message.invalid === "string") failure = refuse("invalid_statement", { reason: message.invalid });
    if (typeof message.rows === "number" && typeof message.bytes === "number")
      size = { rows: message.rows, bytes: message.bytes };
  });
  if (failure !== undefined) throw failure;
  if (code === null) throw tooManyExports();
  if (code === 0 && size !== undefined) return size;
  const failed = new Error(`The process failed: ${errors.trim()}`);
  throw classifyFault(failed) === "disk full" ? spoolFull() : failed;
}

/** Returns the refusal of an export beyond what the service writes at once. */
export const tooManyExports = (): Error => refuse("overloaded", { retryAfter: 30 });

/** Returns the refusal of an export that does not fit on the disk. */
export const spoolFull = (): Error =>
  refuse("data_unavailable", { reason: "No disk space is left for this export. Retry later, or add filters." });
