/** Operations `findFittingDealers` and `findFittingModels` on sold listings of random cars, compared with an oracle. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { expectedDealers, expectedModels, type Sale } from "../oracle/answers/fit.ts";
import { Chance } from "../support/chance.ts";
import { startService } from "../support/http/service.ts";
import { dealerIdOf, type FeedRow, type Feeds, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const chance = new Chance(37);
const models = [
  ["Toyota", "RAV4", "SUV"],
  ["Toyota", "Highlander", "SUV"],
  ["Toyota", "Camry", "Sedan"],
  ["Ford", "Escape", "SUV"],
] as const;

/** In and around Fremont, Los Angeles, and one without a place. */
const places = [
  [37.5483, -121.9886],
  [37.7749, -122.4194],
  [37.3382, -121.8863],
  [38.5816, -121.4944],
  [34.0614, -118.2385],
  [36.7378, -119.7871],
  ["", ""],
] as const;

const dealers = Array.from({ length: 14 }, (_, index): FeedRow => {
  const [latitude, longitude] = places[index % places.length] ?? ["", ""];
  return { dealer_id: dealerIdOf(index), name: `Dealer ${index}`, state: "CA", latitude, longitude };
});

/** Each car is listed up to 60 days before the first feed; two of five are in that feed only, and so are sold. */
const inventory = Array.from({ length: 900 }, (_, index): FeedRow => {
  const [make, model, body_type] = chance.pick(models);
  const isRare = chance.happens(0.04);
  return {
    vin: vinOf(index),
    dealer_id: dealerIdOf(chance.integer(0, 13)),
    make,
    body_type,
    price: 20_000,
    model: isRare ? "Rare" : model,
    inventory_type: chance.pick(["new", "used", "used", ""]),
    observed_at: `${plusDays("2026-11-16", -chance.integer(0, 60))}T00:00:00Z`,
  };
});

const folder = await temporaryFolder(fileScope);
for (const day of [0, 1, 2, 3]) {
  const cars = inventory.flatMap(({ observed_at, ...car }, index) =>
    day === 0 ? [{ observed_at: String(observed_at), ...car }] : index % 5 < 2 ? [] : [car],
  );
  const feeds: Feeds = { dealers, inventory: cars };
  await writeFeeds(folder, plusDays("2026-11-16", day), feeds);
}
const { lake } = await createLake(fileScope, folder);
const client = await startService(fileScope, lake);
const columns = "vin, dealer_id, make, model, body_type, inventory_type, latitude, longitude, days_on_market";
const sales = (await queryLake(
  lake,
  `SELECT ${columns} FROM sold ORDER BY vin`,
)) as readonly unknown[] as readonly Sale[];

const sorted = (rows: readonly object[]): readonly string[] => rows.map((row) => JSON.stringify(row)).sort();

function assertFastestFirst(rows: readonly { readonly relative: number | null }[]): void {
  const order = rows.map(({ relative }) => relative ?? Number.MAX_VALUE);
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  );
}

test("the dealers that sell a vehicle fastest are those of the oracle, by model or else by make and body type", async () => {
  assert.ok(sales.length > 300, `${sales.length} sales`);
  const steps = new Set<string>();
  const rare = sales.filter(({ model }) => model === "Rare").slice(0, 4);
  for (const subject of [...rare, ...Array.from({ length: 8 }, () => chance.pick(sales))]) {
    const miles = chance.pick([60, 120, 500]);
    const origin = subject.latitude === null ? "&postal_code=94538" : "";
    const { data, meta } = await client.getBody(
      "findFittingDealers",
      `/v1/vins/${subject.vin}/dealer-fit?radius=${miles}&limit=100${origin}`,
    );
    const expected = expectedDealers(sales, subject, { ...meta.origin, miles });
    const found = data.dealers.map(({ dealer_name: _, city: __, state: ___, distance_miles, ...dealer }) => {
      assert.ok(distance_miles !== null && distance_miles <= miles);
      return dealer;
    });
    assert.deepEqual(sorted(found), sorted(expected?.rows ?? []));
    assert.deepEqual([data.step, data.market], [found.length > 0 ? expected?.step : null, expected?.market]);
    assert.deepEqual([meta.total, meta.insufficient_sample], [found.length, expected?.insufficient]);
    assertFastestFirst(data.dealers);
    if (data.step !== null) steps.add(data.step);
  }
  assert.deepEqual([...steps].sort(), ["make_and_body", "model"]);
});

test("the models that a dealer sells faster than the dealers around it are those of the oracle", async () => {
  let compared = 0;
  for (const [index, { dealer_id, latitude }] of dealers.entries()) {
    const miles = [60, 500][index % 2] ?? 0;
    const origin = latitude === "" ? "&latitude=37.5&longitude=-122" : "";
    const { data, meta } = await client.getBody(
      "findFittingModels",
      `/v1/dealers/${dealer_id}/fit?radius=${miles}&limit=100${origin}`,
    );
    const expected = expectedModels(sales, String(dealer_id), { ...meta.origin, miles });
    const found = data.models.map(({ make, model, body_type, inventory_type, ...speed }) => ({
      key: `${make}|${model ?? body_type}|${inventory_type}`.toLowerCase(),
      ...speed,
    }));
    assert.deepEqual(sorted(found), sorted(expected?.rows ?? []));
    const step = found.length > 0 ? expected?.step : null;
    assert.deepEqual([data.step, meta.insufficient_sample], [step, expected?.insufficient]);
    assertFastestFirst(data.models);
    compared += found.length;
  }
  assert.ok(compared > 20, `${compared} models`);
});

test("answers repeat the place, the radius and the numbers of the formula, and say what was cut", async () => {
  const subject = sales.find(
    ({ model, inventory_type, latitude }) => model === "RAV4" && inventory_type === "used" && latitude !== null,
  );
  const path = `/v1/vins/${subject?.vin.toLowerCase()}/dealer-fit`;
  const { meta } = await client.getBody("findFittingDealers", path);
  assert.deepEqual(
    [meta.radius, meta.limit, meta.sold_days, meta.sold_from, meta.pull],
    [100, 20, 180, "2026-11-16", 5],
  );
  assert.deepEqual(meta.origin, { latitude: subject?.latitude, longitude: subject?.longitude });
  const all = await client.getBody("findFittingDealers", `${path}?radius=500`);
  const cut = await client.getBody("findFittingDealers", `${path}?radius=500&limit=1`);
  assert.deepEqual(cut.data.dealers, all.data.dealers.slice(0, 1));
  assert.deepEqual([cut.meta.truncated, cut.meta.total], [true, all.data.dealers.length]);
});

test("a vehicle of an unknown kind, and places without an origin, fit nothing", async () => {
  const unknown = sales.find(({ inventory_type, latitude }) => inventory_type === null && latitude !== null);
  const { data } = await client.getBody("findFittingDealers", `/v1/vins/${unknown?.vin}/dealer-fit`);
  assert.deepEqual([data.dealers, data.null_reason], [[], "unknown_attributes"]);
  const placeless = dealers.find(({ latitude }) => latitude === "");
  assert.equal((await client.getError(`/v1/dealers/${placeless?.dealer_id}/fit`)).code, "missing_parameter");
  assert.equal((await client.getError(`/v1/dealers/${dealerIdOf(99)}/fit`)).code, "not_found");
  assert.equal((await client.getError("/v1/vins/1HGCM82633A999999/dealer-fit")).code, "not_found");
  assert.equal((await client.getError(`/v1/dealers/${dealerIdOf(0)}/fit?radius=0`)).status, 400);
});
