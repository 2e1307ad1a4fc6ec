/** The spool of exports: which files it keeps, who goes next, who releases a writer, and who is refused; and the exports that agents have started. */
import assert from "node:assert/strict";
import { readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import type { Identity } from "../../../src/accounts/accounts.ts";
import { isNotFound } from "../../../src/base/files.ts";
import { refuse } from "../../../src/contract/errors.ts";
import { FairPool } from "../../../src/db/fair-pool.ts";
import { Abandoned, Job } from "../../../src/db/job.ts";
import { Spool } from "../../../src/http/exports/spool.ts";
import { type StartedExport, StartedExports } from "../../../src/http/exports/started-exports.ts";
import { eventually } from "../../support/command-line.ts";
import { temporaryFolder } from "../../support/lakes/lakes.ts";
import { onScopeEnd } from "../../support/scope.ts";

/** Returns the files of exports below a folder. Reads it again if one of its folders is removed meanwhile. */
async function filesOf(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true }).catch((thrown: unknown) => {
    if (isNotFound(thrown)) return undefined;
    throw thrown;
  });
  return names === undefined ? filesOf(folder) : names.filter((name) => name.endsWith("/export"));
}

/** Exports of accounts, named `<account><number>`, that are written until the test ends them. */
function openQueue(writtenMax: number, waitingMax = 16) {
  const writers = Array.from({ length: writtenMax }, (_, number) => number);
  const pool = new FairPool(writers, { waitingMax, refusal: () => new Error("too many") });
  const ends = new Map<string, () => void>();
  const refused: string[] = [];
  const jobs = new Map<string, Job>();
  const add = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const job = new Job(name.slice(0, 1));
      jobs.set(name, job);
      const work = (): Promise<void> =>
        new Promise((resolve, reject) => {
          ends.set(name, resolve);
          job.signal.addEventListener("abort", () => {
            ends.delete(name);
            reject(job.signal.reason);
          });
        });
      pool.use(job, work).catch(() => refused.push(name));
      await nextTurn();
    }
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    ends.delete(name);
    await nextTurn();
  };
  const leave = async (name: string): Promise<void> => {
    jobs.get(name)?.abort(new Abandoned("gone"));
    await nextTurn();
  };
  const join = (name: string, account: string): void => jobs.get(name)?.join(new Job(account));
  return { add, end, leave, join, refused, writing: () => [...ends.keys()].sort() };
}

test("an account has at most half of the writers, so that another account finds one free", async () => {
  const { add, end, writing } = openQueue(4);
  await add("a1", "a2", "a3");
  assert.deepEqual(writing(), ["a1", "a2"]);
  await add("b1", "b2");
  assert.deepEqual(writing(), ["a1", "a2", "b1"]);
  await end("a1");
  assert.deepEqual(writing(), ["a2", "b1", "b2"]);
  await end("a2");
  assert.deepEqual(writing(), ["a3", "b1", "b2"]);
});

test("the account that has used its writers least goes next", async () => {
  const { add, end, writing, refused } = openQueue(2);
  await add("a1", "a2", "b1", "a3", "c1");
  assert.deepEqual(writing(), ["a1", "b1"]);
  await end("a1");
  assert.deepEqual(writing(), ["b1", "c1"]);
  await end("b1");
  assert.deepEqual(writing(), ["a2", "c1"]);
  await end("c1");
  assert.deepEqual([writing(), refused], [["a2"], []]);
  await end("a2");
  assert.deepEqual(writing(), ["a3"]);
});

test("a single writer goes to one account after the other", async () => {
  const { add, end, writing } = openQueue(1);
  await add("a1", "a2", "b1");
  assert.deepEqual(writing(), ["a1"]);
  await end("a1");
  assert.deepEqual(writing(), ["b1"]);
  await end("b1");
  assert.deepEqual(writing(), ["a2"]);
});

test("beyond the queue, the account that waits most is refused, not the last to come", async () => {
  const { add, writing, refused } = openQueue(1, 3);
  await add("a1", "a2", "a3", "a4");
  assert.deepEqual([writing(), refused], [["a1"], []]);
  await add("b1");
  assert.deepEqual(refused, ["a4"]);
  await add("a5");
  assert.deepEqual(refused, ["a4", "a5"]);
});

test("an account that waits for the same as one that waits most is not refused for it", async () => {
  const { add, join, refused } = openQueue(1, 3);
  await add("a1", "a2", "a3", "a4");
  join("a4", "b");
  await add("c1");
  assert.deepEqual(refused, ["a3"]);
});

test("a job that is aborted leaves the queue or its writer", async () => {
  const { add, leave, writing, refused } = openQueue(1);
  await add("a1", "b1", "c1");
  await leave("b1");
  await leave("a1");
  assert.deepEqual([writing(), refused], [["c1"], ["b1", "a1"]]);
});

test("the least recently used export is removed when the spool exceeds its size", async (t) => {
  const folder = await temporaryFolder(t);
  const full = new Spool({ folder, bytesMax: 1000, writtenMax: 1, waitingMax: 1, ageMs: 60_000 });
  const written: string[] = [];
  const use = async (key: string): Promise<void> => {
    const file = await full.open({ key, job: new Job("a") }, async (path) => {
      written.push(key);
      await writeFile(path, Buffer.alloc(400));
      return { rows: 1, bytes: 400 };
    });
    file.release();
  };
  for (const key of ["a", "b", "a", "c", "a", "b"]) await use(key);
  await full.close();
  assert.deepEqual(written, ["a", "b", "c", "b"]);
});

test("files that an account uses leave half of the spool to another, whose export is not ended for them", async (t) => {
  const folder = await temporaryFolder(t);
  const spool = new Spool({ folder, bytesMax: 1000, writtenMax: 4, waitingMax: 4, ageMs: 60_000 });
  onScopeEnd(t, () => spool.close());
  const open = (account: string, key: string) =>
    spool.open({ key, job: new Job(account) }, async (path) => {
      await writeFile(path, Buffer.alloc(250));
      return { rows: 1, bytes: 250 };
    });
  const used = [await open("greedy", "a"), await open("greedy", "b")];
  for (const key of ["c", "d"]) await assert.rejects(open("greedy", key), { code: "data_unavailable" });
  await open("light", "e");
  await assert.rejects(open("light", "f"), { code: "data_unavailable" });
  for (const file of used) file.release();
  await open("greedy", "c");
});

test("a folder that was cleaned away is created again", async (t) => {
  const folder = join(await temporaryFolder(t), "spool");
  const spool = new Spool({ folder, bytesMax: 1000, writtenMax: 1, waitingMax: 1, ageMs: 60_000 });
  onScopeEnd(t, () => spool.close());
  for (const key of ["before", "after"]) {
    const { release } = await spool.open({ key, job: new Job("a") }, async (path) => {
      await writeFile(path, key);
      return { bytes: 5, rows: 1 };
    });
    release();
    await rm(folder, { recursive: true });
  }
});

test("a file in use stays while others are removed because the spool exceeds its size", async (t) => {
  const folder = await temporaryFolder(t);
  const spool = new Spool({ folder, bytesMax: 1000, writtenMax: 1, waitingMax: 1, ageMs: 60_000 });
  onScopeEnd(t, () => spool.close());
  const open = (key: string) =>
    spool.open({ key, job: new Job("a") }, async (path) => {
      await writeFile(path, Buffer.alloc(240));
      return { rows: 1, bytes: 240 };
    });
  const used = await open("used");
  for (const key of ["a", "b", "c", "d"]) (await open(key)).release();
  assert.ok((await readdir(dirname(used.path))).length === 1);
  assert.equal((await filesOf(folder)).length, 4);
});

test("a file is removed at its age; one in use when it is released", async (t) => {
  const folder = await temporaryFolder(t);
  const short = new Spool({ folder, bytesMax: 1e6, writtenMax: 1, waitingMax: 1, ageMs: 100 });
  const open = (key: string): Promise<{ release(): void }> =>
    short.open({ key, job: new Job("a") }, async (path) => {
      await writeFile(path, key);
      return { rows: 1, bytes: 1 };
    });
  const unused = await open("unused");
  const used = await open("used");
  unused.release();
  await eventually("the unused file is removed", async () => (await filesOf(folder)).length === 1);
  await sleep(150);
  assert.equal((await filesOf(folder)).length, 1);
  used.release();
  await eventually("the used file is removed", async () => (await filesOf(folder)).length === 0);
  await short.close();
});

test("of an account, 50 started exports are remembered, and those that are being written", async () => {
  const ends: (() => void)[] = [];
  const exports = new StartedExports(
    () => new Promise((_, reject) => ends.push(() => reject(refuse("overloaded", {})))),
  );
  const start = (accountId: string) => {
    const identity = { key: { accountId } } as Identity;
    const caller = { identity, requestId: "r", arrivedAtMs: 0 };
    return exports.start(
      { caller, queryString: "", log: pino({ level: "silent" }) },
      "https://cars.example/v1/exports",
    );
  };
  const isFound = ({ accountId, id }: StartedExport): boolean => exports.find(accountId, id) !== undefined;
  const other = start("b");
  const writing = start("a");
  const ended = start("a");
  const later = start("a");
  for (const end of ends.slice(0, 1).concat(ends.slice(2))) end();
  await nextTurn();
  assert.deepEqual(
    [writing, ended, other].map(({ state }) => state),
    ["writing", "failed", "failed"],
  );
  assert.equal(ended.refusal?.code, "overloaded");
  assert.notEqual(ended.changedAt, ended.startedAt);
  for (let count = 3; count < 50; count += 1) start("a");
  assert.deepEqual([writing, ended, later, other].map(isFound), [true, true, true, true]);
  start("a");
  assert.deepEqual([writing, ended, later, other].map(isFound), [true, false, true, true]);
});
