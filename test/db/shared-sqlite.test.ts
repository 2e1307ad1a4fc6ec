/** SQLite files that several processes use: locks, transactions that do not overlap, and flushes at intervals. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { classifyFault, isOutcomeUnknown } from "../../src/db/engine-faults.ts";
import { FlushedDatabase } from "../../src/db/flushed-database.ts";
import { LogFlusher } from "../../src/db/log-flusher.ts";
import { openSharedSqlite } from "../../src/db/shared-sqlite.ts";
import { sql } from "../../src/db/sql.ts";
import type { SqlDatabase } from "../../src/db/sql-database.ts";
import { createPrivateFile, SqliteDatabase } from "../../src/db/sqlite.ts";
import { SqliteThread } from "../../src/db/sqlite-thread.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

const ignore = (): undefined => undefined;
const flush = { isEachFlushed: false, onError: assert.ifError, onFlush: ignore };

/** A file with an empty table of words, as a service opens it. */
async function wordsIn(scope: Scope): Promise<{ readonly path: string; readonly database: SqlDatabase }> {
  const path = join(await temporaryFolder(scope), "a.db");
  createPrivateFile(path);
  const database = openSharedSqlite(path, { busyMs: 50, flush });
  onScopeEnd(scope, () => database.close());
  await database.run(sql`CREATE TABLE words (word TEXT)`);
  return { path, database };
}

const insert = (word: string) => sql`INSERT INTO words VALUES (${word})`;
const wordsOf = async (database: SqlDatabase): Promise<string> =>
  (await database.all(sql`SELECT word FROM words`)).map(({ word }) => word).join();

test("while another process holds the lock, writes fail after 50 ms and the thread is free; reads go on", async (scope) => {
  const { path, database } = await wordsIn(scope);
  const other = SqliteDatabase.open(path, { busyMs: 1000 });
  onScopeEnd(scope, async () => other.close());
  const lock = other.begin("IMMEDIATE");
  assert.equal((await database.one(sql`PRAGMA busy_timeout`))?.timeout, 0, "the engine never waits in the thread");
  const startedAtMs = performance.now();
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const outcomes = await Promise.allSettled([
    ...Array.from({ length: 50 }, () => database.post(insert("one"))),
    ...Array.from({ length: 50 }, () => database.transaction((transaction) => transaction.run(insert("two")))),
  ]);
  clearInterval(timer);
  const ms = performance.now() - startedAtMs;
  assert.ok(ms >= 50 && ms < (100 * 50) / 2, `${ms} ms: not one after the other`);
  assert.ok(turns > 0, `${turns} turns of the event loop meanwhile`);
  for (const outcome of outcomes) assert.equal(outcome.status === "rejected" && classifyFault(outcome.reason), "busy");
  assert.equal(await wordsOf(database), "");
  const waiting = database.post(insert("three"));
  lock.rollBack();
  assert.equal(await waiting, 1);
  assert.equal(await wordsOf(database), "three");
});

test("transactions and statements of one process wait for each other", async (scope) => {
  const { database } = await wordsIn(scope);
  const failed = new Error("failed");
  const add = (word: string, fails: boolean): Promise<void> =>
    database.transaction(async (transaction) => {
      await transaction.run(insert(`${word}1`));
      await transaction.all(sql`SELECT 1`);
      await assert.rejects(
        transaction.transaction(async (part) => {
          await part.run(insert("never"));
          throw failed;
        }),
        failed,
      );
      await transaction.run(insert(`${word}2`));
      if (fails) throw failed;
    });
  const outcomes = await Promise.allSettled([
    add("a", false),
    database.post(insert("between")),
    add("b", true),
    add("c", false),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected", "fulfilled"],
  );
  const words = (await wordsOf(database)).split(",");
  assert.deepEqual([...words].sort(), ["a1", "a2", "between", "c1", "c2"]);
  for (const word of ["a", "c"]) assert.equal(words.indexOf(`${word}2`) - words.indexOf(`${word}1`), 1);
});

test("long reads run in another thread, each on one state of the file, which checkpoints leave whole", async (scope) => {
  const { database } = await wordsIn(scope);
  await database.run(insert("one"));
  const slow = sql`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000000) SELECT count(*) AS n FROM numbers`;
  const counts = await database.reading(async (reader) => {
    const before = (await reader.one(sql`SELECT count(*) AS n FROM words`))?.n;
    const counting = reader.one(slow);
    for (let n = 0; n < 1200; n += 1) await database.post(insert("more"));
    await counting;
    return [before, (await reader.one(sql`SELECT count(*) AS n FROM words`))?.n];
  });
  assert.deepEqual(counts, [1, 1]);
  assert.equal((await database.one(sql`SELECT count(*) AS n FROM words`))?.n, 1201);
  const within = await database.reading((reader) => reader.reading(wordsOf));
  assert.match(within, /^one,more/);
  await assert.rejects(
    database.reading((reader) => reader.all(sql`SELECT * FROM no_table`)),
    /no such table/,
  );
});

test("a read ends when its thread does, also while the file is closed", async (scope) => {
  const { path, database } = await wordsIn(scope);
  for (const isClosed of [false, true]) {
    const thread = new SqliteThread(path);
    process.once("worker", (worker) => void worker.terminate());
    const reading = thread.reading((reader) => reader.all(sql`SELECT * FROM words`));
    const ended = assert.rejects(reading, /The thread of the accounts file has ended/);
    await Promise.resolve();
    if (isClosed) await thread.close();
    await ended;
  }
  assert.equal(await wordsOf(database), "");
});

test("what is posted is flushed within 100 ms, and nothing more is admitted while that takes longer", async () => {
  const flushes: (() => void)[] = [];
  const log = new LogFlusher(() => new Promise((resolve) => flushes.push(resolve)), assert.ifError);
  await log.admit();
  log.note();
  while (flushes.length < 1) await pause(1);
  log.note();
  await pause(100);
  let isAdmitted = false;
  const admitted = log.admit().then(() => {
    isAdmitted = true;
  });
  await pause(20);
  assert.equal(isAdmitted, false, "a commit of 100 ms ago is not on disk");
  flushes[0]?.();
  while (flushes.length < 2) await pause(1);
  assert.equal(isAdmitted, false, "nor is the next one");
  flushes[1]?.();
  await admitted;
});

test("a flush that fails is tried again without another commit", async (scope) => {
  const { database } = await wordsIn(scope);
  const errors: string[] = [];
  let flushes = 0;
  const sync = async (): Promise<void> => {
    flushes += 1;
    if (flushes === 1) throw new Error("EIO");
  };
  const onError = (thrown: unknown): unknown => errors.push(String(thrown));
  const flushed = new FlushedDatabase(database, { ...flush, isEachFlushed: false, onError, sync });
  await flushed.post(insert("posted"));
  while (flushes < 2) await pause(20);
  assert.deepEqual(errors, ["Error: EIO"]);
});

test("concurrent changes share a flush; one whose flush fails may be on disk", async (scope) => {
  const { database } = await wordsIn(scope);
  let flushes = 0;
  let fails = false;
  const sync = async (): Promise<void> => {
    flushes += 1;
    await pause(5);
    if (fails) throw new Error("EIO");
  };
  const flushed = new FlushedDatabase(database, { ...flush, isEachFlushed: true, sync });
  await Promise.all(Array.from({ length: 20 }, (_, n) => flushed.post(insert(String(n)))));
  assert.ok(flushes <= 2, `${flushes} flushes`);
  fails = true;
  await assert.rejects(flushed.run(insert("last")), isOutcomeUnknown);
});
