/**
 * Group commit: tasks that came together are done together, all that write in one transaction. Their outcomes are known when
 * that transaction is on the disk, and not before; when it fails, nothing of it was written.
 */
import { messageOf } from "../../base/user-error.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { findPresentedKey } from "../keys.ts";
import { ChargeBatch, type ChargeResult, hasCharge } from "../ledger/charging.ts";
import { usageIn } from "../ledger/usage.ts";
import { reviewOnce } from "../policy/tier-reviews.ts";
import type { BatchResult, LedgerTask, TaskOutcome } from "./messages.ts";

type Answer = Extract<TaskOutcome, { readonly answered: unknown }>["answered"];

type Writing = Extract<LedgerTask, { readonly task: "charge" | "review" }>;
type Reading = Exclude<LedgerTask, Writing>;

const isWriting = (one: LedgerTask): one is Writing => one.task === "charge" || one.task === "review";

/** Does a batch of tasks, those that write first; tells what was thrown. */
export function commitBatch(
  database: SqliteDatabase,
  tasks: readonly LedgerTask[],
  onFailure: (thrown: unknown) => void,
): BatchResult {
  const outcomes = new Map<LedgerTask, TaskOutcome>();
  const writing = tasks.filter(isWriting);
  let charged: readonly ChargeResult[] = [];
  if (writing.length > 0) {
    try {
      const charging = new ChargeBatch(database);
      const answers = database.transaction(() => writing.map((task) => write(database, task, charging)));
      for (const [index, task] of writing.entries()) outcomes.set(task, { answered: answers[index] ?? null });
      charged = charging.charged;
    } catch (thrown) {
      onFailure(thrown);
      for (const task of writing) outcomes.set(task, { failed: messageOf(thrown) });
    }
  }
  for (const task of tasks) {
    if (isWriting(task)) continue;
    try {
      outcomes.set(task, { answered: read(database, task) });
    } catch (thrown) {
      onFailure(thrown);
      outcomes.set(task, { failed: messageOf(thrown) });
    }
  }
  return {
    outcomes: tasks.map((task) => outcomes.get(task) ?? { failed: "not done" }),
    charged,
  };
}

function write(database: SqliteDatabase, { task, asked }: Writing, charging: ChargeBatch): Answer {
  return task === "charge" ? (charging.add(asked) ?? null) : reviewOnce(database, asked.day);
}

function read(database: SqliteDatabase, { task, asked }: Reading): Answer {
  switch (task) {
    case "charged":
      return asked.chargeIds.filter((chargeId) => hasCharge(database, chargeId));
    case "present":
      return findPresentedKey(database, asked.keyId, asked.month);
    case "usage":
      return usageIn(database, asked.accountId, asked.range);
  }
}
