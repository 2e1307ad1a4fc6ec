/** The choice of a page from unsorted keys. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isObject } from "../../src/base/json.ts";
import { choosePage, type FillKeys, type OrderedMatches } from "../../src/serving/index/find-page.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { answerPath, openVersion } from "../support/versions.ts";

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

/** Matches of a segment, with the ranks of their builds and their ids. */
interface Part extends OrderedMatches {
  readonly idOf: (position: number) => number;
}

/** Matches of several segments: few keys and ranks, for ties, and distinct ids, in order of rank within a segment. */
const segments = fc
  .array(
    fc.array(fc.tuple(fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(Infinity)), fc.nat({ max: 3 })), {
      maxLength: 900,
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((drawn) =>
    drawn.map((rows, index) => {
      const sorted = rows.toSorted(([, one], [, other]) => one - other);
      const ids = sorted.map((_, n) => ((n * drawn.length + index) * 7919) % 1_000_003);
      return { keys: sorted.map(([key]) => key), ranks: sorted.map(([, rank]) => rank), ids };
    }),
  );

const order = (one: number, other: number): number => (one === other ? 0 : one < other ? -1 : 1);

function plainPage(keys: readonly number[], offset: number, limit: number): readonly number[] {
  const pairs = keys.map((key, position) => [key, position] as const);
  const sorted = pairs.sort(([one, first], [other, second]) => order(one, other) || first - second);
  return sorted.slice(offset, offset + limit).map(([, position]) => position);
}

/** Chooses a page of one segment, whose ties go by position. */
async function positionsOf(keys: ArrayLike<number>, positions: Int32Array, offset: number, limit: number) {
  const of = { positions, fill: fillFrom(keys), rankOf: (position: number): number => position };
  const page = await choosePage([of], offset, offset + limit, () => assert.fail("positions do not tie"));
  return page.map(({ position }) => position);
}

const numbers = { seed: 20261122, numRuns: 1000 };

test("a page equals that of sorting all matches by key and position", async () => {
  await fc.assert(
    fc.asyncProperty(matches, fc.nat({ max: 400 }), fc.integer({ min: 1, max: 100 }), async (drawn, offset, limit) => {
      const page = await positionsOf(drawn.keys, drawn.positions, offset, limit);
      assert.deepEqual(page, plainPage(drawn.keys, offset, limit));
    }),
    numbers,
  );
});

test("a page of several segments equals that of sorting all their matches by key, rank and id", async () => {
  await fc.assert(
    fc.asyncProperty(
      segments,
      fc.nat({ max: 3000 }),
      fc.integer({ min: 1, max: 100 }),
      async (drawn, offset, limit) => {
        const parts = drawn.map(
          ({ keys, ranks, ids }): Part => ({
            positions: Int32Array.from(keys, (_, n) => n).reverse(),
            fill: fillFrom(keys),
            rankOf: (position) => ranks[position] ?? 0,
            idOf: (position) => ids[position] ?? 0,
          }),
        );
        const page = await choosePage(parts, offset, offset + limit, (one, other) =>
          order(one.of.idOf(one.position), other.of.idOf(other.position)),
        );
        const all = drawn.flatMap(({ keys, ranks, ids }) =>
          keys.map((key, n) => [key, ranks[n] ?? 0, ids[n] ?? 0] as const),
        );
        const sorted = all.sort(
          ([oneKey, oneRank, oneId], [key, rank, id]) => order(oneKey, key) || oneRank - rank || oneId - id,
        );
        assert.deepEqual(
          page.map(({ of, position }) => of.idOf(position)),
          sorted.slice(offset, offset + limit).map(([, , id]) => id),
        );
      },
    ),
    numbers,
  );
});

test("a page is found at any offset of a million matches", async () => {
  const keys = Float64Array.from({ length: 1_000_000 }, (_, n) => (n * 7919) % 1_000_003);
  const positions = Int32Array.from(keys, (_, n) => n);
  const inverse = [...keys.keys()].sort((one, other) => (keys[one] ?? 0) - (keys[other] ?? 0));
  for (const offset of [0, 1, 4_095, 499_999, 999_990, 1_000_000])
    assert.deepEqual(await positionsOf(keys, positions, offset, 50), inverse.slice(offset, offset + 50));
});

test("between two turns of the event loop, a page of millions of matches takes the keys of some thousands", async () => {
  const count = 4_000_000;
  const keyCount = 997;
  const matchesPerKey = Math.ceil(count / keyCount);
  let most = 0;
  const of: OrderedMatches = {
    positions: Int32Array.from({ length: count }, (_, n) => n),
    fill: (keys, positions) => {
      most = Math.max(most, positions.length);
      for (let n = 0; n < positions.length; n += 1) keys[n] = (positions[n] as number) % keyCount;
    },
    rankOf: (position) => position,
  };
  const offset = 2 * matchesPerKey + 2000;
  const page = await choosePage([of], offset, offset + 50);
  assert.deepEqual(
    page.map(({ position }) => position),
    Array.from({ length: 50 }, (_, n) => 2 + (2000 + n) * keyCount),
  );
  assert.ok(most <= 16_384, `${most} keys at once`);
});

test("pages around the last of the rows that an index keeps in order have all their rows", async (t) => {
  const feeds = await temporaryFolder(t);
  const dealer_id = dealerIdOf(1);
  const inventory = Array.from({ length: 2510 }, (_, n) => ({ vin: vinOf(n), dealer_id, make: "Kia", price: n + 1 }));
  await writeFeeds(feeds, "2026-11-18", { dealers: [{ dealer_id, name: "North" }], inventory });
  const { lake } = await createLake(t, feeds);
  const version = await openVersion(t, lake);
  for (const last of [2499, 2500, 2501]) {
    const body = await answerPath(version, `/v1/listings?sort=price&fields=price&limit=10&offset=${last - 10}`);
    const rows = isObject(body) && Array.isArray(body.data) ? body.data : [];
    const prices = rows.map((row) => (isObject(row) ? row.price : undefined));
    const expected = Array.from({ length: 10 }, (_, n) => last - 9 + n);
    assert.deepEqual(prices, expected, `until row ${last}`);
  }
});
