/**
 * The thread that writes the ledger, so that nobody else waits for the disk. It takes batches of tasks and says what came of them
 * when they are on the disk. When the file cannot be used it says so for each batch, and opens it again as soon as that is possible.
 */
import { statSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf, UserError } from "../../base/user-error.ts";
import { type EngineFault, faultOf } from "../../db/engine-faults.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { createAccountsFile, openAccountsFile } from "../file/schema.ts";
import { commitBatch } from "./group-commit.ts";
import type { BatchResult, LedgerTask, WorkerReady, WorkerSettings } from "./messages.ts";

const { path, isNew, ...options }: WorkerSettings = workerData;
const port = parentPort;
if (port === null) throw new TypeError("This module is a thread's.");

interface OpenFile {
  readonly database: SqliteDatabase;
  /** Which file it is: another one may come in its place. */
  readonly identity: string;
}

let file: OpenFile | undefined;

/** Faults that leave the database open and as it was. */
const passing: ReadonlySet<EngineFault> = new Set(["disk full", "busy", "broken rule"]);

const identityOf = (): string | undefined => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
};

/** The file, opened again when it has been exchanged. A file that is gone is not made again: it would be an empty ledger. */
function current(): SqliteDatabase {
  const identity = identityOf();
  if (file !== undefined && file.identity === identity) return file.database;
  close();
  if (identity === undefined) throw new UserError(`${path}: the file is gone`);
  file = { database: openAccountsFile(path, options), identity };
  return file.database;
}

function close(): void {
  file?.database.close();
  file = undefined;
}

function tell(message: BatchResult | WorkerReady): void {
  parentPort?.postMessage(JSON.stringify(message));
}

function answer(tasks: readonly LedgerTask[]): BatchResult {
  let mustOpenAgain = false;
  try {
    return commitBatch(current(), tasks, (thrown) => {
      mustOpenAgain ||= !passing.has(faultOf(thrown));
    });
  } catch (thrown) {
    return { outcomes: tasks.map(() => ({ failed: messageOf(thrown) })), charged: [] };
  } finally {
    if (mustOpenAgain) close();
  }
}

try {
  if (isNew) createAccountsFile(path, options).close();
  current();
  tell({ isOpen: true });
} catch (thrown) {
  tell({ isOpen: false, why: messageOf(thrown) });
}

port.on("message", (message: string) => {
  const tasks: readonly LedgerTask[] | "close" = JSON.parse(message);
  if (tasks !== "close") return tell(answer(tasks));
  close();
  port.close();
});
