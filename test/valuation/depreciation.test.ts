/** Operation `getDepreciation`: curves of a generated market, under random filters, compared with an oracle in JavaScript. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "../../src/base/json.ts";
import type { AnswerOf } from "../../src/contract/types.ts";
import { Chance } from "../support/chance.ts";
import { extentOf } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { depreciationByOracle, type OracleDepreciation } from "./depreciation-oracle.ts";
import { client, lake } from "./valued-market.ts";

interface Market {
  readonly priced: readonly Row[];
  /** Those that curves rest on. */
  readonly regular: readonly Row[];
  readonly newestYear: number;
}

/** Reads the listings that are active or were sold in the 90 days before, and have what a value depends on. */
async function readMarket(lake: string): Promise<Market> {
  const columns = "id, make, model, trim, year, state, drivetrain, price, msrp, miles, inventory_type, keywords";
  const rows = await queryLake(
    lake,
    `SELECT l.*, v.fitted_price FROM (
       SELECT ${columns}, NULL::DATE AS sold_date FROM active
       UNION ALL SELECT ${columns}, sold_date FROM sold WHERE sold_date > DATE '2026-11-19' - 90
     ) AS l LEFT JOIN (SELECT id, fitted_price FROM valuations) AS v USING (id)`,
  );
  const priced = rows.filter(
    (row) =>
      Number(row.price) > 0 &&
      [row.miles, row.inventory_type, row.make, row.model, row.year].every((value) => value != null) &&
      (row.inventory_type !== "new" || Number(row.msrp) > 0),
  );
  const regular = priced.filter(({ price, fitted_price, keywords }) => {
    const ratio = Number(price) / Number(fitted_price);
    return !(Array.isArray(keywords) && keywords.includes("branded")) && ratio > 1 / 2 && ratio < 2;
  });
  return { priced, regular, newestYear: Math.max(...priced.map(({ year }) => Number(year))) };
}

const { priced, regular, newestYear } = await readMarket(lake);

interface Drawn {
  readonly query: Readonly<Record<string, string>>;
  readonly passes: (row: Row) => boolean;
}

/** A filter that some listings of a model pass. */
function filterOf(chance: Chance, model: readonly Row[]): Drawn {
  const row = chance.pick(model);
  const price = Number(row.price);
  const miles = Number(row.miles);
  const every: Drawn = { query: {}, passes: () => true };
  return chance.pick<Drawn>([
    every,
    every,
    { query: { trim: String(row.trim) }, passes: ({ trim }) => trim === row.trim },
    { query: { max_mileage: String(miles) }, passes: (other) => Number(other.miles) <= miles },
    { query: { min_mileage: "3000" }, passes: (other) => Number(other.miles) >= 3000 },
    { query: { min_price: String(price) }, passes: (other) => Number(other.price) >= price },
    {
      query: { exclude_drivetrain: String(row.drivetrain) },
      passes: ({ drivetrain }) => drivetrain !== row.drivetrain,
    },
    { query: { exclude_state: String(row.state) }, passes: ({ state }) => state !== row.state },
    { query: { year: String(row.year) }, passes: ({ year }) => year === row.year },
    {
      query: { keywords: "one_owner" },
      passes: ({ keywords }) => Array.isArray(keywords) && keywords.includes("one_owner"),
    },
  ]);
}

type Depreciation = AnswerOf<"getDepreciation">["data"];

const isNear = (found: number | null | undefined, expected: number | null | undefined, tolerance: number): boolean =>
  found == null || expected == null ? (found ?? null) === (expected ?? null) : Math.abs(found - expected) <= tolerance;

function assertDepreciation(
  { curve, points, reference, retained }: Depreciation,
  expected: OracleDepreciation,
  path: string,
): void {
  assert.equal(curve.sample, expected.sample, path);
  for (const name of ["slope", "intercept", "r2"] as const)
    assert.ok(
      isNear(curve[name], expected.line?.[name], name === "r2" ? 6e-5 : 2e-6),
      `${path}: ${name} ${curve[name]}`,
    );
  const loss = expected.line && 100 * (1 - Math.exp(expected.line.slope));
  assert.ok(isNear(curve.loss_percent, loss, 0.006), `${path}: ${curve.loss_percent} instead of ${loss}`);
  assert.equal(curve.null_reason, expected.line === undefined ? "insufficient_sample" : null);
  const rangeOf = ({ from, to, at, sample }: OracleDepreciation["points"][number]) => ({ from, to, at, sample });
  assert.deepEqual(
    points.map(({ from, to, at, sample }) => ({ from, to, at, sample })),
    expected.points.map(rangeOf),
    path,
  );
  for (const [index, { median, p10, p90, fitted, null_reason }] of points.entries()) {
    const wanted = expected.points[index] ?? assert.fail(path);
    for (const [n, found] of [median, p10, p90].entries())
      assert.ok(isNear(found, wanted.percentiles?.[n], 0.0051), `${path}: ${found} at ${wanted.at}`);
    assert.ok(isNear(fitted, wanted.fitted, 1), `${path}: ${fitted} instead of ${wanted.fitted}`);
    assert.equal(null_reason, wanted.percentiles === null ? "insufficient_sample" : null);
  }
  assert.deepEqual(
    [reference?.of, reference?.at, reference?.sample],
    [expected.reference?.of, expected.reference?.at, expected.reference?.sample],
  );
  assert.ok(isNear(reference?.price, expected.reference?.price, 1), path);
  for (const [index, { percent, null_reason }] of retained.entries()) {
    assert.ok(
      isNear(percent, expected.retained[index], 0.06),
      `${path}: ${percent} instead of ${expected.retained[index]}`,
    );
    assert.equal(null_reason, percent === null ? "insufficient_sample" : null);
  }
}

const conditions = [["used", "certified"], ["used", "certified"], ["used"], ["new", "used", "certified"]];

test("curves, points and retained values of any model are those of the oracle, under random filters", async () => {
  const chance = new Chance(20261126);
  const keyOf = ({ make, model }: Row): string => `${make}|${model}`;
  const models = [...new Set(priced.map(keyOf))]
    .map((key) => priced.filter((row) => keyOf(row) === key))
    .filter(({ length }) => length >= 60);
  assert.ok(regular.filter((row) => row.sold_date != null).length > 50, "sales");
  const seen = { curves: 0, withoutCurve: 0, retained: 0 };
  const references = new Set<string | undefined>();
  for (let drawn = 0; drawn < extentOf(40, 400); drawn += 1) {
    const ofModel = chance.pick(models);
    const { make, model } = ofModel[0] ?? assert.fail("no listing");
    const { query, passes } = filterOf(chance, ofModel);
    const by = chance.pick(["age", "miles"] as const);
    const types = chance.pick(conditions);
    const named = { make: String(make).toUpperCase(), model: String(model).toLowerCase(), by, ...query };
    const conditioned = types.join() === "used,certified" ? named : { ...named, inventory_type: types.join() };
    const path = `/v1/depreciation?${new URLSearchParams(conditioned)}`;
    const { data, meta } = await client.getBody("getDepreciation", path);
    const matches = regular.filter((row) => row.make === make && row.model === model && passes(row));
    const [chosen, isNew] = [types, ["new"]].map((of) =>
      matches.filter((row) => of.includes(String(row.inventory_type))),
    );
    const expected = depreciationByOracle(chosen ?? [], isNew ?? [], by, newestYear);
    assertDepreciation(data, expected, path);
    assert.deepEqual([data.make, data.model, meta.by, meta.inventory_type], [make, model, by, types]);
    assert.equal(data.newest_year, expected.sample === 0 ? null : newestYear);
    seen[data.curve.null_reason === null ? "curves" : "withoutCurve"] += 1;
    seen.retained += data.retained.filter(({ percent }) => percent !== null).length;
    references.add(data.reference?.of);
  }
  assert.ok(seen.curves > extentOf(15, 150) && seen.withoutCurve > 2 && seen.retained > 20, JSON.stringify(seen));
  assert.ok(references.has("new") && references.has(undefined));
});

test("a model whose prices fall by 12 % a year has that curve, and retains that much of its newest listings", async () => {
  const feeds = await temporaryFolder(fileScope);
  const dealer_id = dealerIdOf(1);
  const inventory = Array.from({ length: 243 }, (_, n) => {
    const age = n % 12;
    const price = n < 240 ? 40_000 * 0.88 ** age * 1.1 ** (n % 24 < 12 ? 1 : -1) : 99_000;
    const car = { make: "Honda", model: "Civic", inventory_type: "used", year: 2027 - age, miles: 9500 * age + 31 * n };
    return { vin: vinOf(n), dealer_id, ...car, price: Math.round(price) };
  });
  await writeFeeds(feeds, "2026-11-19", { dealers: [{ dealer_id, name: "North", state: "CA" }], inventory });
  const made = await createLake(fileScope, feeds);
  const service = await startService(fileScope, made.lake);
  const market = await readMarket(made.lake);
  const path = "/v1/depreciation?make=honda&model=civic";
  const { data } = await service.getBody("getDepreciation", path);
  for (const [by, answer] of [["age", data] as const, ["miles", undefined] as const]) {
    const found = answer ?? (await service.getBody("getDepreciation", `${path}&by=${by}`)).data;
    assertDepreciation(found, depreciationByOracle(market.regular, [], by, 2027), by);
  }
  assert.deepEqual([data.curve.sample, data.newest_year, data.points.length], [240, 2027, 12]);
  assert.ok(isNear(data.curve.loss_percent, 12, 0.01) && isNear(data.curve.intercept, Math.log(40_000), 0.001));
  assert.ok(data.points.every(({ sample, median, fitted }) => sample === 20 && isNear(median, fitted, 200)));
  assert.deepEqual([data.reference?.of, data.reference?.at, data.reference?.sample], ["first_point", 0, 20]);
  for (const { at, percent } of data.retained) assert.ok(isNear(percent, 100 * 0.88 ** at, 0.1), `${percent} at ${at}`);
});

test("bad requests are refused, and what matches nothing is named", async () => {
  const refusals: readonly (readonly [query: string, message: RegExp])[] = [
    ["make=ford", /^Missing parameter model: /],
    ["model=f-150", /^Missing parameter make: /],
    ["make=ford&model=f-150&by=year", /^Invalid value "year" for by: expected one of age, miles\.$/],
    ["make=ford&model=f-150&min_price=2&max_price=1", /the minimum 2 is above the maximum 1/],
    ["make=ford&model=f-150&inventory_status=sold", /^Unknown query parameter inventory_status\./],
  ];
  for (const [query, message] of refusals)
    assert.match((await client.getError(`/v1/depreciation?${query}`)).message, message);
  const { data, meta } = await client.getBody("getDepreciation", "/v1/depreciation?make=ford&model=f-15O&trim=none");
  assert.deepEqual(
    meta.unmatched?.map(({ parameter, value }) => [parameter, value]),
    [
      ["model", "f-15O"],
      ["trim", "none"],
    ],
  );
  assert.deepEqual([data.curve.sample, data.points, data.reference, data.newest_year], [0, [], null, null]);
});
