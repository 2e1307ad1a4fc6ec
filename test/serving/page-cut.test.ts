/** Pages that are found without fetching all matches: in a part of the sort order, or among the listings of one dealer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Session } from "../../src/db/duckdb.ts";
import { csvOf, dealerIdOf, vinOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const feeds = await generateFeeds(fileScope, { listings: 2000, days: 1 });
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

/** Cuts the sort order of every page that allows it, whatever the number of matches. */
const cutting = await openVersion(fileScope, lake, { fetchedMatches: -1 });
const fetching = await openVersion(fileScope, lake);

const filters = [
  "postal_code=77001&radius=500",
  "inventory_type=used",
  "inventory_type=used&min_price=15000&postal_code=90001",
  "make=toyota,honda,ford&exclude_state=TX",
  "features=apple_carplay&postal_code=60601",
  "exclude_keywords=branded&state=TX,CA,FL,NY",
  "drivetrain=AWD&max_mileage=60000",
];

test("a page from a cut sort order equals the page among all matches", async (t) => {
  const run = t.mock.method(Session.prototype, "vectors");
  for (const filter of filters)
    for (const sort of ["price", "-price", "-listed_at", "miles", "discount", "distance"])
      for (const [offset, limit] of [
        [0, 1],
        [3, 10],
        [40, 5],
      ]) {
        if (sort === "distance" && !filter.includes("postal_code")) continue;
        const path = `/v1/listings?${filter}&sort=${sort}&offset=${offset}&limit=${limit}`;
        assert.deepEqual(await answerPath(cutting, path), await answerPath(fetching, path), path);
      }
  const texts = run.mock.calls.map(({ arguments: [query] }) => query.texts.join("?"));
  const cuts = texts.filter((text) => / "rank [^"]+" < /.test(text)).length;
  assert.ok(cuts > 60, `${cuts} of ${texts.length} statements cut a sort order`);
});

test("matches outside a cut sort order are found by fetching all", async (t) => {
  const run = t.mock.method(Session.prototype, "vectors");
  const path = "/v1/listings?min_price=60000&sort=price&limit=3";
  assert.deepEqual(await answerPath(cutting, path), await answerPath(fetching, path));
  assert.ok(run.mock.callCount() >= 3, "a cut without enough matches is followed by a fetch of all");
});

test("a page by distance has the listings of all dealers at the same place", async () => {
  const path = `/v1/listings?latitude=${place.latitude}&longitude=${place.longitude}&sort=distance&limit=6`;
  const answer = await answerPath(cutting, path);
  assert.deepEqual(answer, await answerPath(fetching, path));
  const { data } = answer as { readonly data: readonly { readonly make: string }[] };
  assert.deepEqual(
    data.map(({ make }) => make),
    Array(6).fill("Acura"),
  );
});

test("a page of a dealer's listings in the default order takes no statement, and equals that from Parquet", async (t) => {
  const parquet = await openVersion(fileScope, lake, { hasServingFiles: false });
  const dealers = fetching.dealers.dealers.slice(0, 40);
  assert.equal(dealers.length, 40);
  await answerPath(fetching, `/v1/listings?dealer_id=${dealers[0]?.id}`);
  const run = t.mock.method(Session.prototype, "vectors");
  for (const { id } of dealers)
    for (const page of ["", "&limit=7&offset=3", "&offset=100000"]) {
      const path = `/v1/listings?dealer_id=${id}${page}`;
      const found = await answerPath(fetching, path);
      assert.equal(run.mock.callCount(), 0, path);
      assert.deepEqual(found, await answerPath(parquet, path), path);
    }
});
