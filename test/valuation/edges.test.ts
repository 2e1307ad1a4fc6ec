/** Values where listings are few, at and beyond the ends of what is listed, and their intervals by listings that the fit has not seen. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Row } from "../../src/base/json.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { literal, Sql, sql } from "../../src/db/sql.ts";
import { viewsOf } from "../../src/lake/analyst/analyst-views.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { withFit } from "../../src/valuation/fit.ts";
import { predicted } from "../../src/valuation/predict.ts";
import { Chance } from "../support/chance.ts";
import { skipInShortRun } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import {
  dealerIdOf,
  type FeedRow,
  realCsvPath,
  skipWithoutRealCsv,
  vinOf,
  writeFeeds,
} from "../support/lakes/feeds.ts";
import { createLake, ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { lake } from "./valued-market.ts";

const dealer = { dealer_id: dealerIdOf(1), name: "North", state: "CA", postal_code: "90001" };
const chance = new Chance(62);

const sedans = Array.from({ length: 220 }, (_, n): FeedRow => {
  const year = chance.integer(2016, 2026);
  const miles = 1000 + 11_000 * (2026 - year) + chance.integer(0, 8000);
  const price = Math.round(30_000 * 0.91 ** (2026 - year) * (1 + chance.integer(-80, 80) / 1000));
  const car = { make: "Toyota", model: "Camry", trim: "LE", body_type: "sedan", powertrain_type: "ice" };
  return { vin: vinOf(n), dealer_id: dealerIdOf(1), inventory_type: "used", ...car, year, miles, price };
});
const pickups = (
  [
    [2023, "2X", 42_031, 46_399],
    [2022, "2X", 53_844, 23_098],
    [2025, "2X", 20_499, 58_295],
    [2024, "3X", 52_065, 52_295],
    [2025, "3X", 40_618, 62_195],
  ] as const
).map(([year, trim, miles, price], n): FeedRow => {
  const car = { make: "GMC", model: "Hummer EV", trim, body_type: "pickup", powertrain_type: "ev" };
  return { vin: vinOf(900 + n), dealer_id: dealerIdOf(1), inventory_type: "used", ...car, year, miles, price };
});

test("an option counts with its newest price, and one whose newest row has no price does not", async () => {
  const feeds = await temporaryFolder(fileScope);
  const inventory = sedans.map((car, n) => ({ ...car, options_packages: n === 0 ? "53A|RF|OLD" : "" }));
  const option = (code: string, name: string, msrp: number | "") => ({ make: "Toyota", code, name, msrp });
  const days = {
    "2026-11-18": [option("53A", "Tow Pkg", 1000), option("RF", "Roof", 500), option("OLD", "Old", 300)],
    "2026-11-19": [option("53A", "Tow Package", 1100), option("RF", "Sun Roof", 500), option("OLD", "Old", "")],
  };
  for (const [day, options] of Object.entries(days))
    await writeFeeds(feeds, day, { dealers: [dealer], inventory, options });
  const made = await createLake(fileScope, feeds);
  const files = (await currentManifest(made.lake))?.tables.valuations ?? [];
  const paths = files.map(({ path }) => `'${join(made.lake, path)}'`);
  const [row] = await queryLake(made.lake, `SELECT max(option_value) AS worth FROM read_parquet([${paths}])`);
  assert.equal(row?.worth, 1600);
});

test("five pickups of a body type and powertrain have no values far from their prices, and none beyond them", async () => {
  const feeds = await temporaryFolder(fileScope);
  const path = await writeFeeds(feeds, "2026-11-19", { dealers: [dealer], inventory: [...sedans, ...pickups] });
  const made = await createLake(fileScope, path);
  const service = await startService(fileScope, made.lake);
  const prices = pickups.map(({ price }) => Number(price));
  const rows = await queryLake(made.lake, "FROM active WHERE model = 'Hummer EV'");
  assert.equal(rows.length, 5);
  const isSane = (value: unknown): boolean =>
    value === null || (Number(value) >= 0.4 * Math.min(...prices) && Number(value) <= 1.6 * Math.max(...prices));
  for (const row of rows) {
    assert.ok(isSane(row.market_value), `${row.price} at ${row.market_value}`);
    assert.equal(row.market_value === null, row.market_value_low === null);
  }
  for (const query of ["year=2024&miles=45000", "year=2023&miles=30000&trim=2X", "year=2025&miles=20499&trim=3X"]) {
    const { valuation } = (
      await service.getBody("findComparables", `/v1/comparables?make=gmc&model=hummer+ev&${query}`)
    ).data;
    assert.ok(isSane(valuation.market_value), `${query}: ${valuation.market_value}`);
  }
  for (const [query, attribute, min, max] of [
    ["year=2021&miles=45000", "year", 2022, 2025],
    ["year=2024&miles=1000000", "miles", 20_499, 53_844],
  ] as const) {
    const { valuation } = (
      await service.getBody("findComparables", `/v1/comparables?make=gmc&model=hummer+ev&${query}`)
    ).data;
    assert.deepEqual([valuation.market_value, valuation.null_reason], [null, "out_of_range"], query);
    assert.deepEqual(valuation.range, { attribute, min, max });
  }
});

test("versions without a fit answer no_data with null supply, and refuse filters and orders by value", async () => {
  const feeds = await temporaryFolder(fileScope);
  const first = { dealers: [dealer], inventory: sedans.slice(0, 150) };
  const made = await createLake(fileScope, await writeFeeds(feeds, "2026-11-18", first));
  await ingestPath(made.lake, await writeFeeds(feeds, "2026-11-19", { dealers: [dealer], inventory: sedans }));
  const service = await startService(fileScope, made.lake);
  const described = "/v1/comparables?make=toyota&model=camry&year=2020&miles=60000";
  const kept = "data_version=2026-11-18.1";
  assert.equal((await service.getBody("findComparables", described)).data.valuation.null_reason, null);
  const { data } = await service.getBody("findComparables", `${described}&${kept}`);
  assert.deepEqual([data.valuation.market_value, data.valuation.null_reason], [null, "no_data"]);
  assert.deepEqual([data.supply.active, data.supply.sold, data.supply.days_supply], [null, null, null]);
  const vin = vinOf(0);
  const [valued] = (await service.getBody("valueVehicles", `/v1/valuations?vin=${vin}&${kept}`)).data;
  assert.equal(valued?.valuation.null_reason, "no_data");
  for (const query of ["value_rating=great", "sort=value", "sort=-value"]) {
    await service.getBody("searchListings", `/v1/listings?${query}&limit=1`);
    const error = await service.getError(`/v1/listings?${query}&${kept}`);
    assert.equal(error.code, "incompatible_parameters", query);
    assert.match(error.message, /2026-11-18\.1/);
  }
});

test("a car that was sold and is for sale again at another dealer is in the fit once", {
  skip: skipInShortRun,
}, async () => {
  const feeds = await temporaryFolder(fileScope);
  const other = { ...dealer, dealer_id: dealerIdOf(2), name: "South" };
  const rest = {
    dealers: [dealer, other],
    inventory: [...sedans.slice(1), { ...sedans[1], vin: vinOf(800), dealer_id: dealerIdOf(2) }],
  };
  const again = { ...sedans[0], dealer_id: dealerIdOf(2) };
  for (const day of [8, 9])
    await writeFeeds(feeds, `2026-11-0${day}`, { ...rest, inventory: [...rest.inventory, ...sedans.slice(0, 1)] });
  for (const day of [10, 11, 12, 13, 14, 15, 16, 17]) await writeFeeds(feeds, `2026-11-${day}`, rest);
  await writeFeeds(feeds, "2026-11-19", { ...rest, inventory: [...rest.inventory, again] });
  const made = await createLake(fileScope, feeds);
  const count = async (table: string): Promise<readonly Row[]> =>
    queryLake(made.lake, `SELECT count(*)::INTEGER AS n FROM ${table}`);
  const ofCar = `(SELECT id FROM active WHERE vin = '${vinOf(0)}' UNION ALL SELECT id FROM sold WHERE vin = '${vinOf(0)}')`;
  assert.deepEqual(await count(ofCar), [{ n: 2 }]);
  assert.deepEqual(await count(`valuations WHERE id IN ${ofCar}`), [{ n: 1 }]);
  assert.deepEqual(await count(`valuations WHERE id IN (SELECT id FROM active WHERE vin = '${vinOf(0)}')`), [{ n: 1 }]);
});

const effects = sql`(SELECT 0 AS fold, * FROM price_effects)`;

/** Returns a query for the values of described cars of each model at years and miles that a query adds to its rows of `price_effects`. */
const scan = (points: string): string => {
  const subjects = `(SELECT 0 AS fold, is_new, make, model, '' AS trim, '' AS version, at_year AS year, at_miles AS miles, at_miles / 10000 AS m,
    NULL::DOUBLE AS o, 0 AS certified, '' AS state, '' AS body, at_msrp AS msrp, true AS is_described
    FROM (SELECT *, unnest(if(is_new, [msrp_min - 1, msrp_min, (msrp_min + msrp_max) // 2, msrp_max, msrp_max + 1], [NULL])) AS at_msrp FROM (${points})))`;
  return predicted(new Sql([subjects], []), effects).text;
};

test("no value at or beyond the ends of a model is far from the prices of its listings", async () => {
  const points = `SELECT *, unnest([greatest(0, miles_min - 1), miles_min, (miles_min + miles_max) // 2, miles_max, miles_max + 1, 400000, 1000000]) AS at_miles
    FROM (SELECT *, unnest([1981, year_min - 1, year_min, (year_min + year_max) // 2, year_max, year_max + 1])::INTEGER AS at_year
          FROM price_effects WHERE kind = 'model')`;
  const rows = await queryLake(lake, `SELECT * EXCLUDE (spreads) FROM (${scan(points)})`);
  const inside = rows.filter(({ step, out_of_range }) => step !== null && out_of_range === null);
  assert.ok(inside.length > 500 && rows.length > 4 * inside.length, `${inside.length} of ${rows.length}`);
  for (const row of inside) {
    assert.ok(Number(row.value) <= 1.6 * Number(row.model_price_max), JSON.stringify(row));
    assert.ok(Number(row.value) >= 0.4 * Number(row.model_price_min), JSON.stringify(row));
    assert.ok(Number(row.year) >= Number(row.model_year_min) && Number(row.year) <= Number(row.model_year_max));
    assert.ok(Number(row.miles) >= Number(row.model_miles_min) && Number(row.miles) <= Number(row.model_miles_max));
  }
  for (const row of rows.filter(({ out_of_range }) => out_of_range !== null)) {
    const name = String(row.out_of_range);
    assert.deepEqual([row.range_min, row.range_max], [row[`model_${name}_min`], row[`model_${name}_max`]]);
  }
});

test("the value of a listing is not far from the prices of the listings of its model", async () => {
  const rows = await queryLake(
    lake,
    `SELECT v.id, market_value, price_min, price_max FROM valuations AS v JOIN price_effects AS e USING (is_new, make, model)
     WHERE e.kind = 'model' AND value_step IN ('trim', 'model') AND (market_value > 1.6 * price_max OR market_value < 0.4 * price_min)`,
  );
  assert.deepEqual(rows, []);
});

test("more age or more miles never raise a value", async () => {
  const points = `SELECT *, unnest(range(miles_min, miles_max + 1, greatest(1, (miles_max - miles_min) // 6))) AS at_miles
    FROM (SELECT *, unnest(range(year_min, year_max + 1))::INTEGER AS at_year FROM price_effects WHERE kind = 'model')`;
  const of = (by: string, along: string) => `
    SELECT *, lag(value) OVER (PARTITION BY is_new, make, model, msrp, "${by}" ORDER BY "${along}") AS before FROM values_of`;
  const [counted] = await queryLake(
    lake,
    `WITH values_of AS (SELECT is_new, make, model, msrp, year, miles, value FROM (${scan(points)}) WHERE step IN ('trim', 'model'))
     SELECT (SELECT count(*)::INTEGER FROM values_of) AS n,
            (SELECT count(*)::INTEGER FROM (${of("year", "miles")}) WHERE value > before * 1.00001) AS by_miles,
            (SELECT count(*)::INTEGER FROM (${of("miles", "year")}) WHERE value < before * 0.99999) AS by_age`,
  );
  assert.ok(Number(counted?.n) > 1000);
  assert.deepEqual([counted?.by_miles, counted?.by_age], [0, 0]);
});

/** The listings of the shared market as the fit has them. */
const generated = `
  SELECT id, inventory_type = 'new' AS is_new, (inventory_type = 'certified')::INTEGER AS certified, NULL::DATE AS sold_date, price, msrp, miles,
         list_contains(keywords, 'branded') IS TRUE AS is_branded, 0 AS option_value, make, model, coalesce(trim, '') AS trim, coalesce(version, '') AS version, year,
         concat_ws(' ', body_type, powertrain_type) AS body, state, latitude, longitude,
         if(is_new, ln(price / msrp), ln(price)) AS y, miles / 10000 AS m, 0.0::DOUBLE AS o
  FROM active WHERE price > 0 AND miles IS NOT NULL AND inventory_type IS NOT NULL AND make IS NOT NULL AND model IS NOT NULL AND year IS NOT NULL
    AND (inventory_type <> 'new' OR msrp > 0)`;

/** Those of the file of auctions. */
const real = `
  SELECT DISTINCT ON (vin) md5(vin) AS id, false AS is_new, 0 AS certified, NULL::DATE AS sold_date, price::INTEGER AS price, NULL::INTEGER AS msrp, mileage::INTEGER AS miles,
         title_status <> 'clean vehicle' AS is_branded, 0 AS option_value, brand AS make, model, '' AS trim, '' AS version, year::INTEGER AS year,
         '' AS body, state, NULL::DOUBLE AS latitude, NULL::DOUBLE AS longitude, ln(price) AS y, mileage / 10000 AS m, 0.0::DOUBLE AS o
  FROM read_csv(${literal(realCsvPath).text}) WHERE price > 0 AND mileage IS NOT NULL ORDER BY vin, lot`;

/** Returns what share of held-out prices lies in the interval: of all, and by age and price; each listing is valued by the fit of the other folds. */
async function coverage(listings: string, folds: number): Promise<readonly Row[]> {
  const database = await DuckDatabase.open({ threads: 1 });
  try {
    return await database.using(async (session) => {
      const manifest = await currentManifest(lake);
      if (manifest === undefined) throw new Error("Unknown version: expected a published one.");
      for (const view of viewsOf(manifest, lake)) await session.run(view);
      const query = (text: string): Sql => new Sql([text], []);
      await session.createTempTable("listings", query(listings));
      const held: Row[] = [];
      for (let fold = 0; fold < folds; fold += 1) {
        const isHeld = `('0x' || substr(md5('held' || id), 1, 6))::INTEGER % ${folds} = ${fold}`;
        await withFit(session, query(`FROM listings WHERE NOT ${isHeld}`), async () => {
          const subjects = query(
            `(SELECT *, 0 AS fold, false AS is_described FROM listings WHERE NOT is_branded AND ${isHeld})`,
          );
          const fit = sql`(SELECT * REPLACE (0 AS fold) FROM price_effects)`;
          held.push(...(await session.rows(sql`SELECT * EXCLUDE (spreads) FROM (${predicted(subjects, fit)})`)));
        });
      }
      return held.filter(
        ({ step, out_of_range, is_new }) => step !== null && out_of_range === null && is_new === false,
      );
    });
  } finally {
    database.close();
  }
}

const isInside = ({ y, fit, to_low, to_high }: Row): boolean => {
  const miss = Number(y) - Number(fit);
  return miss >= Number(to_low) && miss <= Number(to_high);
};

const shareInside = (rows: readonly Row[]): number => rows.filter(isInside).length / rows.length;

const priceBandOf = ({ price }: Row): number =>
  [5000, 10_000, 20_000, 35_000, 50_000].filter((bound) => Number(price) > bound).length;

for (const [name, listings, folds, skip] of [
  ["the generated market", generated, 2, skipInShortRun],
  ["real auctions", real, 4, skipWithoutRealCsv],
] as const)
  test(`intervals contain about 80 % of the prices of ${name} that the fit has not seen`, { skip }, async (context) => {
    const rows = await coverage(listings, folds);
    const share = shareInside(rows);
    const bands = [
      ...[0, 1, 2, 3].map((band) => [`age ${band}`, rows.filter((row) => Number(row.band) === band)] as const),
      ...[0, 1, 2, 3, 4, 5].map((band) => [`worth ${band}`, rows.filter((row) => row.price_band === band)] as const),
      ...[0, 1, 2, 3, 4, 5].map((band) => [`price ${band}`, rows.filter((row) => priceBandOf(row) === band)] as const),
    ];
    const shown = bands.map(([band, own]) => `${band}: ${(100 * shareInside(own)).toFixed(1)} % of ${own.length}`);
    context.diagnostic(`${(100 * share).toFixed(1)} % of ${rows.length}; ${shown.join("; ")}`);
    assert.ok(share > 0.75 && share < 0.85, `${share} of ${rows.length}`);
    for (const [band, own] of bands.slice(0, 10))
      assert.ok(own.length < 200 || shareInside(own) > 0.7, `${band}: ${shareInside(own)} of ${own.length}`);
  });
