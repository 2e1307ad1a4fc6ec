import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Market, readMarket } from "../oracle/answers/market.ts";
import { agree } from "../oracle/compare/agree.ts";
import type { RandomMarketExtent } from "../oracle/random-market/feeds.ts";
import { growingLake, variedLake } from "../oracle/random-market/lakes.ts";
import { randomFacets, randomRequests } from "../oracle/random-requests/requests.ts";
import { type Implementation, implementationsOf } from "../support/implementations.ts";
import type { Scope } from "../support/scope.ts";
import { wholeFile } from "../support/scope.ts";
import type { Client } from "../support/service.ts";

const seed = 20261120;

/** Far more than a published version takes to come into service. */
const servedWithinMs = 60_000;

async function waitForVersion(client: Client, version: string): Promise<void> {
  const untilMs = Date.now() + servedWithinMs;
  for (;;) {
    const { meta } = await client.found("searchListings", "/v1/listings?limit=1&fields=id");
    if (meta.version === version) return;
    assert.ok(Date.now() < untilMs, `${version} was not served within ${servedWithinMs} ms, but ${meta.version}`);
    await sleep(20);
  }
}

const distinct = (market: Market, valuesOf: (listing: Market["active"][number]) => readonly (string | null)[]) =>
  new Set(market.active.flatMap(valuesOf));

/** What the newest day has and no earlier day had. */
function noveltiesOf(market: Market): Readonly<Record<"makes" | "features" | "options" | "dealers", number>> {
  const earlier = [...market.snapshots].filter(([day]) => day < market.asOf).flatMap(([, listings]) => listings);
  const before: Market = { ...market, active: earlier };
  const novel = (valuesOf: Parameters<typeof distinct>[1]): number => {
    const known = distinct(before, valuesOf);
    return [...distinct(market, valuesOf)].filter((value) => !known.has(value)).length;
  };
  return {
    makes: novel(({ make }) => [make]),
    features: novel(({ features }) => features),
    options: novel(({ options_packages }) => options_packages),
    dealers: novel(({ dealer_id, dealer_name, state, city }) => [
      JSON.stringify([dealer_id, dealer_name, state, city]),
    ]),
  };
}

/** Asks each implementation random requests of its own. */
async function agreeAll(
  implementations: readonly Implementation[],
  market: Market,
  counts: { readonly seed: number; readonly requests: number; readonly facets: number },
): Promise<void> {
  for (const [place, { client, confirm }] of implementations.entries()) {
    const own = counts.seed + place;
    await agree(client, market, randomRequests(market, { seed: own, count: counts.requests }));
    await agree(client, market, randomFacets(market, { seed: own, count: counts.facets }));
    confirm();
  }
}

async function grow(scope: Scope, extent: RandomMarketExtent): Promise<readonly ReturnType<typeof noveltiesOf>[]> {
  const novelties: ReturnType<typeof noveltiesOf>[] = [];
  let implementations: readonly Implementation[] | undefined;
  for await (const { lake } of growingLake(scope, extent)) {
    const market = await readMarket(lake);
    implementations ??= await implementationsOf(scope, lake);
    for (const { client } of implementations) await waitForVersion(client, market.version);
    await agreeAll(implementations, market, { seed: extent.seed + 2 * novelties.length, requests: 30, facets: 20 });
    novelties.push(noveltiesOf(market));
  }
  return novelties;
}

test("after each day that is published, answers are those of a plain search, new values and dealers included", async () => {
  const [, ...later] = await grow(wholeFile, { seed, days: 4, cars: 250 });
  assert.equal(later.length, 3);
  for (const kind of ["makes", "features", "options", "dealers"] as const) {
    const days = later.filter((novelties) => novelties[kind] > 0);
    assert.ok(days.length > 1, `new ${kind} on ${days.length} of the later days`);
  }
});

/** Columns of the inventory feed, some of which are never known in the markets below. */
const unknowns: readonly (readonly string[])[] = [
  ["make", "model", "year", "features", "msrp", "base_msrp", "availability_status"],
  ["trim", "cylinders", "price", "miles", "options_packages", "keywords", "inventory_type", "exterior_color"],
];

for (const unknown of unknowns) {
  test(`in a market where nobody knows ${unknown.join(", ")}, answers are those of a plain search`, async (scope) => {
    const { lake } = await variedLake(scope, { seed, days: 3, cars: 120, unknown });
    const market = await readMarket(lake);
    await agreeAll(await implementationsOf(scope, lake), market, { seed, requests: 50, facets: 40 });
  });
}
