/** Other engines read the Iceberg tables of a lake: every table, and three days by their intervals. */
import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { integerIn, isObject } from "../../src/base/json.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { tableNames } from "../../src/lake/tables.ts";
import { rewritePaths } from "../../src/lake/writer/version-folder.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { skipInShortRun } from "../support/extent.ts";
import { demoLake } from "../support/lakes/demo.ts";
import { icebergFaults } from "../support/lakes/iceberg.ts";
import { queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { icebergJar } from "./iceberg-jar.ts";
import { runPython, skipReasonOf } from "./python.ts";

interface Expected {
  readonly lake: string;
  readonly days: readonly string[];
  readonly answers: Readonly<Record<"days" | "rows" | "joined", unknown>>;
}

const folder = await temporaryFolder(fileScope);
let expected: Promise<Expected> | undefined;

/** Copies the demo lake, and computes the answers expected of the engines. */
async function prepare(): Promise<Expected> {
  const lake = join(folder, "lake");
  await cp(await demoLake(), lake, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const published = await currentManifest(lake);
  assert.ok(published !== undefined);
  await withWriter(lake, {}, () => rewritePaths(lake));
  assert.deepEqual(await icebergFaults(lake), []);
  const days = [plusDays(published.as_of, -8), plusDays(published.as_of, -1), published.as_of];
  const perDay = await queryLake(
    lake,
    `SELECT snapshot_date::VARCHAR AS day, count(*)::INTEGER AS listings, sum(price)::DOUBLE AS prices, quantile_cont(price, 0.9) AS p90
     FROM active_days WHERE snapshot_date IN (${days.map((day) => `'${day}'`).join()}) GROUP BY 1 ORDER BY 1`,
  );
  const [total] = await queryLake(lake, "SELECT count(*)::INTEGER AS n FROM intervals WHERE valid_to IS NOT NULL");
  const answers = {
    days: perDay.map((row) => Object.values(row)),
    rows: Object.fromEntries(
      tableNames.map((table) => [table, published.tables[table].reduce((sum, { rows }) => sum + rows, 0)]),
    ),
    joined: integerIn(total, "n"),
  };
  return { lake, days, answers };
}

/** Returns an answer with numbers to three decimals: engines interpolate in different orders. */
const rounded = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer), (_, value: unknown) =>
    typeof value === "number" ? Math.round(value * 1000) / 1000 : value,
  );

for (const engine of ["pyiceberg", "chdb", "pyspark"]) {
  const jar = engine === "pyspark" ? icebergJar : undefined;
  const skip = skipInShortRun || (skipReasonOf(engine, jar) ?? false);
  test(`${engine} reads every Iceberg table as Carquet does, and past days by their intervals`, { skip }, async () => {
    expected ??= prepare();
    const { lake, days, answers } = await expected;
    const found = await runPython("iceberg.py", engine, { lake, days, tables: tableNames, jar: icebergJar });
    assert.ok(isObject(found));
    for (const [question, answer] of Object.entries(answers))
      assert.deepEqual(rounded(found[question]), rounded(answer), question);
  });
}
