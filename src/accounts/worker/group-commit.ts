/**
 * Group commit: runs a batch of tasks, with all writing tasks in one transaction. When this returns, their writes are on disk, or the
 * transaction failed and none of them wrote anything. A task that fails because of its values fails alone; charges fail together.
 */
import { messageOf, UserError } from "../../base/user-error.ts";
import { classifyFault, type EngineFault } from "../../db/engine-faults.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { type ActiveKey, findActiveKeys } from "../keys/keys.ts";
import { type AccountBalance, type ChargeBatch, withCharges } from "../ledger/charging.ts";
import {
  isWriteTask,
  type KeyFinder,
  type LedgerTask,
  type ReadTask,
  runRead,
  runWrite,
  type TaskOutput,
  type WriteTask,
} from "./tasks.ts";

/** The output of a task, the message of its UserError, or the message of the fault that prevented it. */
export type TaskOutcome = { readonly output?: TaskOutput } | { readonly refusal: string } | { readonly error: string };

/** Sent after each batch: one outcome per task in the same order, and the new balances of the charged accounts. */
export interface BatchResult {
  readonly outcomes: readonly TaskOutcome[];
  readonly balances: readonly AccountBalance[];
}

/**
 * Runs a batch: write tasks first, then read tasks. Passes each caught error to `onError`, and calls `beforeWrites` when the transaction
 * holds the write lock.
 */
export function commitBatch(
  database: SqlDatabase,
  tasks: readonly LedgerTask[],
  onError: (thrown: unknown) => void,
  beforeWrites: () => void = () => undefined,
): BatchResult {
  const outcomes = new Map<LedgerTask, TaskOutcome>();
  const writeTasks = tasks.filter(isWriteTask);
  let balances: readonly AccountBalance[] = [];
  if (writeTasks.length > 0) {
    try {
      const charges = writeTasks.flatMap(({ name, input }) => (name === "charge" ? [input] : []));
      const result = withCharges(database, charges, (batch) => {
        beforeWrites();
        const written = writeTasks.map((task) => [task, writeOutcome(database, task, batch)] as const);
        return { written, balances: batch.balances };
      });
      for (const [task, outcome] of result.written) outcomes.set(task, outcome);
      balances = result.balances;
    } catch (thrown) {
      onError(thrown);
      for (const task of writeTasks) outcomes.set(task, { error: messageOf(thrown) });
    }
  }
  const readTasks = tasks.filter((task) => !isWriteTask(task));
  const findKey = keyFinder(database, readTasks);
  for (const task of readTasks) {
    try {
      outcomes.set(task, { output: runRead(database, task, findKey) });
    } catch (thrown) {
      onError(thrown);
      outcomes.set(task, { error: messageOf(thrown) });
    }
  }
  return { outcomes: tasks.map((task) => outcomes.get(task) ?? { error: "The task was not run." }), balances };
}

/** Faults of one task, after which the transaction goes on. */
const faultsOfTask: ReadonlySet<EngineFault> = new Set(["constraint", "invalid value"]);

/** Runs a write task in a savepoint. Throws what fails the transaction. */
function writeOutcome(database: SqlDatabase, task: WriteTask, charges: ChargeBatch): TaskOutcome {
  // Charges are decided in memory, and posted together.
  if (task.name === "charge") return { output: runWrite(database, task, charges) };
  // The first savepoint of a transaction can throw a UserError that fails all of it.
  let isStarted = false;
  try {
    const output = database.transaction(() => {
      isStarted = true;
      return runWrite(database, task, charges);
    });
    return { output };
  } catch (thrown) {
    if (isStarted && thrown instanceof UserError) return { refusal: thrown.message };
    if (!faultsOfTask.has(classifyFault(thrown))) throw thrown;
    return { error: messageOf(thrown) };
  }
}

/** Returns the look-up of keys of a batch, which reads all of them together. */
function keyFinder(database: SqlDatabase, tasks: readonly ReadTask[]): KeyFinder {
  const keyIds = new Set(tasks.flatMap((task) => (task.name === "findKey" ? [task.input.keyId] : [])));
  const found = new Map<string, ReadonlyMap<string, ActiveKey>>();
  return (keyId, month) => {
    const keys = found.get(month) ?? findActiveKeys(database, [...keyIds], month);
    found.set(month, keys);
    return keys.get(keyId) ?? null;
  };
}
