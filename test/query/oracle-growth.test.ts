/** Answers after each day of a growing lake, compared with the oracle. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type OracleInventory, readInventory } from "../oracle/answers/inventory.ts";
import { compareWithOracle } from "../oracle/compare/oracle.ts";
import type { RandomFeedsExtent } from "../oracle/random-lake/feeds.ts";
import { growLake } from "../oracle/random-lake/lakes.ts";
import { randomFacets, randomRequests } from "../oracle/random-requests/requests.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { type Client, startService } from "../support/http/service.ts";
import type { Scope } from "../support/scope.ts";
import { fileScope } from "../support/scope.ts";

const seed = 20261120;

/** Maximum wait for a published version. */
const servedWithinMs = 60_000;

async function waitForVersion(client: Client, version: string): Promise<void> {
  const untilMs = Date.now() + servedWithinMs;
  for (;;) {
    const { meta } = await client.getBody("searchListings", "/v1/listings?limit=1&fields=id");
    if (meta.data_version === version) return;
    assert.ok(Date.now() < untilMs, `${version} was not served within ${servedWithinMs} ms, but ${meta.data_version}`);
    await sleep(20);
  }
}

const distinct = (
  inventory: OracleInventory,
  valuesOf: (listing: OracleInventory["active"][number]) => readonly (string | null)[],
) => new Set(inventory.active.flatMap(valuesOf));

/** Counts the values that the newest day has and no earlier day had. */
function countNewValues(
  inventory: OracleInventory,
): Readonly<Record<"makes" | "features" | "options" | "dealers", number>> {
  const earlier = [...inventory.snapshots].filter(([day]) => day < inventory.asOf).flatMap(([, listings]) => listings);
  const before: OracleInventory = { ...inventory, active: earlier };
  const countNew = (valuesOf: Parameters<typeof distinct>[1]): number => {
    const known = distinct(before, valuesOf);
    return [...distinct(inventory, valuesOf)].filter((value) => !known.has(value)).length;
  };
  return {
    makes: countNew(({ make }) => [make]),
    features: countNew(({ features }) => features),
    options: countNew(({ options_packages }) => options_packages),
    dealers: countNew(({ dealer_id, dealer_name, state, city }) => [
      JSON.stringify([dealer_id, dealer_name, state, city]),
    ]),
  };
}

async function compareGrowingLakeOverHttp(
  scope: Scope,
  extent: RandomFeedsExtent,
): Promise<readonly ReturnType<typeof countNewValues>[]> {
  const novelties: ReturnType<typeof countNewValues>[] = [];
  let client: Client | undefined;
  for await (const { lake } of growLake(scope, extent)) {
    const inventory = await readInventory(lake);
    client ??= await startService(scope, lake);
    await waitForVersion(client, inventory.version);
    const daySeed = extent.seed + novelties.length;
    const requests = [
      ...randomRequests(inventory, { seed: daySeed, count: extentOf(20, 50) }),
      ...randomFacets(inventory, { seed: daySeed, count: extentOf(15, 40) }),
    ];
    await compareWithOracle(client, inventory, requests);
    novelties.push(countNewValues(inventory));
  }
  return novelties;
}

test("after each published day, answers match the oracle's, new values and dealers included", {
  skip: skipInShortRun,
}, async () => {
  const [, ...later] = await compareGrowingLakeOverHttp(fileScope, { seed, days: 4, cars: extentOf(150, 250) });
  assert.equal(later.length, 3);
  for (const kind of ["makes", "features", "options", "dealers"] as const) {
    const days = later.filter((novelties) => novelties[kind] > 0);
    assert.ok(days.length > 1, `new ${kind} on ${days.length} of the later days`);
  }
});
