/** The choice of a page from unsorted keys. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { choosePage, type KeyedChunk } from "../../src/serving/index/page.ts";

/** Keys of matches in parts, each with its position. */
const matches = fc
  .array(
    fc.array(fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 2 ** 26 - 1 })), { maxLength: 300 }),
    { maxLength: 8 },
  )
  .map((parts) => {
    let position = 0;
    return parts.map((keys): KeyedChunk => [Int32Array.from(keys), Int32Array.from(keys, () => (position += 3))]);
  });

function plainPage(parts: readonly KeyedChunk[], offset: number, limit: number): readonly number[] {
  const pairs = parts.flatMap(([keys, positions]) =>
    Array.from(keys, (key, index) => [key, positions[index] ?? 0] as const),
  );
  const sorted = pairs.sort(([one, first], [other, second]) => one - other || first - second);
  return sorted.slice(offset, offset + limit).map(([, position]) => position);
}

test("a page equals that of sorting all matches by key and position", () => {
  const numbers = { seed: 20261122, numRuns: 2000 };
  fc.assert(
    fc.property(matches, fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 100 }), (parts, offset, limit) => {
      assert.deepEqual(choosePage(parts, offset, limit), plainPage(parts, offset, limit));
    }),
    numbers,
  );
});

test("a page is found at any offset of a million matches", () => {
  const keys = Int32Array.from({ length: 1_000_000 }, (_, n) => (n * 7919) % 1_000_003);
  const parts: readonly KeyedChunk[] = [[keys, Int32Array.from(keys, (_, n) => n)]];
  const inverse = [...keys.keys()].sort((one, other) => (keys[one] ?? 0) - (keys[other] ?? 0));
  for (const offset of [0, 1, 4_095, 499_999, 999_990, 1_000_000])
    assert.deepEqual(choosePage(parts, offset, 50), inverse.slice(offset, offset + 50));
});
