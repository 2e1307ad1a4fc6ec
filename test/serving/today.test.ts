/** Pages of the published day from the index of today. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ColumnCache, type KeptArrays } from "../../src/serving/index/segment.ts";
import { csvOf, dealerIdOf, vinOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const feeds = await generateFeeds(fileScope, { listings: 800, days: 1 });
/** Two dealers at one place, far from all others: in the order of positions, the cars of the second one come first. */
const place = { latitude: 13.47, longitude: 144.75 };
const neighbours = [dealerIdOf(1), dealerIdOf(2)];
const ownCars = neighbours.map((dealer, n) =>
  Array.from({ length: 20 }, (_, car) => ({
    vin: vinOf(20 * n + car),
    dealer_id: dealer,
    make: ["Volvo", "Acura"][n] ?? "",
  })),
);
await writeFeedFiles(feeds, "2026-11-19", {
  "dealers_2.csv": csvOf(
    "dealers",
    neighbours.map((dealer) => ({ dealer_id: dealer, name: dealer, ...place })),
  ),
  "inventory_2.csv": csvOf("inventory", ownCars.flat()),
});
const { lake } = await createLake(fileScope, feeds);

const indexed = await openVersion(fileScope, lake);
const parquet = await openVersion(fileScope, lake, { hasServingFiles: false });

const filters = [
  "postal_code=77001&radius=500",
  "inventory_type=used",
  "inventory_type=used&min_price=15000&postal_code=90001",
  "make=toyota,honda,ford&exclude_state=TX",
  "features=apple_carplay&postal_code=60601",
  "exclude_keywords=branded&state=TX,CA,FL,NY",
  "drivetrain=AWD&max_mileage=60000",
  "state=TX,CA,FL,NY&make=honda",
  `dealer_id=${neighbours.join()}`,
  `dealer_id=${neighbours.join()},${dealerIdOf(99)}&make=volvo,honda`,
  "base_exterior_color=black,white,gray,silver,blue,red,green,brown,beige,gold&max_price=40000",
];

test("a page of the published day from the index equals the page from Parquet", async () => {
  const pages = [
    [0, 1],
    [3, 10],
    [40, 5],
    [100_000, 5],
  ] as const;
  for (const filter of filters)
    for (const sort of ["price", "-price", "-listed_at", "miles", "discount", "distance"])
      for (const [offset, limit] of pages) {
        if (sort === "distance" && !filter.includes("postal_code")) continue;
        const path = `/v1/listings?${filter}&sort=${sort}&offset=${offset}&limit=${limit}`;
        assert.deepEqual(await answerPath(indexed, path), await answerPath(parquet, path), path);
      }
});

test("a page by distance has the listings of all dealers at the same place", async () => {
  const path = `/v1/listings?latitude=${place.latitude}&longitude=${place.longitude}&sort=distance&limit=6`;
  const answer = await answerPath(indexed, path);
  assert.deepEqual(answer, await answerPath(parquet, path));
  const { data } = answer as { readonly data: readonly { readonly make: string }[] };
  assert.deepEqual(
    data.map(({ make }) => make),
    Array(6).fill("Acura"),
  );
});

test("a page of a dealer's listings, and one of all, equal those from Parquet", async () => {
  const dealers = indexed.dealers.dealers.slice(0, 40);
  assert.equal(dealers.length, 40);
  for (const filter of ["", ...dealers.map(({ id }) => `&dealer_id=${id}`)])
    for (const page of ["limit=50", "limit=7&offset=3", "limit=3&offset=100000"]) {
      const path = `/v1/listings?${page}${filter}`;
      assert.deepEqual(await answerPath(indexed, path), await answerPath(parquet, path), path);
    }
});

test("columns whose reading failed are read again", async () => {
  const columns = new ColumnCache();
  const kept = (load: KeptArrays["load"]): KeptArrays => ({
    name: "column price",
    bytes: 4,
    load,
    of: () => kept(load),
  });
  await assert.rejects(
    async () =>
      columns.get(
        "a",
        kept(() => Promise.reject(new Error("read"))),
      ),
    /read/,
  );
  assert.deepEqual(
    await columns.get(
      "a",
      kept(async () => [Int32Array.of(1)]),
    ),
    [Int32Array.of(1)],
  );
});

test("answers are the same where columns have little memory or none, and what is kept of them stays within it", async () => {
  for (const bytes of [1, 20_000]) {
    const columns = new ColumnCache(bytes);
    const version = await openVersion(fileScope, lake, { columns });
    for (const filter of filters.slice(0, 5)) {
      for (const path of [
        `/v1/listings?${filter}&sort=price&limit=5`,
        `/v1/facets?${filter}&facets=make,features,price`,
      ])
        assert.deepEqual(await answerPath(version, path), await answerPath(parquet, path), path);
      assert.ok(columns.bytes <= bytes, `${columns.bytes} of ${bytes} bytes`);
    }
  }
});
