/**
 * Scrub: reads the files of the version in service again and again in the background, at a bounded rate, and audits the accounts file, so that
 * damage is found before a request needs it. Unchecked files come first, then the least recently checked one.
 */
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Accounts } from "../../accounts/accounts.ts";
import { messageOf } from "../../base/user-error.ts";
import { runProgram } from "../../base/worker-threads.ts";
import { isPostgresUrl } from "../../db/postgres.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";

export interface ScrubOptions {
  readonly bytesPerHour: number;
  /** Pause after each file of the lake, by default a quarter of a second. */
  readonly pauseMs?: number;
  /** Pause after each audit of the accounts file, in times of its duration: by default it takes 1 % of a processor. */
  readonly auditPauses?: number;
  /** Pause before the first audit, by default ten seconds: a service that starts needs the processors. */
  readonly firstAuditMs?: number;
}

interface ScrubbedState {
  readonly current: CurrentVersion;
  readonly accounts: Accounts;
  /** The accounts file, or the URL of a PostgreSQL database, which checks its own files. */
  readonly location: string;
  readonly logger: Logger;
}

/** Starts the scrub. Returns a function that stops it. */
export function startScrub(state: ScrubbedState, options: ScrubOptions): () => void {
  const { bytesPerHour, pauseMs = 250, auditPauses = 100, firstAuditMs = 10_000 } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal, ref: false });
  /** Repeats a step, which returns the pause after it, until the scrub is stopped. */
  const repeat = async (step: () => Promise<number>, firstMs = 0): Promise<void> => {
    try {
      await pause(firstMs);
      for (;;) await pause(await step());
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    }
  };
  void repeat(async () => {
    await state.current.recheckOldest((bytes) => pause((bytes / bytesPerHour) * 3_600_000));
    return pauseMs;
  });
  if (!isPostgresUrl(state.location)) void repeat(() => auditAccountsFile(state, signal, auditPauses), firstAuditMs);
  return () => stopping.abort();
}

/** Pause before a damaged accounts file is audited again. */
const repairPauseMs = 1_000;

/** Audits the accounts file and notes the outcome. Returns the pause after it. Rejects if the signal aborts. */
async function auditAccountsFile(state: ScrubbedState, signal: AbortSignal, pauses: number): Promise<number> {
  const { accounts, location, logger } = state;
  const startMs = performance.now();
  try {
    noteFaults(state, await faultsOf(location, signal));
  } catch (thrown) {
    signal.throwIfAborted();
    logger.warn({ message: messageOf(thrown) }, "accounts file not audited");
  }
  const tookMs = performance.now() - startMs;
  return accounts.damage === undefined ? tookMs * pauses : Math.max(tookMs, repairPauseMs);
}

/** Runs `carquet ledger verify` in a separate process: a statement that reads a large table cannot be interrupted otherwise. */
async function faultsOf(location: string, signal: AbortSignal): Promise<readonly string[]> {
  const { code, output, errors } = await runProgram(["ledger", "verify", "--accounts", location], { signal });
  if (code === 0) return [];
  const faults = output.split("\n").filter((line) => line !== "");
  if (faults.length > 0) return faults;
  throw new Error(code === null ? "The audit was killed: expected more memory." : errors.trim());
}

function noteFaults({ accounts, location, logger }: ScrubbedState, faults: readonly string[]): void {
  const wasDamaged = accounts.damage !== undefined;
  const [first] = faults;
  const repair = 'restore a backup with "carquet ledger restore", and check it with "carquet ledger verify"';
  accounts.damage = first === undefined ? undefined : `damaged accounts file ${basename(location)}: ${repair}`;
  if (first !== undefined && !wasDamaged)
    logger.error(
      { message: `${location}: ${first} (faults: ${faults.length}). Metered requests are refused: ${repair}.` },
      "damaged file",
    );
  if (first === undefined && wasDamaged) logger.info("accounts file intact again");
}
