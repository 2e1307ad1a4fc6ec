/** Other engines read the Iceberg tables of a lake: three days, today, and the version of a week ago by its snapshot. */
import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { integerIn, isObject } from "../../src/base/json.ts";
import { rewriteIcebergMetadata } from "../../src/lake/iceberg/rewrite.ts";
import { currentManifest, type LakeFile, type Manifest, readManifest } from "../../src/lake/manifest.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { skipInShortRun } from "../support/extent.ts";
import { demoLake } from "../support/lakes/demo.ts";
import { icebergFaults, readIceberg } from "../support/lakes/iceberg.ts";
import { queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { icebergJar } from "./iceberg-jar.ts";
import { runPython, skipReasonOf } from "./python.ts";

interface Expected {
  readonly lake: string;
  readonly days: readonly string[];
  readonly snapshot: number;
  readonly answers: Readonly<Record<"days" | "last_week" | "today" | "joined", unknown>>;
}

const folder = await temporaryFolder(fileScope);
let expected: Promise<Expected> | undefined;

/** Copies the demo lake, and computes the answers expected of the engines. */
async function prepare(): Promise<Expected> {
  const lake = join(folder, "lake");
  await cp(await demoLake(), lake, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  await withWriter(lake, {}, () => rewriteIcebergMetadata(lake));
  assert.deepEqual(await icebergFaults(lake), []);
  const published = await currentManifest(lake);
  assert.ok(published !== undefined);
  const days = [plusDays(published.as_of, -8), plusDays(published.as_of, -1), published.as_of];
  const lastWeek = plusDays(published.as_of, -7);
  const metadata = await readIceberg(lake, "snapshots");
  const found = metadata?.snapshots.find(({ summary }) => summary["carquet.version"]?.startsWith(lastWeek));
  assert.ok(found !== undefined, `no snapshot of ${lastWeek}`);
  const perDay = await queryLake(
    lake,
    `SELECT snapshot_date::VARCHAR AS day, count(*)::INTEGER AS listings, sum(price)::DOUBLE AS prices, quantile_cont(price, 0.9) AS p90
     FROM active_days WHERE snapshot_date IN (${days.map((day) => `'${day}'`).join()}) GROUP BY 1 ORDER BY 1`,
  );
  const earlier = await readManifest(lake, found.summary["carquet.version"] ?? "");
  const [total] = await queryLake(lake, "SELECT count(*)::INTEGER AS n FROM intervals WHERE valid_to IS NOT NULL");
  const answers = {
    days: perDay.map((row) => Object.values(row)),
    last_week: rowCounts(earlier),
    today: rowCounts(published),
    joined: integerIn(total, "n"),
  };
  return { lake, days, snapshot: found["snapshot-id"], answers };
}

/** Returns an answer with numbers to three decimals: engines interpolate in different orders. */
const rounded = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer), (_, value: unknown) =>
    typeof value === "number" ? Math.round(value * 1000) / 1000 : value,
  );

const rowsIn = (files: readonly LakeFile[]): number => files.reduce((sum, { rows }) => sum + rows, 0);

const rowCounts = ({ tables }: Manifest): readonly number[] => [rowsIn(tables.snapshots), rowsIn(tables.sold)];

for (const engine of ["pyiceberg", "chdb", "pyspark"]) {
  const jar = engine === "pyspark" ? icebergJar : undefined;
  const skip = skipInShortRun || (skipReasonOf(engine, jar) ?? false);
  test(`${engine} reads the Iceberg tables as Carquet does, also those of last week`, { skip }, async () => {
    expected ??= prepare();
    const { lake, days, snapshot, answers } = await expected;
    const found = await runPython("iceberg.py", engine, { lake, days, snapshot, jar: icebergJar });
    assert.ok(isObject(found));
    for (const [question, answer] of Object.entries(answers))
      assert.deepEqual(rounded(found[question]), rounded(answer), question);
  });
}
