import assert from "node:assert/strict";
import { test } from "node:test";
import { textIn } from "../../../src/base/json.ts";
import { ask, lakeOf } from "../../support/lakes/lakes.ts";
import { type ServedListing, servedPage, walk } from "../../support/paging.ts";
import { wholeFile } from "../../support/scope.ts";
import { serviceOf } from "../../support/service.ts";

const { lake } = await lakeOf(wholeFile);
const client = await serviceOf(wholeFile, lake);

/** All listings in the partition's own order, which settles ties. */
const listings: readonly ServedListing[] = await (async () => {
  const order = await ask(lake, "SELECT id FROM active ORDER BY make, model, year, trim, id");
  const served = new Map((await walk(client, "", 100)).map((listing) => [listing.id, listing]));
  return order.map((row) => {
    const listing = served.get(textIn(row, "id"));
    assert.ok(listing);
    return listing;
  });
})();

type Key = (listing: ServedListing) => number | string | null | undefined;

/** Listings in the order of a key; unknown ones last, ties as they were. */
function inOrder(key: Key, direction: 1 | -1): readonly string[] {
  const compared = (one: ServedListing, other: ServedListing): number => {
    const [left, right] = [key(one) ?? null, key(other) ?? null];
    if (left === right) return 0;
    if (left === null) return 1;
    if (right === null) return -1;
    return (left < right ? -1 : 1) * direction;
  };
  return [...listings].sort(compared).map(({ id }) => id);
}

const keys: Readonly<Record<string, Key>> = {
  days_on_market: (listing) => listing.days_on_market,
  listed_at: (listing) => listing.listed_at,
  price: (listing) => listing.price,
  miles: (listing) => listing.miles,
  msrp: (listing) => listing.msrp,
  discount: (listing) => listing.discount_from_msrp,
};

const ids = (found: readonly ServedListing[]): readonly string[] => found.map(({ id }) => id);

test("the sample has what orders can differ by: unknown values and ties", () => {
  for (const [sort, key] of Object.entries(keys)) {
    const known = listings.map(key).filter((value) => value !== null && value !== undefined);
    assert.ok(new Set(known).size > 1, `${sort}: distinct values`);
    assert.ok(new Set(known).size < known.length, `${sort}: ties`);
  }
  for (const sort of ["price", "msrp", "discount"])
    assert.ok(listings.map((listing) => keys[sort]?.(listing)).includes(null), `${sort}: unknown values`);
});

for (const [sort, key] of Object.entries(keys)) {
  for (const [name, direction] of [
    [sort, 1],
    [`-${sort}`, -1],
  ] as const) {
    test(`paging through sort=${name} gives each listing once, in its order, unknown ones last, ties stable`, async () => {
      const expected = inOrder(key, direction);
      const query = `sort=${name}&fields=id`;
      const [ones, sevens, hundreds] = await Promise.all([
        walk(client, query, 1, 30),
        walk(client, query, 7),
        walk(client, query, 100),
      ]);
      assert.deepEqual(ids(hundreds), expected);
      assert.deepEqual(ids(sevens), expected);
      assert.deepEqual(ids(ones), expected.slice(0, 30));
    });
  }
}

test("without a sort, the newest on the market come first", async () => {
  assert.deepEqual(
    ids(await walk(client, "fields=id", 100)),
    inOrder((listing) => listing.days_on_market, 1),
  );
});

test("a sort is the same in any case, and the same when it is asked for again", async () => {
  const expected = ids(await walk(client, "sort=-price", 100));
  for (const sort of ["-price", "-PRICE", "-Price"])
    assert.deepEqual(ids(await walk(client, `sort=${sort}`, 100)), expected);
});

test("filters and pages go together: the total counts the matches only", async () => {
  const expected = inOrder((listing) => listing.price, 1).filter(
    (id) => listings.find((listing) => listing.id === id)?.make === "Toyota",
  );
  assert.ok(expected.length > 14);
  assert.deepEqual(ids(await walk(client, "make=toyota&sort=price", 7)), expected);
});

const total = listings.length;
const pages: readonly (readonly [limit: number, offset: number, found: number, next: number | null])[] = [
  [50, 0, 50, 50],
  [100, 0, 100, 100],
  [100, 200, total - 200, null],
  [1, total - 2, 1, total - 1],
  [1, total - 1, 1, null],
  [2, total - 1, 1, null],
  [5, total - 5, 5, null],
  [10, total, 0, null],
  [10, total + 1000, 0, null],
  [100, 9_900, 0, null],
  [100, 9_901, 0, null],
  [100, 2_147_483_647, 0, null],
];

for (const [limit, offset, found, next] of pages) {
  test(`limit=${limit} from offset=${offset} finds ${found} of ${total}, and goes on at ${next}`, async () => {
    const { data, pagination } = await servedPage(client, "", limit, offset);
    assert.deepEqual(pagination, { limit, offset, total, next_offset: next });
    assert.equal(data.length, found);
  });
}

test("a page is 50 listings from the first unless asked otherwise", async () => {
  const { data, pagination } = await client.found("searchListings", "/v1/listings");
  assert.deepEqual(pagination, { limit: 50, offset: 0, total, next_offset: 50 });
  assert.equal(data.length, 50);
});

test("a search that nothing matches is answered, with nothing", async () => {
  const { data, pagination } = await client.found("searchListings", "/v1/listings?make=Nobody");
  assert.deepEqual(data, []);
  assert.deepEqual(pagination, { limit: 50, offset: 0, total: 0, next_offset: null });
});

test("many searches at once are answered as one by one", async () => {
  const queries = ["sort=price", "sort=-miles", "make=ford", "state=ca", "year=2026", "sort=discount&max_price=40000"];
  const alone = new Map<string, unknown>();
  for (const query of queries) alone.set(query, await servedPage(client, query, 20, 0));
  const together = Array.from({ length: 60 }, (_, index) => queries[index % queries.length] ?? "");
  await Promise.all(
    together.map(async (query) => assert.deepEqual(await servedPage(client, query, 20, 0), alone.get(query))),
  );
});
