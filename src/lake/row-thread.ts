/**
 * The thread that makes files of rows, one after another: it has an engine of its own, of one processor and 1 GiB at the most, and
 * holds up nobody. It tells the name of each file that is there, then ends.
 */
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../base/failure.ts";
import { makeWhole } from "./caches.ts";
import { Database, type Session } from "./duckdb.ts";
import { makeRowFile, type RowSource } from "./row-file.ts";

/** What the thread is started with. */
export interface RowTasks {
  /** The folder outside of which it reads nothing. */
  readonly lake: string;
  readonly files: readonly RowTask[];
}

/** A file to be made, by its path. */
export interface RowTask extends RowSource {
  readonly target: string;
}

/** What the thread says: which file is there, or why there will be no more. */
export type RowWord = { readonly made: string } | { readonly failed: string };

const port = parentPort;
if (port === null) throw new TypeError("This module is a thread's.");
const { lake, files }: RowTasks = workerData;
let isStopped = false;
port.once("message", () => {
  isStopped = true;
});

const make = (session: Session, task: RowTask): Promise<boolean> =>
  makeWhole(task.target, (fresh) => makeRowFile(session, task, fresh, () => isStopped));

const database = await Database.open({ threads: 1, memoryLimit: "1GiB" });
try {
  await database.lockDown([lake]);
  await database.using(async (session) => {
    for (const task of files) {
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
