/** Operation `searchListings`: sorts and pages. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { textIn } from "../../../src/base/json.ts";
import { fetchListings, fetchPage, type ServedListing } from "../../support/http/paging.ts";
import { sampleService } from "../../support/http/service.ts";
import { queryLake } from "../../support/lakes/lakes.ts";

const { lake, client } = await sampleService();

/** All listings in the partition's order, which settles ties. */
const listings: readonly ServedListing[] = await (async () => {
  const order = await queryLake(lake, "SELECT id FROM active ORDER BY make, model, year, trim, id");
  const served = new Map((await fetchListings(client, "", 100)).map((listing) => [listing.id, listing]));
  return order.map((row) => {
    const listing = served.get(textIn(row, "id"));
    assert.ok(listing);
    return listing;
  });
})();

type Key = (listing: ServedListing) => number | string | null | undefined;

/** Returns ids in the order of a key: unknown values last, ties in the partition's order. */
function inOrder(key: Key, direction: 1 | -1): readonly string[] {
  const compared = (one: ServedListing, other: ServedListing): number => {
    const left = key(one) ?? null;
    const right = key(other) ?? null;
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
  discount: ({ price, msrp, discount_from_msrp: discount }) => (discount == null ? null : Number(price) / Number(msrp)),
};

const ids = (found: readonly ServedListing[]): readonly string[] => found.map(({ id }) => id);

test("the sample has unknown values and ties, so that sorts are tested", () => {
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
    test(`paging through sort=${name} returns each listing once, in order, unknown values last, ties stable`, async () => {
      const expected = inOrder(key, direction);
      const query = `sort=${name}&fields=id`;
      const [ones, sevens, hundreds] = await Promise.all([
        fetchListings(client, query, 1, 30),
        fetchListings(client, query, 7),
        fetchListings(client, query, 100),
      ]);
      assert.deepEqual(ids(hundreds), expected);
      assert.deepEqual(ids(sevens), expected);
      assert.deepEqual(ids(ones), expected.slice(0, 30));
    });
  }
}

test("without a sort, the newest on the market come first", async () => {
  assert.deepEqual(
    ids(await fetchListings(client, "fields=id", 100)),
    inOrder((listing) => listing.days_on_market, 1),
  );
});

test("a sort is case-insensitive and repeatable", async () => {
  const expected = ids(await fetchListings(client, "sort=-price", 100));
  for (const sort of ["-price", "-PRICE", "-Price"])
    assert.deepEqual(ids(await fetchListings(client, `sort=${sort}`, 100)), expected);
});

test("filters and pages combine: the total counts only the matches", async () => {
  const expected = inOrder((listing) => listing.price, 1).filter(
    (id) => listings.find((listing) => listing.id === id)?.make === "Toyota",
  );
  assert.ok(expected.length > 14);
  assert.deepEqual(ids(await fetchListings(client, "make=toyota&sort=price", 7)), expected);
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
  test(`limit=${limit}&offset=${offset} returns ${found} of ${total} listings, and next_offset ${next}`, async () => {
    const { data, pagination } = await fetchPage(client, "", limit, offset);
    const { next_cursor, ...position } = pagination;
    assert.deepEqual(position, { limit, offset, total, next_offset: next });
    assert.equal(next_cursor === null, next === null);
    assert.equal(data.length, found);
  });
}

test("a page has 50 listings from the first by default", async () => {
  const { data, pagination, meta } = await client.getBody("searchListings", "/v1/listings");
  const { next_cursor: _, ...position } = pagination;
  assert.deepEqual(position, { limit: 50, offset: 0, total: 206, next_offset: 50 });
  assert.equal(data.length, 50);
  assert.deepEqual(meta, { as_of: "2026-11-19", currency: "USD", data_version: "2026-11-19.1" });
});

test("a search without a match returns an empty page", async () => {
  const { data, pagination } = await client.getBody("searchListings", "/v1/listings?make=Unknown");
  assert.deepEqual(data, []);
  assert.deepEqual(pagination, { limit: 50, offset: 0, total: 0, next_offset: null, next_cursor: null });
});

test("concurrent searches are answered as sequential ones", async () => {
  const queries = ["sort=price", "sort=-miles", "make=ford", "state=ca", "year=2026", "sort=discount&max_price=40000"];
  const alone = new Map<string, unknown>();
  for (const query of queries) alone.set(query, await fetchPage(client, query, 20, 0));
  const together = Array.from({ length: 60 }, (_, index) => queries[index % queries.length] ?? "");
  await Promise.all(
    together.map(async (query) => assert.deepEqual(await fetchPage(client, query, 20, 0), alone.get(query))),
  );
});
