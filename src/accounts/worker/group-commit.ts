/**
 * Group commit: runs a batch of tasks, with all writing tasks in one transaction. When this returns, their writes are on disk, or the
 * transaction failed and none of them wrote anything. A task that fails because of its values fails alone; charges fail together.
 */
import { messageOf } from "../../base/user-error.ts";
import { classifyFault, type EngineFault } from "../../db/engine-faults.ts";
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { recordChange } from "../administration/audit-log.ts";
import { changes } from "../administration/changes.ts";
import { runQuery } from "../administration/queries.ts";
import { runUpdate } from "../administration/updates.ts";
import { type ActiveKey, findActiveKeys } from "../keys.ts";
import { type AccountBalance, type ChargeBatch, listKnownCharges, withCharges } from "../ledger/charging.ts";
import { findRepetition, purgeIdempotencyKeys } from "../ledger/idempotency.ts";
import { refundCharge } from "../ledger/ledger.ts";
import { listUsage } from "../ledger/usage.ts";
import { findAccessToken } from "../oauth/oauth-state.ts";
import { proveWritable } from "../open-accounts.ts";
import { reviewOnce } from "../policy/tier-reviews.ts";
import type { BatchResult, LedgerTask, LedgerTasks, TaskOutcome } from "./messages.ts";

type TaskOutput = Extract<TaskOutcome, { readonly output: unknown }>["output"];

const writeTaskNames = [
  "charge",
  "refundCharges",
  "purgeIdempotencyKeys",
  "reviewTiers",
  "update",
  "probeWrite",
] as const;

type WriteTask = Extract<LedgerTask, { readonly name: (typeof writeTaskNames)[number] }>;
type ReadTask = Exclude<LedgerTask, WriteTask>;

const isWriteTask = (task: LedgerTask): task is WriteTask => writeTaskNames.some((name) => name === task.name);
const isReadTask = (task: LedgerTask): task is ReadTask => !isWriteTask(task);

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
  const readTasks = tasks.filter(isReadTask);
  const findKey = keyFinder(database, readTasks);
  for (const task of readTasks) {
    try {
      outcomes.set(task, { output: task.name === "findKey" ? findKey(task.input) : runReadTask(database, task) });
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
  if (task.name === "charge") return { output: runWriteTask(database, task, charges) };
  try {
    return { output: database.transaction(() => runWriteTask(database, task, charges)) };
  } catch (thrown) {
    if (!faultsOfTask.has(classifyFault(thrown))) throw thrown;
    return { error: messageOf(thrown) };
  }
}

function runWriteTask(database: SqlDatabase, { name, input }: WriteTask, charges: ChargeBatch): TaskOutput {
  switch (name) {
    case "charge":
      return charges.add(input) ?? null;
    case "refundCharges":
      for (const chargeId of input.chargeIds) refundCharge(database, chargeId);
      return null;
    case "purgeIdempotencyKeys":
      return purgeIdempotencyKeys(database, input.beforeMs);
    case "reviewTiers":
      return reviewAndRecord(database, input);
    case "update":
      return runUpdate(database, input);
    case "probeWrite":
      proveWritable(database);
      return null;
  }
}

/** Runs the daily review, and records it in the audit log if it promoted or queued an account. */
function reviewAndRecord(database: SqlDatabase, { day, atMs }: LedgerTasks["reviewTiers"]["input"]): TaskOutput {
  const results = reviewOnce(database, day);
  const description = changes["tiers review"].describe({}, results);
  if (results.length > 0) recordChange(database, { atMs, actor: "service", action: "tiers review", ...description });
  return results;
}

type KeyTask = Extract<LedgerTask, { readonly name: "findKey" }>;

/** Returns the look-up of keys of a batch, which reads all of them together. */
function keyFinder(database: SqlDatabase, tasks: readonly ReadTask[]): (input: KeyTask["input"]) => ActiveKey | null {
  const keyIds = new Set(tasks.flatMap((task) => (task.name === "findKey" ? [task.input.keyId] : [])));
  const found = new Map<string, ReadonlyMap<string, ActiveKey>>();
  return ({ keyId, month }) => {
    const keys = found.get(month) ?? findActiveKeys(database, [...keyIds], month);
    found.set(month, keys);
    return keys.get(keyId) ?? null;
  };
}

function runReadTask(database: SqlDatabase, { name, input }: Exclude<ReadTask, KeyTask>): TaskOutput {
  switch (name) {
    case "findCharges":
      return listKnownCharges(database, input.chargeIds);
    case "findToken":
      return findAccessToken(database, input.sha256, input.atMs);
    case "listUsage":
      return listUsage(database, input.accountId, input.range);
    case "findRepetition":
      return findRepetition(database, input.accountId, input.request, input.atMs) ?? null;
    case "query":
      return runQuery(database, input);
    case "probeRead":
      database.one(sql`SELECT account_id FROM accounts LIMIT 1`);
      return null;
  }
}
