/**
 * Group commit: runs a batch of tasks, with all writing tasks in one transaction. When this returns, their writes are on disk, or the
 * transaction failed and none of them wrote anything.
 */
import { messageOf } from "../../base/user-error.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { findActiveKey } from "../keys.ts";
import { type AccountBalance, ChargeBatch, hasCharge } from "../ledger/charging.ts";
import { listUsage } from "../ledger/usage.ts";
import { reviewOnce } from "../policy/tier-reviews.ts";
import type { BatchResult, LedgerTask, TaskOutcome } from "./messages.ts";

type TaskOutput = Extract<TaskOutcome, { readonly output: unknown }>["output"];

type WriteTask = Extract<LedgerTask, { readonly name: "charge" | "reviewTiers" }>;
type ReadTask = Exclude<LedgerTask, WriteTask>;

const isWriteTask = (task: LedgerTask): task is WriteTask => task.name === "charge" || task.name === "reviewTiers";

/** Runs a batch: write tasks first, then read tasks. Passes each caught error to `onError`. */
export function commitBatch(
  database: SqliteDatabase,
  tasks: readonly LedgerTask[],
  onError: (thrown: unknown) => void,
): BatchResult {
  const outcomes = new Map<LedgerTask, TaskOutcome>();
  const writeTasks = tasks.filter(isWriteTask);
  let balances: readonly AccountBalance[] = [];
  if (writeTasks.length > 0) {
    try {
      const charges = new ChargeBatch(database);
      const outputs = database.transaction(() => writeTasks.map((task) => runWriteTask(database, task, charges)));
      for (const [index, task] of writeTasks.entries()) outcomes.set(task, { output: outputs[index] ?? null });
      balances = charges.balances;
    } catch (thrown) {
      onError(thrown);
      for (const task of writeTasks) outcomes.set(task, { error: messageOf(thrown) });
    }
  }
  for (const task of tasks) {
    if (isWriteTask(task)) continue;
    try {
      outcomes.set(task, { output: runReadTask(database, task) });
    } catch (thrown) {
      onError(thrown);
      outcomes.set(task, { error: messageOf(thrown) });
    }
  }
  return { outcomes: tasks.map((task) => outcomes.get(task) ?? { error: "The task was not run." }), balances };
}

function runWriteTask(database: SqliteDatabase, { name, input }: WriteTask, charges: ChargeBatch): TaskOutput {
  return name === "charge" ? (charges.add(input) ?? null) : reviewOnce(database, input.day);
}

function runReadTask(database: SqliteDatabase, { name, input }: ReadTask): TaskOutput {
  switch (name) {
    case "findCharges":
      return input.chargeIds.filter((chargeId) => hasCharge(database, chargeId));
    case "findKey":
      return findActiveKey(database, input.keyId, input.month);
    case "listUsage":
      return listUsage(database, input.accountId, input.range);
  }
}
