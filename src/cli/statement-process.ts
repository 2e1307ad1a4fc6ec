/**
 * The process of `carquet sql`: ends when its memory exceeds that of the engine by more than Node.js needs, because the engine does not count vectors of lists
 * and texts. Reports the processor time of its statements, and why one failed, to the service that has started it.
 */
import { writeSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { resolve } from "node:path";
import { endNow } from "../base/exits.ts";
import { DamagedFile, messageOf, UserError } from "../base/user-error.ts";
import { classifyFault } from "../db/engine-faults.ts";
import { report } from "../export/limits.ts";
import type { AnalystDatabase } from "../lake/analyst/analyst-database.ts";
import { statementBytes } from "./memory-budget.ts";

/** How often the memory is measured: a statement fills some 20 MB meanwhile. */
const pollMs = 5;

/** How often the processor time is reported while statements run, for those that never end. */
const reportMs = 100;

/** The most characters of a reason that is reported: an error of the engine can quote a value of any size. */
const reasonCharactersMax = 1000;

interface ProcessSettings {
  readonly lake: string;
  readonly memoryLimit?: string | undefined;
}

/** Watches the process from now on, while `work` runs. Reports what statements used, and why one failed. */
export async function watched(
  database: AnalystDatabase,
  { lake, memoryLimit }: ProcessSettings,
  work: () => Promise<void>,
): Promise<void> {
  const begun = process.cpuUsage();
  const reportUse = (hasRun = database.hasRun): void => {
    const { user, system } = process.cpuUsage(begun);
    report({ usedMs: (user + system) / 1000, hasRun });
  };
  const bytesMax = memoryLimit === undefined ? Number.POSITIVE_INFINITY : statementBytes(memoryLimit);
  const checkMemory = (): void => {
    if (process.memoryUsage.rss() <= bytesMax) return;
    reportUse(true);
    report({ invalid: memoryReason(memoryLimit) });
    writeSync(2, `carquet: ${memoryReason(memoryLimit)}\n`);
    endNow();
  };
  const timers = [setInterval(checkMemory, pollMs), setInterval(reportUse, reportMs, undefined)];
  try {
    await work();
    reportUse();
  } catch (thrown) {
    reportUse();
    if (faultOf(thrown) === undefined && thrown instanceof UserError)
      report({ invalid: reasonOf(thrown, { lake, memoryLimit }) });
    throw thrown;
  } finally {
    timers.forEach(clearInterval);
  }
}

/** Reports damaged data to the service that has started the process, also if the views could not be created. */
export function reportDamage(thrown: unknown): void {
  if (["missing", "damaged"].includes(faultOf(thrown) ?? "")) report({ isDamaged: true });
}

/** Returns why a statement failed, for its client: without the folders of the machine, and cut. */
export function reasonOf(thrown: unknown, { lake, memoryLimit }: ProcessSettings): string {
  const isOutOfMemory = /^(?:Out of Memory Error|std::bad_alloc)/.test(messageOf(thrown));
  const reason = isOutOfMemory ? memoryReason(memoryLimit) : hideFolders(messageOf(thrown), lake);
  return reason.slice(0, reasonCharactersMax);
}

const memoryReason = (memoryLimit = "the memory of the machine"): string =>
  `Out of Memory: expected statements that need at most ${memoryLimit}. Filter or aggregate earlier, or select fewer columns.`;

/** Errors of the engine about files. A statement can put any text into most others. */
const fileError =
  /^(?:IO|Out of Memory|Invalid) Error|^Invalid Input Error: (?:No magic bytes|File )|^TProtocolException|^Cannot write .*: ENOSPC/;

/** Returns the fault of the machine or the lake that made a statement fail; undefined if it failed by what it says. */
function faultOf(thrown: unknown): "disk full" | "io error" | "missing" | "damaged" | undefined {
  if (thrown instanceof DamagedFile && messageOf(thrown).startsWith("Permission Error")) return "missing";
  const isOfFile = thrown instanceof DamagedFile || fileError.test(messageOf(thrown));
  const fault = isOfFile ? classifyFault(thrown) : "other";
  return fault === "disk full" || fault === "io error" || fault === "missing" || fault === "damaged"
    ? fault
    : undefined;
}

/** Replaces absolute paths in a text, whether or not they are of the machine: a statement that names some must not learn which are. */
function hideFolders(text: string, lake: string): string {
  return [resolve(lake), tmpdir(), process.cwd(), homedir()]
    .filter((folder) => folder.length > 1)
    .toSorted((one, other) => other.length - one.length)
    .reduce((hidden, folder) => hidden.replaceAll(folder, "/path").replaceAll(globOf(folder), "/path"), text)
    .replaceAll(/(?<![\w:/)\]])\/[^\s"'/][^\s"']*/g, "(path)");
}

/** Returns a path as functions of the engine read it, which expand patterns. */
const globOf = (path: string): string => path.replaceAll(/[*?[]/g, "[$&]");
