/** Trend queries of the bench suite: a peer over flat rows of the past returns what Carquet returns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dataset } from "../../bench/dataset/dataset.ts";
import { writeFlatRows } from "../../bench/dataset/flat-rows.ts";
import { writeHistoryRows } from "../../bench/dataset/history-rows.ts";
import { openDuckdb } from "../../bench/peers/duckdb.ts";
import { listAt, type TrendSpec } from "../../bench/queries/query.ts";
import { trendQuery } from "../../bench/queries/trends.ts";
import { openInProcess } from "../../bench/servers/carquet.ts";
import { createLakeOfEveryState } from "../support/lakes/every-state.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLakeOfEveryState(fileScope);
const folder = await temporaryFolder(fileScope);
await writeFlatRows(lake, folder);
await writeHistoryRows(lake, folder);

const [firstDay, lastDay] = ["2026-03-24", "2026-04-04"];
const shape: Dataset["shape"] = { listings: 31, days: 12, end: lastDay, seed: 1, options: "typical" };
const metrics: TrendSpec["metrics"] = [
  { kind: "count", name: "count" },
  { kind: "percentile", name: "price.p90", fraction: 0.9 },
  { kind: "price_drops", name: "price_drops" },
  { kind: "days_supply", name: "days_supply" },
];
const spec = { metrics, firstDay, period: { start: firstDay, end: lastDay }, filters: [] };
const queries = [
  trendQuery({ ...spec, interval: "day" }),
  trendQuery({ ...spec, interval: "week", filters: [{ kind: "equals", column: "make", value: "Honda" }] }),
  trendQuery({ ...spec, interval: "week", facet: "make" }),
  trendQuery({ ...spec, interval: "month", filters: [{ kind: "equals", column: "make", value: "Lada" }] }),
];

test("a trend over flat rows equals Carquet's", async () => {
  const [carquet, peer] = await Promise.all([
    openInProcess(lake),
    openDuckdb({ shape, folder, lake, flat: folder, history: folder }, () => {}),
  ]);
  try {
    for (const query of queries) {
      const ours: unknown = JSON.parse(await carquet.fetch(query.path));
      const theirs = await query.execute(peer);
      query.compare(ours, theirs, { name: "duckdb", tolerance: 0 });
      assert.ok(listAt(ours, "data").length > 0);
    }
    const [daily, , , none] = queries;
    const answerOf = async (path = ""): Promise<unknown> => JSON.parse(await carquet.fetch(path));
    assert.equal(daily?.matchCount(await answerOf(daily.path)), 12 * 31 - 6);
    assert.equal(none?.matchCount(await answerOf(none.path)), 0);
  } finally {
    await carquet.close();
    await peer.close();
  }
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
