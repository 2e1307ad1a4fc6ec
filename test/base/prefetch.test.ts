import assert from "node:assert/strict";
import { test } from "node:test";
import { prefetch } from "../../src/base/prefetch.ts";

/** Counts to three, noting what it does; fails at a number where that is asked for. */
async function* counting(notes: string[], failsAt?: number): AsyncGenerator<number, void, undefined> {
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

test("the next item is under way while one is being used", async () => {
  const notes: string[] = [];
  for await (const number of prefetch(counting(notes))) notes.push(`uses ${number}`);
  assert.deepEqual(notes, ["makes 1", "makes 2", "uses 1", "makes 3", "uses 2", "is done", "uses 3"]);
});

test("a failure is told when it is its turn", async () => {
  const used: number[] = [];
  await assert.rejects(
    async () => {
      for await (const number of prefetch(counting([], 3))) used.push(number);
    },
    { message: "no 3" },
  );
  assert.deepEqual(used, [1, 2]);
});

test("whoever stops early ends the source", async () => {
  const notes: string[] = [];
  for await (const number of prefetch(counting(notes))) if (number === 1) break;
  assert.deepEqual(notes, ["makes 1", "makes 2", "is done"]);
});
