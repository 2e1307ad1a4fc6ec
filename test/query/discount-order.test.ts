/** The order of discounts, and drops of a price, that are equal once rounded, compared with exact fractions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createCustomer } from "../support/accounts.ts";
import { Chance } from "../support/chance.ts";
import { fetchListings, type ServedListing } from "../support/http/paging.ts";
import { type CarRow, feedsOf, serveFeeds } from "../support/lakes/served-feeds.ts";
import { fileScope } from "../support/scope.ts";

const chance = new Chance(20261125);
const cars: readonly CarRow[] = Array.from({ length: 120 }, (_, index): CarRow => {
  const msrp = chance.integer(30_000, 30_200);
  if (index % 10 === 0) return { make: "Kia", ...(index % 20 === 0 ? { msrp } : { price: msrp }) };
  // At most 0.00005 from each other, and some far above MSRP.
  const price = index === 11 ? 40 * msrp : Math.round(msrp * 0.9) + chance.integer(-1, 1);
  return { make: "Kia", msrp, price };
});
const client = await serveFeeds(fileScope, feedsOf(cars), feedsOf(cars));

/** Compares price / MSRP of two listings exactly. */
const compareRatios = (one: ServedListing, other: ServedListing): number =>
  Number(one.price) * Number(other.msrp) - Number(other.price) * Number(one.msrp);

const isKnown = ({ discount_from_msrp: discount }: ServedListing): boolean =>
  discount !== null && discount !== undefined;

for (const view of ["", "&snapshot_date=2026-11-18"])
  for (const [sort, direction] of [
    ["discount", 1],
    ["-discount", -1],
  ] as const)
    test(`sort=${sort}${view} orders by the discount before it is rounded, in pages and exports`, async () => {
      const query = `sort=${sort}${view}&fields=id,price,msrp,discount_from_msrp`;
      const found = await fetchListings(client, query, 17);
      const known = found.filter(isKnown);
      assert.deepEqual([found.length, known.length, found.slice(known.length).some(isKnown)], [120, 108, false]);
      const pairs = known.slice(1).map((listing, index) => [known[index] ?? listing, listing] as const);
      for (const [one, other] of pairs)
        assert.ok(direction * compareRatios(one, other) <= 0, JSON.stringify([one, other]));
      const roundedTies = pairs.filter(
        ([one, other]) => one.discount_from_msrp === other.discount_from_msrp && compareRatios(one, other) !== 0,
      );
      assert.ok(roundedTies.length > 10);
      const { bearer } = await createCustomer(client.accounts, { scopes: ["export.read"] });
      const { body } = await client.get(`/v1/exports?format=csv&${query}`, bearer);
      const ids = String(body)
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.split(",")[0]);
      assert.deepEqual(
        ids,
        found.map(({ id }) => id),
      );
    });

test("a drop of a price in percent is compared before it is rounded", async () => {
  const saabs = (prices: readonly number[]) => feedsOf(prices.map((price): CarRow => ({ make: "Saab", price })));
  const drops = await serveFeeds(fileScope, saabs([25_000, 25_000, 30_000]), saabs([23_751, 23_750, 20_000]));
  const found = async (percent: number) => (await fetchListings(drops, `min_price_drop_percent=${percent}`, 10)).length;
  const bounds = [4.99, 5, 5.01, 33.33, 33.34];
  assert.deepEqual(await Promise.all(bounds.map(found)), [3, 2, 1, 1, 0]);
});
