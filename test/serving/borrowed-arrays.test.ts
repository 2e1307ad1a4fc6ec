import assert from "node:assert/strict";
import { test } from "node:test";
import { BorrowedArrays } from "../../src/serving/index/borrowed-arrays.ts";

/** Takes arrays of some lengths for a request, and returns their memory. */
function take(lengths: readonly number[], isReleased: boolean): readonly ArrayBufferLike[] {
  const arrays = new BorrowedArrays();
  const taken = lengths.map((length) => {
    const array = arrays.take(length);
    assert.equal(array.length, length);
    return array.fill(7).buffer;
  });
  if (isReleased) arrays.release();
  return taken;
}

test("what a request releases is used by the next one, for arrays of about the same length", () => {
  const first = take([300_000, 300_000, 5], true);
  assert.equal(new Set(first).size, 3, "no array is taken twice");
  const next = take([299_999, 3, 300_001], true);
  assert.deepEqual(new Set(next), new Set(first));
  assert.ok(!first.includes(take([2_000_000], true)[0] ?? assert.fail()));
});

test("what is not released is in no other request", () => {
  const kept = take([1_000_000, 0, 1], false);
  for (const memory of take([1_000_000, 0, 1, 1_000_000], true)) assert.ok(!kept.includes(memory));
});

test("zeros are zeros, also in an array that was used", () => {
  take([70_000], true);
  const arrays = new BorrowedArrays();
  assert.ok(arrays.zeros(70_000).every((number) => number === 0));
  arrays.release();
});

test("no more than 64 MiB wait for the next request", () => {
  const lengths = Array.from({ length: 9 }, () => 2 ** 21);
  const first = take(lengths, true);
  const again = take(lengths, true).filter((memory) => first.includes(memory));
  // What other tests released is idle too.
  assert.ok(again.length <= 8 && again.length >= 6, String(again.length));
});
