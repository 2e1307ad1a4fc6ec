/** The sample and its expected rejects, issues and values. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import type { Row } from "../../src/base/json.ts";
import { createLake, queryLake, samplePath } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const columns = ["case", "day", "file", "row", "vin", "field", "outcome", "reason", "served"] as const;

type Case = Readonly<Record<(typeof columns)[number], string>>;

const expected: readonly Case[] = recordsOf("expected.csv");
const { lake, reports } = await createLake(fileScope);
const recorded = await queryLake(
  lake,
  `SELECT strftime(delivery_date, '%Y-%m-%d') AS day, file, "row"::INTEGER AS "row", vin, dealer_id, field, outcome, value, reason
   FROM read_parquet('${lake}/current/rejects/*/*.parquet')`,
);
const listings = await queryLake(lake, "FROM active_days");
const dealers = await queryLake(lake, "FROM dealers ORDER BY dealer_key");

function recordsOf<Record>(file: string): readonly Record[] {
  return parse(readFileSync(join(samplePath, file), "utf8"), { columns: true });
}

/** The text of a reject or issue without its value, comparable with the expected rows. */
const summaryOf = (of: Row): string =>
  JSON.stringify(["day", "file", "row", "vin", "field", "outcome", "reason"].map((key) => String(of[key] ?? "")));

/** A field of a listing or dealer; `line_items` is part of the pricing. */
function fieldOf(row: Row | undefined, field: string): unknown {
  return field === "line_items" && row !== undefined ? ((row.pricing as Row | null)?.line_items ?? null) : row?.[field];
}

/** The served listing of a case, or the dealer that its row describes. */
function servedOf({ day, file, row, vin }: Case): Row | undefined {
  if (file !== "dealers.csv") return listings.find((listing) => listing.vin === vin && listing.snapshot_date === day);
  const described = recordsOf<{ dealer_id: string }>(join(day, file))[Number(row) - 1];
  return dealers.findLast((dealer) => dealer.dealer_id === described?.dealer_id);
}

for (const expectation of expected) {
  test(`${expectation.day}: ${expectation.case}: ${expectation.outcome || "nothing recorded"}${expectation.served && `, served as ${expectation.served}`}`, () => {
    if (expectation.outcome !== "")
      assert.ok(recorded.map(summaryOf).includes(summaryOf(expectation)), `not recorded: ${summaryOf(expectation)}`);
    if (expectation.served === "") return;
    const served = servedOf(expectation);
    if (expectation.served === "absent") assert.equal(served, undefined);
    else assert.deepEqual(fieldOf(served, expectation.field), JSON.parse(expectation.served));
  });
}

test("no other reject or issue is recorded than the expected ones", () => {
  assert.deepEqual(
    recorded.map(summaryOf).sort(),
    expected
      .filter(({ outcome }) => outcome !== "")
      .map(summaryOf)
      .sort(),
  );
});

test("a reject or issue has the original value and the dealer", () => {
  const price = recorded.find(({ field, reason }) => field === "price" && reason === "not a whole number");
  assert.equal(price?.value, "Call for price");
  assert.equal(price?.dealer_id, "7c19e3a8-52d6-4f0b-b7e4-06a9c8d31f25");
});

test("every row of a day is listed, attributed elsewhere, merged or rejected", () => {
  assert.deepEqual(
    reports.map(({ day, rows }) => [day, rows]),
    [
      ["2026-11-18", recordsOf("2026-11-18/inventory.csv").length],
      ["2026-11-19", recordsOf("2026-11-19/inventory.csv").length],
    ],
  );
  for (const { day, rows, listed, elsewhere, merged, rejected } of reports) {
    assert.equal(listed + elsewhere + merged + rejected, rows, day);
  }
});

test("the report of a day counts rejects, issues and active listings", () => {
  for (const report of reports) {
    const recordedOnDay = recorded.filter(({ day }) => day === report.day);
    const count = (outcome: string) => recordedOnDay.filter((record) => record.outcome === outcome).length;
    assert.equal(report.unknown, count("unknown"));
    assert.equal(report.noted, count("noted"));
    assert.equal(report.rejected, count("rejected"));
    assert.equal(report.merged, count("merged"));
    assert.equal(
      report.reasons.reduce((sum, reason) => sum + reason.count, 0),
      recordedOnDay.length,
    );
    assert.equal(report.active, listings.filter(({ snapshot_date }) => snapshot_date === report.day).length);
  }
});
