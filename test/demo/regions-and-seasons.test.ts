/** Where, on which weekdays and in which months the cars of a generated market are listed. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Row } from "../../src/base/json.ts";
import { defaultShares } from "../../src/demo/market-shape.ts";
import { skipInShortRun } from "../support/extent.ts";
import { generateFeeds, readCsv } from "../support/lakes/generated.ts";
import { dealers, inventory } from "./national-market.ts";

const text = (row: Row, column: string): string => String(row[column] ?? "").toLowerCase();
const stateOf = new Map(dealers.map((dealer) => [dealer.dealer_id, String(dealer.state)]));

/** Returns which part of some rows satisfies a condition. */
const shareOf = (rows: readonly Row[], isCounted: (row: Row) => boolean): number =>
  rows.filter(isCounted).length / rows.length;

const inStates =
  (states: string) =>
  (row: Row): boolean =>
    states.split(" ").includes(stateOf.get(row.dealer_id) ?? "");
const isModel =
  (...models: readonly string[]) =>
  (row: Row): boolean =>
    models.includes(text(row, "model"));
const isMake =
  (make: string) =>
  (row: Row): boolean =>
    text(row, "make") === make;
const isPickup = (row: Row): boolean => /pickup|truck/.test(text(row, "body_type"));
const isHybrid = (row: Row): boolean => text(row, "powertrain_type") === "hev";

/** A group of cars, the states in which it is more frequent than in others, and by which factor at least. */
const rankings: readonly (readonly [
  name: string,
  isCounted: (row: Row) => boolean,
  more: string,
  less: string,
  factor: number,
])[] = [
  ["F-150", isModel("f-150"), "TX", "CA", 2],
  ["Tesla, RAV4 and Civic", (row) => isMake("tesla")(row) || isModel("rav4", "civic")(row), "CA", "TX", 2],
  ["Subaru", isMake("subaru"), "WA CO VT ME", "TX FL GA AL LA", 3],
  ["pickups", isPickup, "TX WY MT ND", "NY NJ MA CT CA", 1.6],
  ["hybrids", isHybrid, "CA WA OR MA NJ NY", "TX OK KS NE MT WY ND SD MI OH", 1.2],
];

/** Used cars: new ones are at the stores of their make, of which a small market has few in a state. */
const used = inventory.filter((row) => /^(used|pre)/.test(text(row, "inventory_type")));

test("states differ as in public registrations", () => {
  for (const [name, isCounted, more, less, factor] of rankings) {
    const [high, low] = [more, less].map((states) => shareOf(used.filter(inStates(states)), isCounted));
    assert.ok((high ?? 0) > factor * (low ?? 1), `${name}: ${high} in ${more}, ${low} in ${less}`);
  }
  const cars = inventory.filter(inStates("TX"));
  assert.ok(shareOf(cars, isModel("f-150")) > shareOf(cars, isModel("rav4", "civic")));
  const inCalifornia = inventory.filter(inStates("CA"));
  assert.ok(
    shareOf(inCalifornia, isModel("f-150")) < shareOf(inCalifornia, isModel("rav4", "civic", "model y", "model 3")),
  );
});

/** The weekday, 0 for Sunday, and the month on which a car was listed. */
const listedOn = (row: Row): Date => new Date(String(row.observed_at));

test("most cars are listed on Fridays and Saturdays, fewest on Sundays", () => {
  const counts = Array<number>(7).fill(0);
  for (const row of inventory) {
    const day = listedOn(row).getUTCDay();
    counts[day] = (counts[day] ?? 0) + 1;
  }
  const [sunday = 0, ...others] = counts.map((count) => (7 * count) / inventory.length);
  assert.ok(sunday < 0.6 && Math.min(...others) > 0.8, `${counts}`);
  assert.ok((others[4] ?? 0) > 1.1 && (others[5] ?? 0) > 1.2, `${counts}`);
});

test("used cars with four-wheel drive are listed in autumn more often than in summer, against those with front-wheel drive", () => {
  const driven = used.filter((row) => /^(4wd|4x4|four|fwd|front)/.test(text(row, "drivetrain")));
  const shareIn = (...months: readonly number[]): number =>
    shareOf(
      driven.filter((row) => months.includes(listedOn(row).getUTCMonth() + 1)),
      (row) => text(row, "drivetrain").startsWith("4") || text(row, "drivetrain").startsWith("four"),
    );
  const summer = shareIn(6, 7, 8);
  const autumn = shareIn(10, 11);
  assert.ok(autumn > 1.1 * summer, `${summer} in summer, ${autumn} in autumn`);
});

test("convertibles are offered in spring twice as often as in winter", { skip: skipInShortRun }, async (scope) => {
  const countOn = async (end: string): Promise<number> => {
    const shares = { ...defaultShares, dirt: 0 };
    const folder = await generateFeeds(scope, { listings: 60_000, days: 1, end, shares });
    const rows = await readCsv(join(folder, end, "inventory*.csv"));
    return rows.filter((row) => text(row, "body_type").startsWith("conv")).length;
  };
  const spring = await countOn("2026-05-31");
  const winter = await countOn("2026-01-31");
  assert.ok(spring > 2 * winter, `${spring} in spring, ${winter} in winter`);
});
