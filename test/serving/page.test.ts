/** The choice of a page from unsorted keys. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { choosePage, type FillKeys } from "../../src/serving/index/find-page.ts";

/** Keys by position, some of them equal or infinite. */
const matches = fc
  .array(
    fc.oneof(fc.integer({ min: -9, max: 60 }), fc.integer({ min: -(2 ** 42), max: 2 ** 42 }), fc.constant(Infinity)),
    { maxLength: 2400 },
  )
  .map((keys) => ({ keys, positions: Int32Array.from(keys, (_, n) => (n * 7919) % keys.length) }))
  .filter(({ positions }) => new Set(positions).size === positions.length);

const fillFrom =
  (known: ArrayLike<number>): FillKeys =>
  (keys, positions) =>
    positions.forEach((position, n) => {
      keys[n] = known[position] ?? Number.NaN;
    });

function plainPage(keys: readonly number[], offset: number, limit: number): readonly number[] {
  const pairs = keys.map((key, position) => [key, position] as const);
  const order = (one: number, other: number): number => (one === other ? 0 : one < other ? -1 : 1);
  const sorted = pairs.sort(([one, first], [other, second]) => order(one, other) || first - second);
  return sorted.slice(offset, offset + limit).map(([, position]) => position);
}

test("a page equals that of sorting all matches by key and position", async () => {
  const numbers = { seed: 20261122, numRuns: 1000 };
  await fc.assert(
    fc.asyncProperty(matches, fc.nat({ max: 400 }), fc.integer({ min: 1, max: 100 }), async (drawn, offset, limit) => {
      const page = await choosePage(drawn.positions, fillFrom(drawn.keys), offset, offset + limit);
      const chosen = page.map(({ position }) => position);
      assert.deepEqual(chosen, plainPage(drawn.keys, offset, limit));
    }),
    numbers,
  );
});

test("a page is found at any offset of a million matches", async () => {
  const keys = Float64Array.from({ length: 1_000_000 }, (_, n) => (n * 7919) % 1_000_003);
  const positions = Int32Array.from(keys, (_, n) => n);
  const inverse = [...keys.keys()].sort((one, other) => (keys[one] ?? 0) - (keys[other] ?? 0));
  for (const offset of [0, 1, 4_095, 499_999, 999_990, 1_000_000]) {
    const page = await choosePage(positions, fillFrom(keys), offset, offset + 50);
    assert.deepEqual(
      page.map(({ position }) => position),
      inverse.slice(offset, offset + 50),
    );
  }
});

test("a page of a million matches with equal keys is found in one scan of blocks", async () => {
  const positions = Int32Array.from({ length: 1_000_000 }, (_, n) => n);
  const filled: number[] = [];
  const fill: FillKeys = (keys, { length }) => {
    filled.push(length);
    keys.fill(7, 0, length);
  };
  const page = await choosePage(positions, fill, 2_000, 2_003);
  assert.deepEqual(
    page,
    [2_000, 2_001, 2_002].map((position) => ({ sortKey: 7, position })),
  );
  const [sampled = 0, ...blocks] = filled;
  assert.ok(sampled < 5_000 && Math.max(...blocks) <= 32_768, filled.join());
  assert.equal(
    blocks.reduce((sum, length) => sum + length, 0),
    1_000_000,
  );
});
