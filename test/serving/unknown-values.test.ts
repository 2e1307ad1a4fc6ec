/** Where unknown values are in sorted pages, with the index and without. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { listingRow } from "../../src/lake/served-columns.ts";
import type { FixedSort } from "../../src/listing/sorts.ts";
import { dealerIdOf, type FeedRow, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { openVersion } from "../support/versions.ts";

const day = "2026-11-18";
const dealer_id = dealerIdOf(1);
/** Cars with unknown miles before and after such with 0 and 1, in any order. */
const inventory: readonly FeedRow[] = Array.from({ length: 12 }, (_, n) => ({
  vin: vinOf(n),
  dealer_id,
  make: "Kia",
  year: 2020,
  price: 10_000 + n,
  ...(n % 3 === 0 ? {} : { miles: (n % 3) - 1 }),
}));
const feeds = await writeFeeds(await temporaryFolder(fileScope), day, {
  dealers: [{ dealer_id, name: "Cars", type: "independent", postal_code: "90001" }],
  inventory,
});
const { lake } = await createLake(fileScope, feeds);

/** The numbers of cars with each value of miles, in the order in which a page has them. */
const expected: Readonly<Partial<Record<FixedSort, readonly (number | null)[]>>> = {
  miles: [0, 0, 0, 0, 1, 1, 1, 1, null, null, null, null],
  "-miles": [1, 1, 1, 1, 0, 0, 0, 0, null, null, null, null],
};

for (const hasServingFiles of [true, false])
  test(`unknown values are after 0 in both directions of a sort, ${hasServingFiles ? "with" : "without"} the index`, async (scope) => {
    const version = await openVersion(scope, lake, { hasServingFiles });
    const listings = version.activeOn(day);
    for (const [sort, miles] of Object.entries(expected) as [FixedSort, readonly (number | null)[]][]) {
      for (const filters of [[], [{ kind: "anyOf", attribute: "make", values: ["Kia"] }]] as const) {
        const { keys } = await listings.findPage({ filters, order: { by: "sort", sort }, limit: 12, offset: 0 });
        const read = await listings.read(keys, ["miles"], (row) => listingRow.decode(row, ["miles"]).miles);
        assert.deepEqual(read, miles, `${sort}, ${filters.length} filters`);
      }
    }
  });
