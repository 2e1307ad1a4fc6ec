/**
 * What the ledger's thread is asked for, and what it answers. Messages are JSON: for objects this small, writing and parsing a text takes
 * half the time of a structured clone (42 against 18 microseconds there and back).
 */

import type { Synchronous } from "../../db/sqlite.ts";
import type { PresentedKey } from "../keys.ts";
import type { ChargeEntry, ChargeResult } from "../ledger/charging.ts";
import type { UsageRange, UsageRow } from "../ledger/usage.ts";
import type { Shortfall } from "../policy/billing-state.ts";
import type { ReviewResult } from "../policy/tier-reviews.ts";

/** Each task with what is asked and what is answered. */
export interface LedgerTasks {
  /** Charges an account; answers why it cannot pay, or null when it has been charged. */
  readonly charge: { readonly asked: ChargeEntry; readonly answered: Shortfall | null };
  /** Of some charge ids, those that are in the ledger. */
  readonly charged: {
    readonly asked: { readonly chargeIds: readonly string[] };
    readonly answered: readonly string[];
  };
  /** The automatic review of a UTC day, unless it has been made. */
  readonly review: { readonly asked: { readonly day: string }; readonly answered: readonly ReviewResult[] };
  /** A key that is presented; null when there is none, or it is revoked. */
  readonly present: {
    readonly asked: { readonly keyId: string; readonly month: string };
    readonly answered: PresentedKey | null;
  };
  readonly usage: {
    readonly asked: { readonly accountId: string; readonly range: UsageRange };
    readonly answered: readonly UsageRow[];
  };
}

export type LedgerTaskName = keyof LedgerTasks;

export type LedgerTask = {
  readonly [Name in LedgerTaskName]: { readonly task: Name; readonly asked: LedgerTasks[Name]["asked"] };
}[LedgerTaskName];

/** What came of a task: its answer, or why it could not be done. */
export type TaskOutcome = { readonly answered: LedgerTasks[LedgerTaskName]["answered"] } | { readonly failed: string };

/** What the thread says when it has done with a batch of tasks: what came of each, and what the accounts that were charged have now. */
export interface BatchResult {
  readonly outcomes: readonly TaskOutcome[];
  readonly charged: readonly ChargeResult[];
}

/** What the thread says first: that the file is open, or why it is not. */
export type WorkerReady = { readonly isOpen: true } | { readonly isOpen: false; readonly why: string };

/** What the thread is started with. */
export interface WorkerSettings {
  readonly path: string;
  readonly busyMs: number;
  readonly synchronous: Synchronous;
  /** Whether a file that is not there is made. */
  readonly isNew: boolean;
}
