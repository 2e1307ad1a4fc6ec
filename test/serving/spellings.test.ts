/** Values of feeds in two spellings: the first one stays, and both match the same requests and count as one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { dealerIdOf, type FeedRow, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const owner = dealerIdOf(1);
const contender = dealerIdOf(2);
const car = (n: number, dealer_id: string, row: FeedRow): FeedRow => ({
  vin: vinOf(n),
  dealer_id,
  make: "Kia",
  ...row,
});

/**
 * Car 1 passes to the contender, which delivers nothing on the second day and spells its color in capitals. No active listing of the first
 * day has the color; its spelling stays that of the second day's listings.
 */
const folder = await temporaryFolder(fileScope);
await writeFeeds(folder, "2026-11-18", {
  dealers: [owner, contender].map((dealer_id) => ({ dealer_id, name: "A dealer" })),
  inventory: [
    car(1, owner, { price: 9000 }),
    car(2, owner, { exterior_color: "Puce", price: 10_000 }),
    car(1, contender, { exterior_color: "OXBLOOD" }),
  ],
});
await writeFeeds(folder, "2026-11-19", {
  inventory: [
    car(2, owner, { exterior_color: "Puce", price: 10_000 }),
    // A metric needs ten listings.
    ...Array.from({ length: 10 }, (_, n) => car(3 + n, owner, { exterior_color: "Oxblood", price: 20_000 + n })),
  ],
});
const { lake } = await createLake(fileScope, folder);
const sources = {
  "the index": await openVersion(fileScope, lake),
  "the Parquet files": await openVersion(fileScope, lake, { hasServingFiles: false }),
};

test("the spelling of a claim that takes a VIN over without a delivery is that of later rows too", async () => {
  const found = await queryLake(lake, "SELECT exterior_color AS color FROM active ORDER BY vin");
  assert.deepEqual(
    found.map(({ color }) => color),
    ["OXBLOOD", "Puce", ...Array(10).fill("OXBLOOD")],
  );
});

const oxblood = "OXBLOOD 11";
const puce = "Puce 1";
const questions: readonly (readonly [query: string, counts: readonly string[]])[] = [
  ["", [oxblood, puce]],
  ["&facet_value_limit=1", [oxblood]],
  ["&make=kia", [oxblood, puce]],
  ["&exterior_color=oxblood", [oxblood]],
  ["&exclude_exterior_color=Oxblood", [puce]],
  ["&min_price=1", ["OXBLOOD 10", puce]],
  ["&metric=price.median", ["OXBLOOD 11 20004.5", "Puce 1 null"]],
];

for (const [name, version] of Object.entries(sources))
  for (const [query, counts] of questions)
    test(`two spellings of a value are counted as one by ${name}: ${query || "all listings"}`, async () => {
      const body = await answerPath(version, `/v1/facets?facets=exterior_color${query}`);
      const facets = isObject(body) && isObject(body.data) && isObject(body.data.facets) ? body.data.facets : {};
      const found = (facets.exterior_color as readonly Record<string, unknown>[]) ?? [];
      assert.deepEqual(
        found.map(({ value, count, metric }) =>
          [value, count, ...(isObject(metric) ? [String(metric.value)] : [])].join(" "),
        ),
        counts,
      );
    });

/** Cars 1 and 2 spell a feature differently; the third has it in both spellings, and lacks another one. */
const equipped = await temporaryFolder(fileScope);
await writeFeeds(equipped, "2026-11-19", {
  dealers: [{ dealer_id: owner, name: "A dealer" }],
  inventory: [
    "alpha|beta|gamma|delta",
    "alpha|beta|gamma|DELTA|epsilon",
    "alpha|beta|Delta|delta|DELTA",
    "alpha|beta|gamma",
  ].map((features, n) => car(50 + n, owner, { features })),
});
const { lake: equippedLake } = await createLake(fileScope, equipped);

for (const options of [{}, { hasServingFiles: false }])
  test(`four features, one of them in several spellings, are found together ${JSON.stringify(options)}`, async () => {
    const version = await openVersion(fileScope, equippedLake, options);
    const body = await answerPath(version, "/v1/listings?features=alpha,beta,gamma,delta&fields=vin");
    const found = isObject(body) && Array.isArray(body.data) ? body.data.filter(isObject) : [];
    assert.deepEqual(found.map(({ vin }) => vin).sort(), [vinOf(50), vinOf(51)]);
  });
