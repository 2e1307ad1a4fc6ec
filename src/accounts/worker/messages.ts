/**
 * What the ledger's thread is asked for, and what it answers. Messages are JSON: for objects this small, writing and parsing a text takes
 * half the time of a structured clone (42 against 18 microseconds there and back).
 */

import type { Synchronous } from "../../db/sqlite.ts";
import type { Presented } from "../keys.ts";
import type { Charge, Charged } from "../ledger/charging.ts";
import type { UsageRange, UsageRow } from "../ledger/usage.ts";
import type { Shortfall } from "../policy/billing-state.ts";
import type { Reviewed } from "../policy/tier-reviews.ts";

/** Each task with what is asked and what is answered. */
export interface Tasks {
  /** Charges an account; answers why it cannot pay, or null when it has been charged. */
  readonly charge: { readonly asked: Charge; readonly answered: Shortfall | null };
  /** Of some charge ids, those that are in the ledger. */
  readonly charged: {
    readonly asked: { readonly chargeIds: readonly string[] };
    readonly answered: readonly string[];
  };
  /** The automatic review of a UTC day, unless it has been made. */
  readonly review: { readonly asked: { readonly day: string }; readonly answered: readonly Reviewed[] };
  /** A key that is presented; null when there is none, or it is revoked. */
  readonly present: {
    readonly asked: { readonly keyId: string; readonly month: string };
    readonly answered: Presented | null;
  };
  readonly usage: {
    readonly asked: { readonly accountId: string; readonly range: UsageRange };
    readonly answered: readonly UsageRow[];
  };
}

export type TaskName = keyof Tasks;

export type Task = {
  readonly [Name in TaskName]: { readonly task: Name; readonly asked: Tasks[Name]["asked"] };
}[TaskName];

/** What came of a task: its answer, or why it could not be done. */
export type Outcome = { readonly answered: Tasks[TaskName]["answered"] } | { readonly failed: string };

/** What the thread says when it has done with a batch of tasks: what came of each, and what the accounts that were charged have now. */
export interface Done {
  readonly outcomes: readonly Outcome[];
  readonly charged: readonly Charged[];
}

/** What the thread says first: that the file is open, or why it is not. */
export type Opened = { readonly isOpen: true } | { readonly isOpen: false; readonly why: string };

/** What the thread is started with. */
export interface ThreadSettings {
  readonly path: string;
  readonly busyMs: number;
  readonly synchronous: Synchronous;
  /** Whether a file that is not there is made. */
  readonly isNew: boolean;
}
