/** A generated market compared with its reference data: builds, prices, VINs and dealers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "../../src/base/json.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { type Sql, sql } from "../../src/db/sql.ts";
import { randomDraws } from "../../src/demo/random.ts";
import { priceOn } from "../../src/demo/vehicles/prices.ts";
import { readReference, referenceValue } from "../support/lakes/reference-data.ts";
import { dealers, inventory, listings } from "./national-market.ts";
import { checkDigit, modelYear } from "./vin.ts";

const text = (row: Row, column: string): string => String(row[column] ?? "");
const number = (row: Row, column: string): number => Number(text(row, column).replace(/[$,]/g, ""));
const kindOf = (row: Row): string =>
  ({ pre: "used", cpo: "certified", new: "new" })[text(row, "inventory_type").toLowerCase().slice(0, 3)] ??
  text(row, "inventory_type");
const plain = (words: string): string => words.toLowerCase().replace(/[^a-z0-9]/g, "");

const makes = readReference("makes");
const models = readReference("models");
const lines = readReference("lines");
const modelOf = new Map(
  models.map((model) => [plain(referenceValue(model, "make") + referenceValue(model, "model")), model]),
);
const makeNames = new Map(makes.map((make) => [plain(referenceValue(make, "make")), referenceValue(make, "make")]));
/** Rows whose dealer spells the make as the reference data does, so that no alias is needed. */
const canonical = inventory.filter((row) => makeNames.has(plain(text(row, "make"))));
const makeOf = (row: Row): string => makeNames.get(plain(text(row, "make"))) ?? "";

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function grouped<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}

function assertNear(found: number, expected: number, share: number, what: string): void {
  assert.ok(Math.abs(found - expected) <= share * expected, `${what}: ${found}, expected ${expected}`);
}

test("a market has the requested size", () => assertNear(inventory.length, listings, 0.02, "rows"));

test("every car is one that its maker built: model, year, engine, trim and drivetrain match", () => {
  const built = new Set(
    lines.flatMap((line) =>
      referenceValue(line, "trims")
        .split("|")
        .flatMap((trim) =>
          referenceValue(line, "drivetrains")
            .split("|")
            .map((drive) =>
              plain(
                [
                  referenceValue(line, "make"),
                  referenceValue(line, "model"),
                  referenceValue(line, "engine"),
                  trim.replace(/ [0-9.]+$/, ""),
                  drive,
                ].join(" "),
              ),
            ),
        ),
    ),
  );
  const drives = new Set(["FWD", "RWD", "AWD", "4WD"]);
  const withDrivetrain = canonical.filter((row) => drives.has(text(row, "drivetrain")));
  const wrong = withDrivetrain.filter(
    (row) =>
      !built.has(
        plain(
          [makeOf(row), text(row, "model"), text(row, "engine"), text(row, "trim"), text(row, "drivetrain")].join(" "),
        ),
      ),
  );
  assert.deepEqual(wrong.slice(0, 3), []);
  assert.ok(withDrivetrain.length > 0.8 * inventory.length);
  const linesOf = grouped(lines, (line) => plain(referenceValue(line, "make") + referenceValue(line, "model")));
  for (const row of canonical) {
    const years = (linesOf.get(plain(makeOf(row) + text(row, "model"))) ?? []).map(
      (line) => [Number(referenceValue(line, "first")), Number(referenceValue(line, "last") || 9999)] as const,
    );
    assert.ok(
      years.some(([first, last]) => first <= number(row, "year") && number(row, "year") <= last),
      JSON.stringify(row),
    );
  }
});

test("the shares of makes among new cars follow sales and days of supply", () => {
  const isSold = (make: string, model: string): boolean =>
    lines.some((line) => line.make === make && line.model === model && (line.last === "" || Number(line.last) >= 2026));
  const weights = new Map(
    makes.map((make) => {
      const modelsOfMake = models.filter(
        (model) => model.make === make.make && isSold(referenceValue(model, "make"), referenceValue(model, "model")),
      );
      return [
        referenceValue(make, "make"),
        modelsOfMake.reduce((sum, model) => sum + Number(model.sales), 0) * Number(make.days),
      ];
    }),
  );
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const cars = canonical.filter((row) => kindOf(row) === "new");
  const found = grouped(cars, makeOf);
  const common = [...weights].filter(([, weight]) => weight / total > 0.02);
  assert.ok(common.length >= 12);
  for (const [make, weight] of common)
    assertNear((found.get(make)?.length ?? 0) / cars.length, weight / total, 0.15, make);
});

test("used cars keep the share of their list price that their age predicts", () => {
  const ages = readReference("ages");
  const used = canonical.filter(
    (row) => kindOf(row) === "used" && text(row, "base_msrp") !== "" && !text(row, "keywords").includes("branded"),
  );
  const groups = grouped(
    used,
    (row) =>
      `${referenceValue(modelOf.get(plain(makeOf(row) + text(row, "model"))), "value")} ${2027 - number(row, "year")}`,
  );
  const large = [...groups].filter(([, rows]) => rows.length >= 60);
  assert.ok(large.length >= 12);
  for (const [group, rows] of large) {
    const [value = "", age = ""] = group.split(" ");
    const expectedShare = Number(
      referenceValue(
        ages.find((row) => row.age === age),
        value,
      ),
    );
    assertNear(median(rows.map((row) => number(row, "price") / number(row, "base_msrp"))), expectedShare, 0.09, group);
  }
});

test("new cars have the usual discount of their make and hardly any miles", () => {
  const listed = canonical.filter((row) => kindOf(row) === "new" && text(row, "msrp") !== "");
  for (const [make, rows] of [...grouped(listed, makeOf)].filter(([, cars]) => cars.length >= 150)) {
    const usual = Number(
      referenceValue(
        makes.find((row) => row.make === make),
        "discount",
      ),
    );
    const discount = mean(rows.map((row) => 1 - number(row, "price") / number(row, "msrp")));
    assert.ok(discount > 0.7 * usual - 0.005 && discount < 1.2 * usual + 0.03, `${make}: ${discount}, usual ${usual}`);
  }
  assert.ok(median(listed.map((row) => number(row, "miles"))) < 60);
});

const daysOnLot = (row: Row): number =>
  (Date.parse("2026-11-19T23:59:59Z") - Date.parse(text(row, "observed_at"))) / 86_400_000;

test("cars stay on a lot for as long as their make takes to sell", () => {
  /** Mean age of the cars on a lot / median stay: more than half, because a lot has more of the long stays, of which few are new cars. */
  const spread = { used: Math.exp(1.5 * 0.7 ** 2) / 2, new: Math.exp(1.5 * 0.5 ** 2) / 2 };
  assertNear(mean(canonical.filter((row) => kindOf(row) === "used").map(daysOnLot)), 38 * spread.used, 0.1, "used");
  for (const [make, rows] of [
    ...grouped(
      canonical.filter((row) => kindOf(row) === "new"),
      makeOf,
    ),
  ].filter(([, cars]) => cars.length >= 400)) {
    assertNear(
      mean(rows.map(daysOnLot)),
      Number(
        referenceValue(
          makes.find((row) => row.make === make),
          "days",
        ),
      ) * spread.new,
      0.2,
      make,
    );
  }
});

test("few new cars are older than half a year", () => {
  const cars = canonical.filter((row) => kindOf(row) === "new");
  const aged = cars.filter((row) => daysOnLot(row) > 180).length;
  assert.ok(aged < 0.02 * cars.length, `${aged} of ${cars.length}`);
});

test("cars older than half a year are cut within three weeks, most of them repeatedly, and to no less than two thirds of their first price", async () => {
  const database = await DuckDatabase.open({ threads: 1 });
  const price = (days: Sql): Sql => priceOn(randomDraws(1), sql`car`, days);
  const rows = await database.using((session) =>
    session.rows(sql`
      WITH cars AS (SELECT car, asking, kind, 0.1 AS season, -1 AS price_ending
                    FROM range(250) AS numbers(car), (VALUES (9000), (30000)) AS prices(asking), (VALUES ('used'), ('new')) AS kinds(kind)),
           prices AS (SELECT car, asking, kind, day, ${price(sql`day`)} AS price FROM cars, range(0, 400, 7) AS days(day))
      SELECT (count(DISTINCT price) FILTER (day BETWEEN 182 AND 203) - 1)::INTEGER AS cuts, min(price) / any_value(asking) AS lowest,
             any_value(price) FILTER (day = 0) / any_value(asking) AS first
      FROM prices GROUP BY car, asking, kind`),
  );
  database.close();
  const share = (condition: (row: Row) => boolean): number => rows.filter(condition).length / rows.length;
  assert.ok(share(({ cuts }) => Number(cuts) >= 1) > 0.98);
  assert.ok(share(({ cuts }) => Number(cuts) >= 2) > 0.8);
  assert.equal(
    share(({ lowest, first }) => Number(lowest) > 0.65 && first === 1),
    1,
  );
});

test("VINs are unique, with a valid check digit, model year and code of a plant that builds the model", () => {
  const seen = new Map<string, string>();
  for (const row of canonical) {
    const vin = text(row, "vin").toUpperCase();
    assert.match(vin, /^[A-HJ-NPR-Z0-9]{17}$/);
    assert.equal(vin[8], checkDigit(vin), vin);
    assert.equal(modelYear(vin), number(row, "year"), vin);
    const built = referenceValue(modelOf.get(plain(makeOf(row) + text(row, "model"))), "built")
      .split("|")
      .map((plant) => plant.slice(0, 4));
    assert.ok(built.includes(vin.slice(0, 3) + vin[10]), `${vin}: ${built}`);
    const car = `${text(row, "model")} ${text(row, "trim")} ${text(row, "exterior_color")}`.toLowerCase();
    assert.equal(seen.get(vin) ?? car, car, "a VIN is one car, also at two dealers");
    seen.set(vin, car);
  }
  assert.ok(seen.size > 0.9 * inventory.length);
});

test("electric cars, and only they, have no cylinders", () => {
  for (const row of inventory)
    assert.equal(text(row, "powertrain_type") === "BEV", text(row, "cylinders") === "0", JSON.stringify(row));
});

test("dealers follow the population: a few are large and many are small", () => {
  assert.ok(dealers.length > 250);
  const inCalifornia = dealers.filter((dealer) => dealer.state === "CA").length / dealers.length;
  assert.ok(inCalifornia > 0.06 && inCalifornia < 0.18, `${inCalifornia}`);
  const sizes = [...grouped(inventory, (row) => text(row, "dealer_id")).values()]
    .map((rows) => rows.length)
    .sort((a, b) => b - a);
  const largest = sizes.slice(0, Math.ceil(sizes.length / 10)).reduce((sum, size) => sum + size, 0) / inventory.length;
  assert.ok(largest > 0.25 && largest < 0.7, `${largest}`);
});
