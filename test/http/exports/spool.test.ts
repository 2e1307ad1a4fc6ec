/** The spool of exports: which files it keeps, who goes next, who releases a writer, and who is refused. */
import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { Abandoned, Job } from "../../../src/db/job.ts";
import { Spool } from "../../../src/http/exports/spool.ts";
import { WriterQueue } from "../../../src/http/exports/writer-queue.ts";
import { eventually } from "../../support/command-line.ts";
import { temporaryFolder } from "../../support/lakes/lakes.ts";

const filesOf = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true })).filter((name) => name.endsWith("/export"));

/** Exports of accounts, named `<account><number>`, that are written until the test ends them. */
function openQueue(writtenMax: number, waitingMax = 16) {
  const queue = new WriterQueue({ writtenMax, waitingMax });
  const ends = new Map<string, () => void>();
  const refused: string[] = [];
  const jobs = new Map<string, Job>();
  const add = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const job = new Job(name.slice(0, 1));
      jobs.set(name, job);
      const work = (signal: AbortSignal): Promise<void> =>
        new Promise((resolve, reject) => {
          ends.set(name, resolve);
          signal.addEventListener("abort", () => {
            ends.delete(name);
            reject(signal.reason);
          });
        });
      queue.run(job, work).catch(() => refused.push(name));
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
  return { add, end, leave, refused, writing: () => [...ends.keys()].sort() };
}

test("an account alone has all writers; the account with the fewest goes next, and in the order of arrival", async () => {
  const { add, end, writing } = openQueue(2);
  await add("a1", "a2", "a3");
  assert.deepEqual(writing(), ["a1", "a2"]);
  await end("a1");
  assert.deepEqual(writing(), ["a2", "a3"]);
});

test("while another account waits, an account keeps half of the writers: its last export begins again later", async () => {
  const { add, end, writing, refused } = openQueue(2);
  await add("a1", "a2", "b1");
  assert.deepEqual(writing(), ["a1", "b1"]);
  await add("c1");
  assert.deepEqual(writing(), ["a1", "b1"]);
  await end("a1");
  assert.deepEqual(writing(), ["a2", "b1"]);
  await end("b1");
  assert.deepEqual(writing(), ["a2", "c1"]);
  assert.deepEqual(refused, []);
});

test("an export that has begun again twice keeps its writer, in place of another of its account", async () => {
  const { add, end, writing } = openQueue(2);
  await add("a1", "a2");
  for (const other of ["b1", "b2"]) {
    await add(other);
    assert.deepEqual(writing(), ["a1", other]);
    await end(other);
    assert.deepEqual(writing(), ["a1", "a2"]);
  }
  await add("b3");
  assert.deepEqual(writing(), ["a2", "b3"]);
  await end("a2");
  assert.deepEqual(writing(), ["a1", "b3"]);
});

test("exports that have begun again twice do not hold all writers while another account waits", async () => {
  const { add, end, writing } = openQueue(2);
  await add("a1", "a2");
  for (const other of ["b1", "b2", "b3", "b4"]) {
    await add(other);
    await end(other);
  }
  assert.deepEqual(writing(), ["a2"]);
  await add("b5");
  assert.deepEqual(writing(), ["a2", "b5"]);
  await end("a2");
  assert.deepEqual(writing(), ["a1", "b5"]);
});

test("a single writer is never taken away", async () => {
  const { add, end, writing } = openQueue(1);
  await add("a1", "a2", "b1");
  assert.deepEqual(writing(), ["a1"]);
  await end("a1");
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
    const file = await full.open({ key, job: new Job("a"), onUnfinished: () => {} }, async (path) => {
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

test("a file is removed at its age; one in use when it is released", async (t) => {
  const folder = await temporaryFolder(t);
  const short = new Spool({ folder, bytesMax: 1e6, writtenMax: 1, waitingMax: 1, ageMs: 100 });
  const open = (key: string): Promise<{ release(): void }> =>
    short.open({ key, job: new Job("a"), onUnfinished: () => {} }, async (path) => {
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

test("rows that an export lost with its writer cost nothing while it waits again", async (t) => {
  const limits = { folder: await temporaryFolder(t), bytesMax: 1e6, writtenMax: 2, waitingMax: 2, ageMs: 60_000 };
  const spool = new Spool(limits);
  const unfinished: number[] = [];
  const open = (name: string): Job => {
    const job = new Job(name.slice(0, 1));
    const request = { key: name, job, onUnfinished: (rows: number) => void unfinished.push(rows) };
    const opened = spool.open(
      request,
      (_, { signal, onRows }) =>
        new Promise((_resolve, reject) => {
          onRows(1000);
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    );
    opened.catch(() => undefined);
    return job;
  };
  open("a1");
  const second = open("a2");
  await sleep(20);
  const other = open("b1");
  await sleep(20);
  second.abort(new Abandoned("gone"));
  other.abort(new Abandoned("gone"));
  await eventually("both have ended", async () => unfinished.length === 2);
  assert.deepEqual(unfinished, [0, 1000]);
  await spool.close();
});
