/**
 * The thread that writes the ledger, so that nobody else waits for the disk. It takes batches of tasks and says what came of them
 * when they are on the disk. When the file cannot be used it says so for each batch, and opens it again as soon as that is possible.
 */
import { statSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { Failure, messageOf } from "../base/failure.ts";
import { type Database, isPassing } from "../base/sqlite.ts";
import { doBatch } from "./batch.ts";
import { makeAccounts, openAccounts } from "./layout.ts";
import type { Done, Opened, Task, ThreadSettings } from "./tasks.ts";

const { path, isNew, ...options }: ThreadSettings = workerData;
const port = parentPort;
if (port === null) throw new TypeError("This module is a thread's.");

interface OpenFile {
  readonly database: Database;
  /** Which file it is: another one may come in its place. */
  readonly identity: string;
}

let file: OpenFile | undefined;

const identityOf = (): string | undefined => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
};

/** The file, opened again when it has been exchanged. A file that is gone is not made again: it would be an empty ledger. */
function current(): Database {
  const identity = identityOf();
  if (file !== undefined && file.identity === identity) return file.database;
  close();
  if (identity === undefined) throw new Failure(`${path}: the file is gone`);
  file = { database: openAccounts(path, options), identity };
  return file.database;
}

function close(): void {
  file?.database.close();
  file = undefined;
}

function answer(tasks: readonly Task[]): Done {
  let mustOpenAgain = false;
  try {
    return doBatch(current(), tasks, (thrown) => {
      mustOpenAgain ||= !isPassing(thrown);
    });
  } catch (thrown) {
    return { outcomes: tasks.map(() => ({ failed: messageOf(thrown) })), charged: [] };
  } finally {
    if (mustOpenAgain) close();
  }
}

try {
  if (isNew) makeAccounts(path, options).close();
  current();
  port.postMessage({ isOpen: true } satisfies Opened);
} catch (thrown) {
  port.postMessage({ isOpen: false, why: messageOf(thrown) } satisfies Opened);
}

port.on("message", (tasks: readonly Task[] | "close") => {
  if (tasks !== "close") return port.postMessage(answer(tasks));
  close();
  port.close();
});
