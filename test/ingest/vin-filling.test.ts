/** What VINs fill and contradict: reported values stay, what is filled is named, and a doubtful VIN fills nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "../../src/base/json.ts";
import { checkDigit } from "../demo/vin.ts";
import { dealerIdOf, type FeedRow, writeFeeds } from "../support/lakes/feeds.ts";
import { ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

/** Returns a VIN with its check digit, written as 0. */
const checked = (vin: string): string => vin.slice(0, 8) + checkDigit(vin) + vin.slice(9);

/** An Accord of 2003: 3.0L V6, coupe, 2 doors; and the Rams of 2020 of which Dodge's dealers say Dodge. */
const accord = (n: number): string => checked(`1HGCM82603A00000${n}`);
const ram = checked("1C6SRFFT0LN123456");

const cars = {
  bare: { vin: accord(1) },
  stated: {
    vin: accord(2),
    year: "2003",
    make: "HONDA",
    model: "Accord Coupe",
    body_type: "Sedan",
    drivetrain: "AWD",
    doors: 4,
  },
  ofOtherYear: { vin: accord(3), year: 2024 },
  ofOtherMake: { vin: accord(4), make: "Ford", doors: 3 },
  mistyped: { vin: accord(5).replace(/^(.{8})./, (_, head) => `${head}${checkDigit(accord(5)) === "1" ? "2" : "1"}`) },
  ofSibling: { vin: ram, make: "Dodge", model: "Ram 1500" },
  ofShortYear: { vin: accord(6), year: "03" },
  unknown: { vin: checked("1HGZZ82603A000006"), doors: "four" },
} as const satisfies Readonly<Record<string, FeedRow>>;

const folder = await temporaryFolder(fileScope);
const dealer_id = dealerIdOf(1);
const delivered = (rows: readonly FeedRow[]) => ({
  dealers: [{ dealer_id, name: "North" }],
  inventory: rows.map((row) => ({ dealer_id, ...row })),
});
/** Another dealer's row of a car whose first row contradicts its VIN: that dealer's claim comes later, so it is a contender. */
const elsewhere = { ...cars.ofOtherYear, year: 2003, dealer_id: dealerIdOf(2) };
const first = delivered(Object.values(cars));
await writeFeeds(folder, "2026-03-01", {
  dealers: [...first.dealers, { dealer_id: dealerIdOf(2), name: "South" }],
  inventory: [...first.inventory, elsewhere],
});
await writeFeeds(folder, "2026-03-02", delivered([{ ...cars.bare, drivetrain: "FWD", doors: 2, trim: "EX" }]));
const lake = `${folder}/lake`;
const reports = await ingestPath(lake, folder, { hasServingFiles: false });

const filledNames = [
  "year",
  "make",
  "model",
  "trim",
  "body_type",
  "fuel_type",
  "engine",
  "cylinders",
  "doors",
] as const;
const listings = await queryLake(
  lake,
  `SELECT snapshot_date::VARCHAR AS day, vin, ${filledNames.join()}, drivetrain, assembly_location, filled_from_vin FROM active_days`,
);
const listingOf = (car: keyof typeof cars, day = "2026-03-01") =>
  listings.find((row) => row.vin === cars[car].vin && row.day === day);

test("a row with nothing but a VIN has what the VIN says, and names it", () => {
  const { filled_from_vin, ...listing } = listingOf("bare") ?? {};
  assert.deepEqual(filled_from_vin, [...filledNames, "assembly_location", "assembly_country"]);
  const build = {
    year: 2003,
    make: "Honda",
    model: "Accord",
    trim: "EX-V6",
    body_type: "Coupe",
    fuel_type: "Gasoline",
  };
  const rest = { engine: "3.0L V6", cylinders: 6, doors: 2, drivetrain: null, assembly_location: "Marysville, Ohio" };
  assert.deepEqual(listing, { day: "2026-03-01", vin: accord(1), ...build, ...rest });
});

test("a reported value is never replaced", () => {
  const { year, make, model, body_type, drivetrain, doors, trim, filled_from_vin } = listingOf("stated") ?? {};
  assert.deepEqual(
    [year, make, model, body_type, drivetrain, doors],
    [2003, "Honda", "Accord Coupe", "Sedan", "AWD", 4],
  );
  assert.equal(trim, "EX-V6");
  const filled = ["trim", "fuel_type", "engine", "cylinders", "assembly_location", "assembly_country"];
  assert.deepEqual(filled_from_vin, filled);
});

test("a row of another year or make than its VIN is noted, and nothing of it is filled", async () => {
  const noted = await queryLake(
    lake,
    "SELECT vin, field, value, reason FROM rejects WHERE outcome = 'noted' ORDER BY vin, field",
  );
  const reason = "differs from the VIN";
  assert.deepEqual(
    new Set(noted.map((row) => JSON.stringify(row))),
    new Set(
      [
        { vin: cars.ofOtherYear.vin, field: "year", value: "2024", reason },
        { vin: cars.ofOtherMake.vin, field: "make", value: "Ford", reason },
        { vin: cars.mistyped.vin, field: "vin", value: cars.mistyped.vin, reason: "wrong check digit" },
        { vin: cars.ofShortYear.vin, field: "year", value: "03", reason: "read with its century" },
      ].map((row) => JSON.stringify(row)),
    ),
  );
  for (const car of ["ofOtherYear", "ofOtherMake", "mistyped", "unknown"] as const) {
    const { day: _, vin, filled_from_vin, ...listing } = listingOf(car) ?? {};
    const reported = Object.values(listing).filter((value) => value !== null);
    assert.deepEqual(
      [filled_from_vin, reported.length],
      [null, Object.keys(cars[car]).length - 1 - Number(car === "unknown")],
      String(vin),
    );
  }
});

test("a row that agrees with its VIN is filled, even if another row of the VIN contradicts it", async () => {
  const rows = await queryLake(lake, `SELECT model, filled_from_vin FROM contenders WHERE vin = '${elsewhere.vin}'`);
  assert.deepEqual(
    rows.map(({ model, filled_from_vin: filled }) => [model, Array.isArray(filled) && filled.includes("doors")]),
    [["Accord", true]],
  );
});

test("a model year of two digits does not contradict the VIN", () => {
  const { year, make, doors } = listingOf("ofShortYear") ?? {};
  assert.deepEqual([year, make, doors], [2003, "Honda", 2]);
});

test("a make that the manufacturer builds too is no contradiction", () => {
  const { year, make, model, filled_from_vin } = listingOf("ofSibling") ?? {};
  assert.deepEqual([year, make, model], [2020, "Dodge", "Ram 1500"]);
  assert.ok(Array.isArray(filled_from_vin) && filled_from_vin.includes("year") && !filled_from_vin.includes("make"));
});

test("a value that the feed states later is no longer filled", () => {
  const { drivetrain, doors, trim, filled_from_vin } = listingOf("bare", "2026-03-02") ?? {};
  assert.deepEqual([drivetrain, doors, trim], ["FWD", 2, "EX"]);
  assert.ok(Array.isArray(filled_from_vin) && !filled_from_vin.includes("doors") && filled_from_vin.includes("engine"));
});

test("the report counts the values that were filled", async () => {
  const filledIn = (rows: readonly (Row | undefined)[]) =>
    rows.flatMap((row) => (Array.isArray(row?.filled_from_vin) ? row.filled_from_vin : [])).length;
  const contenders = await queryLake(lake, "SELECT filled_from_vin FROM contenders");
  const rows = [...listings.filter(({ day }) => day === "2026-03-01"), ...contenders];
  assert.deepEqual(
    reports.map(({ filled }) => filled),
    [filledIn(rows), filledIn([listingOf("bare", "2026-03-02")])],
  );
});
