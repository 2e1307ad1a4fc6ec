/** The quality report of random feeds, compared with one that is computed from their rows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plusDays } from "../../../src/base/day.ts";
import { qualityReport } from "../../../src/query/quality/quality.ts";
import { comparedFields, expectedQuality, type QualityDay } from "../../oracle/quality/expected-quality.ts";
import { Chance } from "../../support/chance.ts";
import { extentOf } from "../../support/extent.ts";
import { dealerIdOf, type FeedRow, vinOf, writeFeeds } from "../../support/lakes/feeds.ts";
import { ingestPath, temporaryFolder } from "../../support/lakes/lakes.ts";
import { openVersion } from "../../support/versions.ts";

const dealers = [1, 2, 3, 4].map(dealerIdOf);
const [first = "", second = ""] = dealers;
/** A car that two dealers list; the first owns it, because it listed it alone on the first day. */
const contested = vinOf(9999);

/** A car on a lot, as its feed states it. */
const randomCar = (chance: Chance, vin: string, dealer_id: string): FeedRow => ({
  vin,
  dealer_id,
  year: 2020,
  make: "Honda",
  model: "Civic",
  trim: chance.pick(["LX", "EX", ""]),
  inventory_type: chance.pick(["new", "used"]),
  price: chance.pick(["", 400, 20_000, 30_000, 40_000]),
  msrp: chance.pick(["", 20_000, 41_000]),
  miles: chance.pick(["", 0, 900, 5000, 310_000]),
  stock_number: chance.pick(["", `S${chance.integer(1, 30)}`]),
  vdp_url: chance.pick(["", `https://example.com/${chance.integer(1, 20)}`]),
  photo_urls: chance.pick(["", "https://example.com/placeholder.jpg", `https://example.com/${vin}.jpg`]),
});

/** The car a day later: often the same, sometimes with another price, mileage, trim or pictures. */
function nextOf(chance: Chance, car: FeedRow): FeedRow {
  if (chance.happens(0.6)) return car;
  const other = randomCar(chance, String(car.vin), String(car.dealer_id));
  const fields = ["price", "miles", "trim", "photo_urls", "stock_number"];
  const changed = fields
    .filter(() => chance.happens(0.2))
    .map((field): [string, string | number] => [field, other[field] ?? ""]);
  return { ...car, ...Object.fromEntries(changed) };
}

/** Returns random feeds. The fourth dealer delivers nothing on the last day, and the third nothing on the second. */
function randomDays(chance: Chance, days: number): readonly QualityDay[] {
  let lastVin = 0;
  const newCar = (dealer: string): FeedRow => randomCar(chance, vinOf(++lastVin), dealer);
  let lots = dealers.map((dealer) => Array.from({ length: chance.integer(9, 16) }, () => newCar(dealer)));
  lots[0]?.push({ ...newCar(first), vin: contested, price: 20_000 });
  return Array.from({ length: days }, (_, index) => {
    if (index > 0)
      lots = lots.map((lot, number) => [
        ...lot.filter(({ vin }) => vin === contested || chance.happens(0.9)).map((car) => nextOf(chance, car)),
        ...Array.from({ length: chance.integer(0, 3) }, () => newCar(dealers[number] ?? "")),
      ]);
    if (index === 1) lots[1]?.push({ ...newCar(second), vin: contested });
    let firstRow = 1;
    const feeds = dealers.flatMap((dealer, number) => {
      if ((number === 3 && index === days - 1) || (number === 2 && index === 1)) return [];
      const lot = lots[number] ?? [];
      const extra = lot.filter(() => chance.happens(0.1)).map((car) => ({ ...car, price: 25_000 }));
      const rows = [...extra, ...(chance.happens(0.5) ? [{ ...newCar(dealer), vin: "SHORT" }] : []), ...lot];
      const feed = [dealer, { firstRow, rows }] as const;
      firstRow += rows.length;
      return [feed];
    });
    return { day: plusDays("2026-03-01", index), feeds: new Map(feeds) };
  });
}

for (const { seed, days } of extentOf(
  [{ seed: 3, days: 3 }],
  [3, 4, 5].map((seed) => ({ seed, days: 11 })),
))
  test(`the report of ${days} days of random feeds (seed ${seed}) equals one computed from their rows`, async (scope) => {
    const folder = await temporaryFolder(scope);
    const market = randomDays(new Chance(seed), days);
    for (const { day, feeds } of market)
      await writeFeeds(folder, day, {
        dealers: dealers.map((dealer_id) => ({ dealer_id, name: dealer_id })),
        inventory: [...feeds.values()].flatMap(({ rows }) => rows),
      });
    const lake = `${folder}/lake`;
    await ingestPath(lake, folder, { hasServingFiles: false });
    const version = await openVersion(scope, lake);
    const day = market.at(-1)?.day ?? "";
    const rows = await qualityReport(version, { day, status: "ok" });
    const isCompared = (check: unknown, field: unknown): boolean =>
      check === "missing" ? comparedFields.includes(String(field)) : check !== "noted";
    const found = rows
      .filter(({ check, field }) => isCompared(check, field))
      .map(({ dealer_id, check, field, day: _, ...row }) => ({ key: `${dealer_id} ${check} ${field}`, ...row }));
    const expected = expectedQuality(market, (dealer, vin) => dealer === second && vin === contested);
    const byKey = (one: { readonly key: string }, other: { readonly key: string }): number =>
      one.key < other.key ? -1 : 1;
    assert.deepEqual([...found].sort(byKey), [...expected].sort(byKey));
    assert.ok(expected.some(({ status }) => status === "warn"));
    const severe = await qualityReport(version, { day, status: "warn", dealer: first });
    assert.deepEqual(
      severe.map(({ check, field }) => `${check} ${field}`).sort(),
      rows
        .filter((row) => row.dealer_id === first && row.status !== "ok")
        .map(({ check, field }) => `${check} ${field}`)
        .sort(),
    );
  });
