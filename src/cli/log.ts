/**
 * The service's log on standard error, through the bounded buffer of sonic-boom. It never blocks and never throws: while standard error does not
 * accept lines (a full disk, a pipe whose reader is stopped or gone), lines beyond the buffer are dropped and counted.
 */
import { constants, fstatSync, openSync } from "node:fs";
import pino from "pino";
import { exitOnOutputError } from "../base/exits.ts";
import { isObject } from "../base/json.ts";
import { orAborted, withTimeLimit } from "../base/time-limit.ts";
import { printable, UsageError } from "../base/user-error.ts";

/** How long a stopping service waits for the last write. */
const lastWriteMs = 1000;

const standardError = 2;

export interface ServiceLog {
  readonly destination: pino.DestinationStream;
  readonly droppedLines: () => number;
  /** Writes the buffer; later lines are lost. Rejects if that takes longer than `lastWriteMs`; such a write keeps the process running. */
  readonly close: () => Promise<void>;
}

/** Opens the log. Calls `onRecovery` with the number of dropped lines once standard error has accepted what was kept. */
export function openLog(onRecovery: (lines: number) => void): ServiceLog {
  process.stderr.off("error", exitOnOutputError).on("error", () => undefined);
  const output = pino.destination({
    dest: openStandardError(),
    sync: false,
    // Writing each line alone costs as much as a look-up.
    minLength: 4096,
    periodicFlush: 100,
    maxLength: 2 ** 20,
    // Written again at the next flush, as after other errors: a timer would keep the process running.
    retryEAGAIN: () => false,
  });
  let dropped = 0;
  let reported = 0;
  let isFailing = false;
  output.on("drop", () => {
    dropped += 1;
  });
  // Instead of the handler of pino, which discards all lines after a broken pipe without counting them.
  output.removeAllListeners("error").on("error", () => {
    isFailing = true;
  });
  output.on("write", () => {
    isFailing = false;
  });
  output.on("drain", () => {
    const lines = dropped - reported;
    reported = dropped;
    if (lines > 0) onRecovery(lines);
  });
  const flushSync = output.flushSync.bind(output);
  /** Called by pino at exit and after a fatal error. Without the condition, it would wait for a full disk. */
  output.flushSync = () => {
    try {
      if (!isFailing) flushSync();
    } catch {
      // No output remains to report the error.
    }
  };
  return {
    destination: output,
    droppedLines: () => dropped,
    close: async () => {
      const closed = new Promise((resolve) => output.once("close", resolve));
      output.end();
      output.write = () => true;
      const limit = { ms: lastWriteMs, error: new Error("Standard error does not accept the last lines.") };
      await withTimeLimit(limit, (signal) => orAborted(signal, closed));
    },
  };
}

/**
 * Returns a file descriptor of standard error whose writes do not block: a blocked write would keep the process from exiting. A pipe is opened
 * again, because the flags of the inherited one are shared with other processes, which can change them. A socket, or a pipe of another user,
 * cannot be opened again; it does not block since `process.stderr` has been used, unless another process changes its flags.
 */
function openStandardError(): number {
  try {
    if (fstatSync(standardError).isFIFO())
      return openSync(`/proc/self/fd/${standardError}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // The system does not allow it.
  }
  return standardError;
}

const levels = [...Object.values(pino.levels.labels), "silent"];

/** The level from which lines are logged, and their form: for people where standard error is a terminal. Throw a UsageError for an unknown one. */
export const logLevel = (): string => variable("CARQUET_LOG_LEVEL", "info", levels);
export const logFormat = (): string =>
  variable("CARQUET_LOG_FORMAT", process.stderr.isTTY ? "lines" : "json", ["lines", "json"]);

function variable(name: string, fallback: string, expected: readonly string[]): string {
  const value = process.env[name] || fallback;
  if (expected.includes(value)) return value;
  throw new UsageError(`Invalid ${name} "${printable(value, 40)}": expected one of ${expected.join(", ")}.`);
}

/** Fields of log lines that people do not need. */
const machineFields = new Set(
  "level time pid hostname msg method path query status ms bytes ip account key requestId clientRequestId traceId parentId".split(
    " ",
  ),
);

/**
 * Returns a JSON line of the log as a line for people: time, level unless it is `info`, what happened, and its other fields. Returns nothing for the
 * operations of a page, which has a line itself. Control characters, which a terminal would obey, become `?`.
 */
export function readableLine(json: string): string {
  const line: unknown = JSON.parse(json);
  if (!isObject(line) || line.parentRequestId !== undefined) return "";
  const { time, level, msg, method, path, query, status, ms } = line;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const label = pino.levels.labels[Number(level)] ?? "";
  const request = `${status} ${method} ${path}${query === undefined ? "" : `?${query}`} ${ms} ms`;
  const fields = Object.entries(line).flatMap(([name, value]) =>
    machineFields.has(name) ? [] : `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const parts = [clock, label === "info" ? "" : label.toUpperCase(), method === undefined ? msg : request, ...fields];
  return `${parts.filter((part) => part !== "").join("  ")}\n`.replaceAll(/(?!\n$)\p{Cc}/gu, "?");
}
