/** When a comparison of two bench runs reports that Carquet became slower. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertSameAnswer } from "../../bench/measure/assert-same-answer.ts";
import { quantile, timeInterleaved } from "../../bench/measure/timing.ts";
import { compareRuns } from "../../bench/report/compare.ts";
import { measured, type Results, timed } from "../../bench/report/results.ts";
import { tablesOf } from "../../bench/report/tables.ts";

type Compared = Pick<Results, "measurements">;

/** Returns a run of one case with these times in milliseconds. */
const timedRun = (carquet: number, clickhouse: number, duckdb: number, calibration: number): Compared => ({
  measurements: Object.entries({ carquet, clickhouse, duckdb, calibration }).map(([server, ms]) =>
    timed("a page", server, [ms]),
  ),
});

const before = timedRun(10, 30, 20, 5);

for (const { what, now, isSlower } of [
  { what: "the same again", now: timedRun(10, 30, 20, 5), isSlower: false },
  { what: "a machine of half the speed", now: timedRun(20, 60, 40, 10), isSlower: false },
  { what: "Carquet alone takes twice as long", now: timedRun(20, 30, 20, 5), isSlower: true },
  { what: "Carquet takes a little longer", now: timedRun(11, 30, 20, 5), isSlower: false },
  { what: "one peer has become faster", now: timedRun(10, 10, 20, 5), isSlower: false },
  { what: "one peer has become slower, and Carquet too", now: timedRun(20, 60, 20, 5), isSlower: true },
]) {
  test(`${what}: ${isSlower ? "slower" : "not slower"}`, () => {
    assert.deepEqual(
      compareRuns(before, now, 0.8).map((change) => change.isSlower),
      [isSlower],
    );
  });
}

test("a run without peers is compared by its calibration", () => {
  const alone = ({ measurements }: Compared): Compared => ({
    measurements: measurements.filter(({ server }) => server === "carquet" || server === "calibration"),
  });
  assert.equal(compareRuns(alone(before), alone(timedRun(20, 1, 1, 5)), 0.8)[0]?.isSlower, true);
  assert.equal(compareRuns(alone(before), alone(timedRun(20, 1, 1, 10)), 0.8)[0]?.isSlower, false);
});

test("a case that only one run has is not compared", () => {
  assert.deepEqual(compareRuns({ measurements: [] }, before, 0.8), []);
});

test("a table has a row for each name, a column for each unit of a server, and for peers the ratio", () => {
  const run = timedRun(10, 30, 15, 5);
  const rows = measured("a page", "carquet", { listings: 1000 });
  assert.deepEqual(tablesOf({ measurements: [...rows, ...run.measurements] }), [
    [
      ["", "carquet listings", "ms", "p99", "clickhouse ms", "ratio", "duckdb ms", "ratio"],
      ["a page", "1,000", "10", "10", "30", "3", "15", "1.50"],
    ],
  ]);
});

test("a peer with a different answer ends the run with the first difference", () => {
  const ours = { total: 2, ids: ["a", "b"] };
  assertSameAnswer("/v1/listings", ours, "duckdb", { total: 2, ids: ["a", "b"] });
  assert.throws(
    () => assertSameAnswer("/v1/listings", ours, "duckdb", { total: 2, ids: ["a", "c"] }),
    /\/v1\/listings: duckdb returned "c" at ids\.1: expected Carquet's "b"\./,
  );
});

test("rounds alternate between peers, and a percentile is one of the measured times", async () => {
  const order: string[] = [];
  const turn = (name: string) => ({ name, run: async (round: number) => order.push(`${name}${round}`) });
  const times = await timeInterleaved([turn("a"), turn("b")], { roundsMax: 2, budgetMs: 1000, slowMs: 1000 });
  assert.deepEqual(order, ["a0", "b0", "a1", "b1"]);
  assert.equal(times.get("a")?.length, 2);
  assert.deepEqual([quantile([3, 1, 2], 0.5), quantile([3, 1, 2], 0.99), quantile([1, 2], 0.5)], [2, 3, 1]);
});
