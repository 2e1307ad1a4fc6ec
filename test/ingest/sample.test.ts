import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import type { Row } from "../../src/base/json.ts";
import { ask, lakeOf, samplePath } from "../support/lakes/lakes.ts";
import { wholeFile } from "../support/scope.ts";

const columns = ["case", "day", "file", "row", "vin", "field", "outcome", "reason", "served"] as const;

type Case = Readonly<Record<(typeof columns)[number], string>>;

const expected: readonly Case[] = recordsOf("expected.csv");
const { lake, accounts } = await lakeOf(wholeFile);
const recorded = await ask(
  lake,
  `SELECT strftime(delivery_date::DATE, '%Y-%m-%d') AS day, file, "row"::INTEGER AS "row", vin, dealer_id, field, outcome, value, reason
   FROM read_parquet('${lake}/rejects/*/*.parquet', hive_partitioning = true)`,
);
const listings = await ask(lake, "FROM snapshots");
const dealers = await ask(lake, "FROM dealers ORDER BY dealer_key");

function recordsOf<Record>(file: string): readonly Record[] {
  return parse(readFileSync(join(samplePath, file), "utf8"), { columns: true });
}

/** What a record says, without the value: how a row of the expectations says it. */
const told = (of: Row): string =>
  JSON.stringify(["day", "file", "row", "vin", "field", "outcome", "reason"].map((key) => String(of[key] ?? "")));

/** A field of a listing or dealer; what providers show of their pricing is a part of its own. */
function fieldOf(row: Row | undefined, field: string): unknown {
  return field === "line_items" && row !== undefined ? ((row.pricing as Row | null)?.line_items ?? null) : row?.[field];
}

/** What is served of a case's vehicle, or of the dealer that its row describes. */
function servedOf({ day, file, row, vin }: Case): Row | undefined {
  if (file !== "dealers.csv") return listings.find((listing) => listing.vin === vin && listing.snapshot_date === day);
  const described = recordsOf<{ dealer_id: string }>(join(day, file))[Number(row) - 1];
  return dealers.findLast((dealer) => dealer.dealer_id === described?.dealer_id);
}

for (const it of expected) {
  test(`${it.day}: ${it.case}: ${it.outcome || "nothing recorded"}${it.served && `, served as ${it.served}`}`, () => {
    if (it.outcome !== "") assert.ok(recorded.map(told).includes(told(it)), `not recorded: ${told(it)}`);
    if (it.served === "") return;
    const served = servedOf(it);
    if (it.served === "absent") assert.equal(served, undefined);
    else assert.deepEqual(fieldOf(served, it.field), JSON.parse(it.served));
  });
}

test("nothing is recorded on either day but what the sample's dirt explains", () => {
  assert.deepEqual(
    recorded.map(told).sort(),
    expected
      .filter(({ outcome }) => outcome !== "")
      .map(told)
      .sort(),
  );
});

test("a record keeps the value as it was written, and whose it is", () => {
  const price = recorded.find(({ field, reason }) => field === "price" && reason === "not a whole number");
  assert.equal(price?.value, "Call for price");
  assert.equal(price?.dealer_id, "7c19e3a8-52d6-4f0b-b7e4-06a9c8d31f25");
});

test("every row of a day is listed, attributed elsewhere, merged or rejected", () => {
  assert.deepEqual(
    accounts.map(({ day, rows }) => [day, rows]),
    [
      ["2026-11-18", recordsOf("2026-11-18/inventory.csv").length],
      ["2026-11-19", recordsOf("2026-11-19/inventory.csv").length],
    ],
  );
  for (const { day, rows, listed, elsewhere, merged, rejected } of accounts) {
    assert.equal(listed + elsewhere + merged + rejected, rows, day);
  }
});

test("the account of a day counts what was recorded, and the listings that are active", () => {
  for (const account of accounts) {
    const ofDay = recorded.filter(({ day }) => day === account.day);
    const count = (outcome: string) => ofDay.filter((record) => record.outcome === outcome).length;
    assert.equal(account.unknown, count("unknown"));
    assert.equal(account.noted, count("noted"));
    assert.equal(account.rejected, count("rejected"));
    assert.equal(account.merged, count("merged"));
    assert.equal(
      account.reasons.reduce((sum, reason) => sum + reason.count, 0),
      ofDay.length,
    );
    assert.equal(account.active, listings.filter(({ snapshot_date }) => snapshot_date === account.day).length);
  }
});
