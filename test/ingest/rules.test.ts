/** The rules for missing, sold and ended listings, collapsed feeds, silent dealers and times of observations. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { integerLiteral, join, type Sql, sql } from "../../src/db/sql.ts";
import { fieldReader } from "../../src/ingest/normalize/field-readers.ts";
import { feedVerdict, isSilent, stateOfAbsent } from "../../src/listing/lifecycle-rules.ts";
import { parseCaseTable } from "../support/case-table.ts";

const database = await DuckDatabase.open();
after(() => database.close());

const evaluate = async (expression: Sql): Promise<unknown> => {
  const row = await database.using((session) => session.row(sql`SELECT ${expression} AS value`));
  return row?.value;
};

const number = (text: string): Sql => integerLiteral(Number.parseInt(text, 10));

for (const row of parseCaseTable(
  ["absent", "feeds without it", "days seen", "missing for", "becomes"],
  `
  absent   | feeds without it | days seen | missing for | becomes
  1 day    | 1                | 30        | 0 days      | missing
  2 days   | 2                | 30        | 1 day       | missing
  3 days   | 3                | 30        | 2 days      | sold
  3 days   | 3                | 2         | 2 days      | sold
  3 days   | 3                | 1         | 2 days      | missing
  3 days   | 2                | 30        | 2 days      | missing
  2 days   | 3                | 30        | 1 day       | missing
  30 days  | 2                | 30        | 29 days     | missing
  30 days  | 3                | 30        | 29 days     | sold
  9 days   | 9                | 1         | 8 days      | missing
  90 days  | 90               | 1         | 89 days     | missing
  91 days  | 91               | 1         | 90 days     | ended
  97 days  | 0                | 30        | 90 days     | ended
  97 days  | 3                | 30        | 90 days     | sold
`,
)) {
  test(`absent for ${row.absent}, ${row["feeds without it"]} feeds without it, seen on ${row["days seen"]} days: ${row.becomes}`, async () => {
    const state = stateOfAbsent({
      daysAbsent: number(row.absent),
      feedsWithout: number(row["feeds without it"]),
      daysSeen: number(row["days seen"]),
      daysMissing: number(row["missing for"]),
    });
    assert.equal(await evaluate(state), row.becomes);
  });
}

for (const row of parseCaseTable(
  ["VINs", "accepted before", "collapsed before", "verdict"],
  `
  VINs | accepted before            | collapsed before | verdict
  10   |                            | 0                | accepted
  0    |                            | 0                | accepted
  50   | 100                        | 0                | accepted
  49   | 100                        | 0                | collapsed
  400  | 100                        | 0                | accepted
  49   | 100, 100, 10, 100, 100     | 0                | collapsed
  5    | 10, 10, 9, 100, 10         | 0                | accepted
  30   | 40, 80                     | 0                | accepted
  29   | 40, 80                     | 0                | collapsed
  0    | 1                          | 0                | collapsed
  0    | 0                          | 0                | accepted
  20   | 100                        | 5                | collapsed
  20   | 100                        | 6                | resized
  60   | 100                        | 6                | accepted
`,
)) {
  const usual = row["accepted before"] === "" ? "nothing" : row["accepted before"];
  test(`a feed of ${row.VINs} VINs after ${usual}, ${row["collapsed before"]} collapsed in a row: ${row.verdict}`, async () => {
    const accepted =
      row["accepted before"] === ""
        ? sql`NULL::INTEGER[]`
        : sql`[${join((row["accepted before"] ?? "").split(",").map(number))}]`;
    const verdict = feedVerdict({
      vins: number(row.VINs),
      acceptedVins: accepted,
      collapsedInARow: number(row["collapsed before"]),
    });
    assert.equal(await evaluate(verdict), row.verdict);
  });
}

test("a dealer is silent after 7 days without a delivery, and not after 6", async () => {
  assert.equal(await evaluate(isSilent(number("6"))), false);
  assert.equal(await evaluate(isSilent(number("7"))), true);
});

test("a time is valid from the year 1990 to the end of the day after the delivery", async () => {
  const { converted, value } = fieldReader(
    "observed_at",
    { type: "string", format: "date-time" },
    { day: "2026-03-01", currency: "USD" },
  );
  const isValid = (time: string): Promise<unknown> =>
    evaluate(sql`${value(converted?.(sql`${time}`) ?? sql``)} IS NOT NULL`);
  for (const time of ["1990-01-01T00:00:00Z", "2026-03-02T23:59:59Z", "2026-03-03T04:59:59+05:00"])
    assert.equal(await isValid(time), true, time);
  for (const time of ["1989-12-31T23:59:59Z", "2026-03-03T00:00:00Z", "2026-03-02T20:00:00-04:00", "infinity"])
    assert.equal(await isValid(time), false, time);
});
