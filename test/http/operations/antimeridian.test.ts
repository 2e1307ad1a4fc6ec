/** Boxes at the antimeridian: longitudes 180 and -180 are one meridian, in searches and in changes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { startService } from "../../support/http/service.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../../support/lakes/feeds.ts";
import { createLake, ingestPath, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const longitudes = [180, -180, 179, -179, 0];

const feeds = async (day: string, price: number): Promise<string> =>
  writeFeeds(join(await temporaryFolder(fileScope), "feeds"), day, {
    dealers: longitudes.map((longitude, index) => ({
      dealer_id: dealerIdOf(index),
      name: `At ${longitude}`,
      state: "AK",
      latitude: 52,
      longitude,
    })),
    inventory: longitudes.map((_, index) => ({ vin: vinOf(index), dealer_id: dealerIdOf(index), make: "Ford", price })),
  });

const { lake } = await createLake(fileScope, await feeds("2026-11-18", 20_000));
await ingestPath(lake, await feeds("2026-11-19", 19_000));
const client = await startService(fileScope, lake);

const boxes: readonly (readonly [west: number, east: number, found: readonly number[]])[] = [
  [179, 180, [-180, 179, 180]],
  [-180, -179, [-180, -179, 180]],
  [179, -179, [-180, -179, 179, 180]],
  [180, -180, [-180, 180]],
  [180, 180, [-180, 180]],
  [-180, -180, [-180, 180]],
  [179.5, -180, [-180, 180]],
  [180, -179.5, [-180, 180]],
  [178, 179.5, [179]],
  [-1, 1, [0]],
];

for (const [west, east, found] of boxes)
  test(`a box from ${west} to ${east} has the dealers at ${found.join(", ")}`, async () => {
    const ascending = (one: number, other: number): number => one - other;
    const longitudeOf = (vin: string): number => longitudes[Number(vin.slice(-6))] ?? Number.NaN;
    const bbox = `bbox=${west},51,${east},53`;
    const { data } = await client.getBody("searchListings", `/v1/listings?${bbox}`);
    assert.deepEqual(data.map(({ vin }) => longitudeOf(vin)).sort(ascending), found);
    const changes = await client.getBody("listChanges", `/v1/changes?since=2026-11-18.1&${bbox}`);
    assert.deepEqual(changes.data.map(({ vin }) => longitudeOf(vin)).sort(ascending), found);
  });
