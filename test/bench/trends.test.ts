/** Trend queries of the bench suite: a peer over flat rows of the past returns what Carquet returns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dataset } from "../../bench/dataset/dataset.ts";
import { writeFlatRows } from "../../bench/dataset/flat-rows.ts";
import { writeHistoryRows } from "../../bench/dataset/history-rows.ts";
import { loadSampleValues } from "../../bench/dataset/sample-values.ts";
import { pastDayCases, trendCases } from "../../bench/history-cases.ts";
import { openDuckdb } from "../../bench/peers/duckdb.ts";
import { listAt, type TrendSpec } from "../../bench/queries/query.ts";
import { trendQuery } from "../../bench/queries/trends.ts";
import { openInProcess } from "../../bench/servers/carquet.ts";
import { createLakeOfEveryState } from "../support/lakes/every-state.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../support/scope.ts";

const { lake } = await createLakeOfEveryState(fileScope);
const folder = await temporaryFolder(fileScope);
await writeFlatRows(lake, folder);
await writeHistoryRows(lake, folder);

const firstDay = "2026-03-24";
const lastDay = "2026-04-04";
const shape: Dataset["shape"] = { listings: 31, days: 12, end: lastDay, seed: 1, options: "typical" };
const metrics: TrendSpec["metrics"] = [
  { kind: "count", name: "count" },
  { kind: "percentile", name: "price.p90", fraction: 0.9 },
  { kind: "price_drops", name: "price_drops" },
  { kind: "days_supply", name: "days_supply" },
];
const summed: TrendSpec["metrics"] = [
  { kind: "mean", name: "price.mean" },
  { kind: "count", name: "count" },
];
const spec = { metrics, firstDay, period: { start: firstDay, end: lastDay }, filters: [] };
const queries = [
  trendQuery({ ...spec, interval: "day" }),
  trendQuery({ ...spec, interval: "week", filters: [{ kind: "equals", column: "make", value: "Honda" }] }),
  trendQuery({ ...spec, interval: "week", facets: ["make"] }),
  trendQuery({ ...spec, interval: "month", filters: [{ kind: "equals", column: "make", value: "Lada" }] }),
  trendQuery({ ...spec, interval: "day", metrics: summed, facets: ["make", "state"] }),
  trendQuery({ ...spec, interval: "week", metrics: summed, filters: [{ kind: "maxPrice", price: 20_015 }] }),
];

const carquet = await openInProcess(lake);
const peer = await openDuckdb({ shape, folder, lake, flat: folder, history: folder }, () => {});
onScopeEnd(fileScope, () => carquet.close());
onScopeEnd(fileScope, () => peer.close());

for (const levels of ["history", "intervals"] as const)
  test(`a trend over rows of ${levels} equals Carquet's`, async () => {
    for (const query of queries) {
      const ours: unknown = JSON.parse(await carquet.fetch(query.path));
      const theirs = await query.execute({ ...peer, levels });
      query.compare(ours, theirs, { name: "duckdb", tolerance: 0 });
      assert.equal(listAt(ours, "data").length > 0, true);
    }
    const [daily, , , none] = queries;
    const answerOf = async (path = ""): Promise<unknown> => JSON.parse(await carquet.fetch(path));
    assert.equal(daily?.matchCount(await answerOf(daily.path)), 12 * 31 - 6);
    assert.equal(none?.matchCount(await answerOf(none.path)), 0);
  });

test("requests for past days over rows of intervals equal Carquet's, in both months", async () => {
  const values = await loadSampleValues({ shape, folder, lake, flat: folder, history: folder });
  const cases = Object.entries(pastDayCases(values));
  assert.deepEqual([cases.length, cases.flatMap(([, queries]) => queries).length], [8, 4 * 10]);
  for (const query of cases.flatMap(([, queries]) => queries)) {
    const ours: unknown = JSON.parse(await carquet.fetch(query.path));
    query.compare(ours, await query.execute(peer), { name: "duckdb", tolerance: 0 });
    assert.ok(query.matchCount(ours) > 20);
  }
});

test("all cases are valid requests, each with its own path", async () => {
  const values = await loadSampleValues({ shape, folder, lake, flat: folder, history: folder });
  const queries = Object.values(trendCases({ ...values, listings: 1_000_000 })).flat();
  for (const { path } of queries) await carquet.fetch(path);
  assert.equal(new Set(queries.map(({ path }) => path)).size, queries.length);
});

test("a different value or sample is a difference", () => {
  const [query] = queries;
  const bodyOf = (value: number | null, sample: number) => ({
    data: [
      { value: null, points: [{ start: firstDay, end: lastDay, metrics: [{ name: "price.p90", value, sample }] }] },
    ],
  });
  const compare = (theirs: object) => query?.compare(bodyOf(5, 30), theirs, { name: "duckdb", tolerance: 0 });
  compare(bodyOf(5 + 1e-9, 30));
  for (const theirs of [bodyOf(6, 30), bodyOf(null, 30), bodyOf(5, 31)])
    assert.throws(() => compare(theirs), /duckdb returned .* at 0\.points\.0\.metrics\.0\./);
});
