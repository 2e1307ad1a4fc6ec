/** A generated month, ingested and compared with the generator's record. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { textIn } from "../../src/base/json.ts";
import { explainVin } from "../../src/query/evidence/evidence.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import { extentOf } from "../support/extent.ts";
import { generateFeeds, readCsv } from "../support/lakes/generated.ts";
import { createLake, queryLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

/** Larger shares of irregularities than usual, so that each kind occurs in a small market. */
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

const folder = await generateFeeds(fileScope, { listings: extentOf(1500, 2500), days: extentOf(11, 30), shares });
const { lake, reports } = await createLake(fileScope, folder);
const truth = await readCsv(join(folder, "truth.csv"));

/** Counts that ingest reports. */
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

test("an ingested month matches the generator's record, day by day", () => {
  const recorded = truth.map((row) =>
    Object.fromEntries(["day", ...counted].map((what) => [what, what === "day" ? row.day : Number(row[what])])),
  );
  const found = reports.map((account) =>
    Object.fromEntries(["day" as const, ...counted].map((what) => [what, account[what]])),
  );
  assert.deepEqual(found, recorded);
});

test("relisted and transferred cars are those that the generator moved", async () => {
  const [found] = await queryLake(
    lake,
    `SELECT (SELECT count(*)::INTEGER FROM ended) AS ended,
            (SELECT count(*)::INTEGER FROM (SELECT vin, dealer_id FROM (SELECT vin, dealer_id, id FROM active UNION SELECT vin, dealer_id, id FROM missing UNION SELECT vin, dealer_id, id FROM sold)
                    GROUP BY ALL HAVING count(*) > 1)) AS relisted`,
  );
  const sum = (what: string): number => truth.reduce((total, row) => total + Number(row[what]), 0);
  assert.deepEqual(found, { ended: sum("transferred"), relisted: sum("relisted") });
});

test("a month with many irregularities has each kind of event", () => {
  for (const what of Object.keys(truth[0] ?? {}).filter((column) => column !== "day")) {
    assert.ok(
      truth.some((row) => Number(row[what]) > 0),
      what,
    );
  }
});

test("no car is for sale at half its value", async () => {
  const [found] = await queryLake(
    lake,
    "SELECT count(*)::INTEGER AS rated, min(price_to_value) AS lowest FROM active WHERE price_to_value IS NOT NULL",
  );
  assert.ok(Number(found?.rated) > extentOf(600, 1000) && Number(found?.lowest) > -0.5, JSON.stringify(found));
});

test("more cars leave on Fridays and Saturdays than on Sundays", () => {
  const meanOn = (...weekdays: readonly number[]): number => {
    const days = truth.slice(1).filter((row) => weekdays.includes(new Date(String(row.day)).getUTCDay()));
    return days.reduce((sum, row) => sum + Number(row.missing), 0) / days.length;
  };
  const busy = meanOn(5, 6);
  const sunday = meanOn(0);
  assert.ok(busy > 1.6 * sunday, `${busy} on Fridays and Saturdays, ${sunday} on Sundays`);
});

test("evidence has each transfer and each relisting that the generator recorded, and the sale before it", async () => {
  const moved = await queryLake(lake, "SELECT vin FROM listing_intervals GROUP BY vin HAVING count(DISTINCT id) > 1");
  const version = await LakeVersion.open(lake, `${reports.at(-1)?.version}`);
  const events = new Map<string, number>();
  try {
    for (const row of moved) {
      const { steps } = (await explainVin(textIn(row, "vin"), 1000, version)).data;
      const decisions = steps.filter(({ is_confirmed }) => is_confirmed !== null);
      assert.ok(decisions.every(({ is_confirmed }) => is_confirmed));
      const relisted = decisions.filter(
        ({ event, dealer_id }, index) =>
          event === "listed" && decisions[index - 1]?.event === "sold" && decisions[index - 1]?.dealer_id === dealer_id,
      );
      const transferred = decisions.filter(({ rule }) => rule === "superseded");
      for (const [what, found] of Object.entries({ relisted, transferred }))
        for (const { day } of found) events.set(`${day} ${what}`, (events.get(`${day} ${what}`) ?? 0) + 1);
    }
  } finally {
    version.close();
  }
  const recorded = truth.flatMap((row) =>
    ["relisted", "transferred"].map((what): [string, number] => [`${row.day} ${what}`, Number(row[what])]),
  );
  assert.deepEqual([...events].sort(), recorded.filter(([, count]) => count > 0).sort());
});
