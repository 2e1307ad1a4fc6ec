/**
 * The thread that makes files of rows, one after another: it has an engine of its own, and holds up nobody. It tells the name of each
 * file that is there, then ends.
 */
import { rename, rm } from "node:fs/promises";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../base/failure.ts";
import { sync } from "../base/files.ts";
import { Database, type Session } from "./duckdb.ts";
import { makeRowFile, type RowSource } from "./row-file.ts";

/** A file to be made, by its path. */
export interface RowTask extends RowSource {
  readonly target: string;
}

/** What the thread says: which file is there, or why there will be no more. */
export type RowWord = { readonly made: string } | { readonly failed: string };

const port = parentPort;
if (port === null) throw new TypeError("This module is a thread's.");
const tasks: readonly RowTask[] = workerData;
let isStopped = false;
port.once("message", () => {
  isStopped = true;
});

/** Makes a file under a name of its own, then gives it its own name: it is there whole, or not at all. */
async function make(session: Session, task: RowTask): Promise<boolean> {
  const fresh = `${task.target}.${process.pid}.new`;
  await rm(fresh, { force: true });
  try {
    if (!(await makeRowFile(session, task, fresh, () => isStopped))) return false;
    await sync(fresh);
    await rename(fresh, task.target);
    return true;
  } finally {
    await rm(fresh, { force: true });
  }
}

const database = await Database.open({ threads: 1, memoryLimit: "1GiB" });
try {
  await database.using(async (session) => {
    for (const task of tasks) {
      if (!(await make(session, task))) return;
      port.postMessage({ made: task.target } satisfies RowWord);
    }
  });
} catch (thrown) {
  port.postMessage({ failed: messageOf(thrown) } satisfies RowWord);
} finally {
  database.close();
  port.close();
}
