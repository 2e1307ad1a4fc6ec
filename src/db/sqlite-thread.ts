/** The other thread of a service's SQLite file, as the service sees it: writes checkpoints, and runs reads that may be long, one transaction at a time. */
import type { Worker } from "node:worker_threads";
import type { Row } from "../base/json.ts";
import { startWorker } from "../base/worker-threads.ts";
import { sql } from "./sql.ts";
import { type SqlDatabase, sqliteDialect, WithinTransaction } from "./sql-database.ts";
import type { ThreadReply, ThreadRequest } from "./sqlite-worker.ts";

const workerModule = new URL("./sqlite-worker.ts", import.meta.url);

/** How long the thread runs without work. */
const idleMs = 60_000;

interface Waiting {
  resolve(rows: readonly Row[]): void;
  reject(error: Error): void;
}

export class SqliteThread {
  private worker: Worker | undefined;
  /** The requests that are not answered, in their order. */
  private waiting: Waiting[] = [];
  private lastReading: Promise<unknown> = Promise.resolve();
  private idleTimer: NodeJS.Timeout | undefined;
  private readings = 0;
  /** The checkpoint in progress, which may hold the lock of the file. */
  checkpointing: Promise<unknown> | undefined;

  constructor(private readonly path: string) {}

  /** Runs reading work in one transaction, after all earlier ones. */
  reading<T>(work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    const database = new WithinTransaction(sqliteDialect, async ({ texts, values }) => ({
      rows: await this.request({ texts, values }),
      count: 0,
    }));
    this.readings += 1;
    const result = this.lastReading.then(async () => {
      try {
        await database.all(sql`BEGIN`);
        return await work(database).finally(() => database.all(sql`COMMIT`));
      } finally {
        this.readings -= 1;
      }
    });
    this.lastReading = result.catch(() => undefined);
    return result;
  }

  /** Writes what is in the log to the file, and starts the log again if it has become long. */
  checkpoint(): Promise<unknown> {
    this.checkpointing ??= this.request("checkpoint").finally(() => {
      this.checkpointing = undefined;
    });
    return this.checkpointing;
  }

  async close(): Promise<void> {
    clearTimeout(this.idleTimer);
    this.idleTimer = undefined;
    const { worker } = this;
    this.worker = undefined;
    if (worker === undefined) return;
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    worker.ref();
    worker.postMessage("close" satisfies ThreadRequest);
    await exited;
  }

  private request(request: ThreadRequest): Promise<readonly Row[]> {
    const worker = this.worker ?? this.start();
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      worker.postMessage(request);
    });
  }

  private start(): Worker {
    const worker = startWorker(workerModule, { path: this.path });
    const waiting: Waiting[] = [];
    this.worker = worker;
    this.waiting = waiting;
    worker.unref();
    worker.on("message", ({ rows, fault }: ThreadReply) => {
      const { resolve, reject } = waiting.shift() ?? {};
      if (fault === undefined) resolve?.(rows);
      else reject?.(Object.assign(new Error(fault.message), fault));
      this.idleTimer ??= setTimeout(() => this.endIdle(), idleMs).unref();
      this.idleTimer.refresh();
    });
    const fail = (error: Error): void => {
      if (this.worker === worker) this.worker = undefined;
      for (const { reject } of waiting.splice(0)) reject(error);
    };
    worker.on("error", fail);
    worker.on("exit", () => fail(new Error("The thread of the accounts file has ended.")));
    return worker;
  }

  private endIdle(): void {
    if (this.waiting.length + this.readings === 0) void this.close();
    else this.idleTimer?.refresh();
  }
}
