/** Runs `carquet sql` in a separate process, as exports are written (see `export-process.ts`): what it may do is limited by that command. */
import { dirname } from "node:path";
import { isObject } from "../../base/json.ts";
import { runProgram } from "../../base/worker-threads.ts";
import { type Refusal, refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import type { BodyOf } from "../../contract/types.ts";
import type { FormatName } from "../../formats/table-formats.ts";
import { type ExportSize, exportRetrySeconds, processFailure, type WriteEvents } from "./export-process.ts";

export interface StatementTask extends BodyOf<"runSql"> {
  readonly lake: string;
  readonly version: string;
  readonly format: FormatName;
  /** Whether texts that a spreadsheet would take for formulas are unchanged in CSV. */
  readonly isRaw: boolean;
  readonly path: string;
  /** The memory limit of its query engine. */
  readonly memory: string;
  /** The most rows of the result. */
  readonly rowsMax: number;
}

/**
 * Writes the result of the last statement to a file, in NDJSON for JSON. Rejects with the reason of the signal when it aborts, with
 * `invalid_parameter_value`, and with `invalid_statement` if a statement is invalid or fails.
 */
export async function runStatement(task: StatementTask, { signal }: WriteEvents): Promise<ExportSize> {
  checkTask(task);
  let reason: string | undefined;
  let size: ExportSize | undefined;
  // Temporary files of the process lie beside its result, and are removed with it.
  const environment = { TMPDIR: dirname(task.path) };
  const { code, errors } = await runProgram(argumentsOf(task), { signal, environment }, (message) => {
    if (!isObject(message)) return;
    if (typeof message.invalid === "string") reason = message.invalid;
    if (typeof message.rows === "number" && typeof message.bytes === "number")
      size = { rows: message.rows, bytes: message.bytes };
  });
  if (reason !== undefined) throw refuse("invalid_statement", { reason });
  if (code === null) throw refuse("overloaded", { retryAfter: exportRetrySeconds });
  if (code !== 0 || size === undefined) throw processFailure(errors);
  return size;
}

/** Returns a parameter as the command takes it. Refuses a list or an object. */
function parameterOf([name, value]: readonly [name: string, value: unknown]): string {
  if (typeof value !== "object" || value === null) return `${name}=${JSON.stringify(value)}`;
  throw invalid(`params.${name}`, value, "a number, a text, true, false or null");
}

/** Refuses what the command cannot take: a statement with NUL, and names of parameters that differ in case alone. */
function checkTask({ sql, params = {} }: StatementTask): void {
  if (sql.includes("\0")) throw invalid("sql", sql, "text without the character U+0000");
  const names = Object.keys(params).map((name) => name.toLowerCase());
  const repeated = Object.entries(params).find((_, index) => names.indexOf(names[index] ?? "") < index);
  if (repeated === undefined) return;
  throw invalid(`params.${repeated[0]}`, repeated[1], "each name once, in upper or lower case");
}

const invalid = (parameter: string, value: unknown, allowed: string): Refusal =>
  refuse("invalid_parameter_value", { parameter, value: quoted(value), allowed, hint: "" });

function argumentsOf({
  lake,
  version,
  format,
  isRaw,
  path,
  memory,
  rowsMax,
  sql,
  params = {},
}: StatementTask): readonly string[] {
  const values = Object.entries(params).flatMap((entry) => ["--param", parameterOf(entry)]);
  const place = ["--lake", lake, "--lake-version", version, "--output", path];
  const form = ["--format", format === "json" ? "ndjson" : format, ...(isRaw ? [] : ["--escape-formulas"])];
  const limits = ["--memory", memory, "--threads", "1", "--max-rows", String(rowsMax)];
  return ["sql", ...place, ...form, ...limits, ...values, "--", sql];
}
