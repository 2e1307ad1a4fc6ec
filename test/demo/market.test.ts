import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Row } from "../../src/base/json.ts";
import { defaultShares } from "../../src/demo/market-shape.ts";
import { generated, rowsOf } from "../support/lakes/generated.ts";
import { fact, facts } from "../support/lakes/reference.ts";
import { wholeFile } from "../support/scope.ts";
import { checkDigit, modelYear } from "./vin.ts";

const listings = 30_000;
const folder = await generated(wholeFile, { listings, days: 1, shares: { ...defaultShares, dirt: 0 } });
const inventory = await rowsOf(join(folder, "2026-11-19", "inventory.csv"));
const dealers = await rowsOf(join(folder, "2026-11-19", "dealers.csv"));

const text = (row: Row, column: string): string => String(row[column] ?? "");
const number = (row: Row, column: string): number => Number(text(row, column).replace(/[$,]/g, ""));
const kindOf = (row: Row): string =>
  ({ pre: "used", cpo: "certified", new: "new" })[text(row, "inventory_type").toLowerCase().slice(0, 3)] ??
  text(row, "inventory_type");
const plain = (words: string): string => words.toLowerCase().replace(/[^a-z0-9]/g, "");

const makes = facts("makes");
const models = facts("models");
const lines = facts("lines");
const modelOf = new Map(models.map((model) => [plain(fact(model, "make") + fact(model, "model")), model]));
const makeNames = new Map(makes.map((make) => [plain(fact(make, "make")), fact(make, "make")]));
/** Rows whose dealer calls the make by its name, which tell the make without the aliases. */
const named = inventory.filter((row) => makeNames.has(plain(text(row, "make"))));
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

function near(found: number, expected: number, share: number, what: string): void {
  assert.ok(Math.abs(found - expected) <= share * expected, `${what}: ${found}, expected ${expected}`);
}

test("a market is as large as it was asked for", () => near(inventory.length, listings, 0.02, "rows"));

test("every car is one that its maker has built: model, year, engine, trim and drivetrain go together", () => {
  const built = new Set(
    lines.flatMap((line) =>
      fact(line, "trims")
        .split("|")
        .flatMap((trim) =>
          fact(line, "drivetrains")
            .split("|")
            .map((drive) =>
              plain(
                [
                  fact(line, "make"),
                  fact(line, "model"),
                  fact(line, "engine"),
                  trim.replace(/ [0-9.]+$/, ""),
                  drive,
                ].join(" "),
              ),
            ),
        ),
    ),
  );
  const drives = new Set(["FWD", "RWD", "AWD", "4WD"]);
  const told = named.filter((row) => drives.has(text(row, "drivetrain")));
  const wrong = told.filter(
    (row) =>
      !built.has(
        plain(
          [makeOf(row), text(row, "model"), text(row, "engine"), text(row, "trim"), text(row, "drivetrain")].join(" "),
        ),
      ),
  );
  assert.deepEqual(wrong.slice(0, 3), []);
  assert.ok(told.length > 0.8 * inventory.length);
  for (const row of named) {
    const years = lines
      .filter((line) => plain(fact(line, "make") + fact(line, "model")) === plain(makeOf(row) + text(row, "model")))
      .map((line) => [Number(fact(line, "first")), Number(fact(line, "last") || 9999)] as const);
    assert.ok(
      years.some(([first, last]) => first <= number(row, "year") && number(row, "year") <= last),
      JSON.stringify(row),
    );
  }
});

test("makes have the shares among the new cars that sales and days of supply give them", () => {
  const isSold = (make: string, model: string): boolean =>
    lines.some((line) => line.make === make && line.model === model && (line.last === "" || Number(line.last) >= 2026));
  const weights = new Map(
    makes.map((make) => {
      const own = models.filter(
        (model) => model.make === make.make && isSold(fact(model, "make"), fact(model, "model")),
      );
      return [fact(make, "make"), own.reduce((sum, model) => sum + Number(model.sales), 0) * Number(make.days)];
    }),
  );
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const cars = named.filter((row) => kindOf(row) === "new");
  const found = grouped(cars, makeOf);
  const common = [...weights].filter(([, weight]) => weight / total > 0.02);
  assert.ok(common.length >= 12);
  for (const [make, weight] of common) near((found.get(make)?.length ?? 0) / cars.length, weight / total, 0.15, make);
});

test("used cars cost what their age leaves of their list price", () => {
  const ages = facts("ages");
  const used = named.filter(
    (row) => kindOf(row) === "used" && text(row, "base_msrp") !== "" && !text(row, "keywords").includes("branded"),
  );
  const groups = grouped(
    used,
    (row) => `${fact(modelOf.get(plain(makeOf(row) + text(row, "model"))), "value")} ${2027 - number(row, "year")}`,
  );
  const large = [...groups].filter(([, rows]) => rows.length >= 60);
  assert.ok(large.length >= 12);
  for (const [group, rows] of large) {
    const [value = "", age = ""] = group.split(" ");
    const kept = Number(
      fact(
        ages.find((row) => row.age === age),
        value,
      ),
    );
    near(median(rows.map((row) => number(row, "price") / number(row, "base_msrp"))), kept, 0.09, group);
  }
});

test("new cars are discounted as their makes are, and have hardly any miles", () => {
  const listed = named.filter((row) => kindOf(row) === "new" && text(row, "msrp") !== "");
  for (const [make, rows] of [...grouped(listed, makeOf)].filter(([, cars]) => cars.length >= 150)) {
    const usual = Number(
      fact(
        makes.find((row) => row.make === make),
        "discount",
      ),
    );
    const off = mean(rows.map((row) => 1 - number(row, "price") / number(row, "msrp")));
    assert.ok(off > 0.7 * usual - 0.005 && off < 1.2 * usual + 0.03, `${make}: ${off}, usual ${usual}`);
  }
  assert.ok(median(listed.map((row) => number(row, "miles"))) < 60);
});

test("cars have been there for as long as their makes take to sell", () => {
  const daysThere = (row: Row): number =>
    (Date.parse("2026-11-19T23:59:59Z") - Date.parse(text(row, "observed_at"))) / 86_400_000;
  /** A lot as it is found has more of the long stays: its mean age is 1.04 of the median stay. */
  const spread = Math.exp(1.5 * 0.7 ** 2) / 2;
  near(mean(named.filter((row) => kindOf(row) === "used").map(daysThere)), 38 * spread, 0.1, "used");
  for (const [make, rows] of [
    ...grouped(
      named.filter((row) => kindOf(row) === "new"),
      makeOf,
    ),
  ].filter(([, cars]) => cars.length >= 400)) {
    near(
      mean(rows.map(daysThere)),
      Number(
        fact(
          makes.find((row) => row.make === make),
          "days",
        ),
      ) * spread,
      0.2,
      make,
    );
  }
});

test("VINs have their check digit, their year and the world code of a plant that builds the model, and none is there twice", () => {
  const seen = new Map<string, string>();
  for (const row of named) {
    const vin = text(row, "vin").toUpperCase();
    assert.match(vin, /^[A-HJ-NPR-Z0-9]{17}$/);
    assert.equal(vin[8], checkDigit(vin), vin);
    assert.equal(modelYear(vin), number(row, "year"), vin);
    const built = fact(modelOf.get(plain(makeOf(row) + text(row, "model"))), "built")
      .split("|")
      .map((plant) => plant.slice(0, 4));
    assert.ok(built.includes(vin.slice(0, 3) + vin[10]), `${vin}: ${built}`);
    const car = `${text(row, "model")} ${text(row, "trim")} ${text(row, "exterior_color")}`.toLowerCase();
    assert.equal(seen.get(vin) ?? car, car, "one VIN is one car, also at two dealers");
    seen.set(vin, car);
  }
  assert.ok(seen.size > 0.9 * inventory.length);
});

test("electric cars have no cylinders, and the others have some", () => {
  for (const row of inventory)
    assert.equal(text(row, "powertrain_type") === "BEV", text(row, "cylinders") === "0", JSON.stringify(row));
});

test("dealers are where people are, a few of them large and many small", () => {
  assert.ok(dealers.length > 250);
  const inCalifornia = dealers.filter((dealer) => dealer.state === "CA").length / dealers.length;
  assert.ok(inCalifornia > 0.06 && inCalifornia < 0.18, `${inCalifornia}`);
  const sizes = [...grouped(inventory, (row) => text(row, "dealer_id")).values()]
    .map((rows) => rows.length)
    .sort((a, b) => b - a);
  const largest = sizes.slice(0, Math.ceil(sizes.length / 10)).reduce((sum, size) => sum + size, 0) / inventory.length;
  assert.ok(largest > 0.25 && largest < 0.7, `${largest}`);
});
