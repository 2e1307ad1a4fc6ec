/**
 * Messages between the ledger client and the ledger worker. They are sent as JSON: for objects this small, serializing takes half the
 * time of a structured clone (18 against 42 microseconds for a round trip).
 */

import type { Synchronous } from "../../db/sqlite.ts";
import type { ActiveKey } from "../keys.ts";
import type { AccountBalance, ChargeEntry } from "../ledger/charging.ts";
import type { UsageRange, UsageRow } from "../ledger/usage.ts";
import type { Shortfall } from "../policy/billing-state.ts";
import type { ReviewResult } from "../policy/tier-reviews.ts";

/** The tasks of the worker: the input and the output of each. */
export interface LedgerTasks {
  /** Posts a charge; null if it is in the ledger, else why the account cannot pay. */
  readonly charge: { readonly input: ChargeEntry; readonly output: Shortfall | null };
  /** Returns those of the charge ids that are in the ledger. */
  readonly findCharges: {
    readonly input: { readonly chargeIds: readonly string[] };
    readonly output: readonly string[];
  };
  /** Runs the automatic tier review of a UTC day, unless it has already run. */
  readonly reviewTiers: { readonly input: { readonly day: string }; readonly output: readonly ReviewResult[] };
  /** Returns an active key; null if it is unknown or revoked. */
  readonly findKey: {
    readonly input: { readonly keyId: string; readonly month: string };
    readonly output: ActiveKey | null;
  };
  readonly listUsage: {
    readonly input: { readonly accountId: string; readonly range: UsageRange };
    readonly output: readonly UsageRow[];
  };
}

export type LedgerTaskName = keyof LedgerTasks;

export type LedgerTask = {
  readonly [Name in LedgerTaskName]: { readonly name: Name; readonly input: LedgerTasks[Name]["input"] };
}[LedgerTaskName];

/** The output of a task, or the error message of a failed one. */
export type TaskOutcome = { readonly output: LedgerTasks[LedgerTaskName]["output"] } | { readonly error: string };

/** Sent after each batch: one outcome per task in the same order, and the new balances of the charged accounts. */
export interface BatchResult {
  readonly outcomes: readonly TaskOutcome[];
  readonly balances: readonly AccountBalance[];
}

/** The worker's first message: the file is open, or why it is not. */
export type WorkerReady = { readonly isOpen: true } | { readonly isOpen: false; readonly reason: string };

/** The `workerData` of the worker. */
export interface WorkerSettings {
  readonly path: string;
  /** How long to wait for the lock of another process that writes. */
  readonly busyMs: number;
  readonly synchronous: Synchronous;
  /** Create the file if it does not exist. False for restarts: a file that vanished must not become an empty ledger. */
  readonly createIfMissing: boolean;
}
