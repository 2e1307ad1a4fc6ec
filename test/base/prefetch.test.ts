/** Prefetching from an asynchronous iterator. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { prefetch } from "../../src/base/concurrency.ts";

/** Yields 1 to 3 and records its steps; throws at `failsAt`. */
async function* countToThree(notes: string[], failsAt?: number): AsyncGenerator<number, void, undefined> {
  try {
    for (const number of [1, 2, 3]) {
      notes.push(`makes ${number}`);
      if (number === failsAt) throw new Error(`no ${number}`);
      yield number;
    }
  } finally {
    notes.push("is done");
  }
}

test("prefetch produces the next item while the current one is processed", async () => {
  const notes: string[] = [];
  for await (const number of prefetch(countToThree(notes))) notes.push(`uses ${number}`);
  assert.deepEqual(notes, ["makes 1", "makes 2", "uses 1", "makes 3", "uses 2", "is done", "uses 3"]);
});

test("an error is thrown when its item is due", async () => {
  const used: number[] = [];
  await assert.rejects(
    async () => {
      for await (const number of prefetch(countToThree([], 3))) used.push(number);
    },
    { message: "no 3" },
  );
  assert.deepEqual(used, [1, 2]);
});

test("leaving the loop early closes the source", async () => {
  const notes: string[] = [];
  for await (const number of prefetch(countToThree(notes))) if (number === 1) break;
  assert.deepEqual(notes, ["makes 1", "makes 2", "is done"]);
});
