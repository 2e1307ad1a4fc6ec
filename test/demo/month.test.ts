import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { generated, rowsOf } from "../support/lakes/generated.ts";
import { ask, lakeOf } from "../support/lakes/lakes.ts";
import { wholeFile } from "../support/scope.ts";

/** More trouble than is usual, so that in a small market everything happens. */
const shares = {
  shared: 0.06,
  transferred: 0.06,
  relisted: 0.06,
  dirt: 0.1,
  late: 0.03,
  partial: 0.03,
  empty: 0.02,
  absent: 0.04,
  closing: 0.1,
};

const folder = await generated(wholeFile, { listings: 2500, days: 30, shares });
const { lake, accounts } = await lakeOf(wholeFile, folder);
const truth = await rowsOf(join(folder, "truth.csv"));

/** What ingest counts by itself. */
const counted = [
  "rows",
  "listed",
  "elsewhere",
  "merged",
  "rejected",
  "unknown",
  "noted",
  "active",
  "missing",
  "sold",
  "ended",
  "collapsed",
] as const;

test("a month that was generated and ingested is what the generator says it caused, day by day", () => {
  const told = truth.map((row) =>
    Object.fromEntries(["day", ...counted].map((what) => [what, what === "day" ? row.day : Number(row[what])])),
  );
  const found = accounts.map((account) =>
    Object.fromEntries(["day" as const, ...counted].map((what) => [what, account[what]])),
  );
  assert.deepEqual(found, told);
});

test("cars that were sold and listed again, and cars that changed hands, are those that the generator moved", async () => {
  const [found] = await ask(
    lake,
    `SELECT (SELECT count(*)::INTEGER FROM ended) AS ended,
            (SELECT count(*)::INTEGER FROM (SELECT vin, dealer_id FROM (SELECT vin, dealer_id, id FROM active UNION SELECT vin, dealer_id, id FROM missing UNION SELECT vin, dealer_id, id FROM sold)
                    GROUP BY ALL HAVING count(*) > 1)) AS relisted`,
  );
  const sum = (what: string): number => truth.reduce((total, row) => total + Number(row[what]), 0);
  assert.deepEqual(found, { ended: sum("transferred"), relisted: sum("relisted") });
});

test("in a month of trouble everything has happened", () => {
  for (const what of Object.keys(truth[0] ?? {}).filter((column) => column !== "day")) {
    assert.ok(
      truth.some((row) => Number(row[what]) > 0),
      what,
    );
  }
});
