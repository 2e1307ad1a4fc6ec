import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sha256Of } from "../../src/base/files.ts";
import type { DatabaseOptions } from "../../src/db/duckdb.ts";
import type { MarketShape } from "../../src/demo/market-shape.ts";
import { generated } from "../support/lakes/generated.ts";
import { type Scope, wholeFile } from "../support/scope.ts";

/** The content of every file of a generated market, by path. */
async function contents(
  scope: Scope,
  shape: Partial<MarketShape>,
  options: DatabaseOptions = {},
): Promise<Readonly<Record<string, string>>> {
  const folder = await generated(scope, { listings: 1500, days: 2, ...shape }, options);
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name)).sort();
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path.slice(folder.length), await sha256Of(path)] as const)),
  );
}

describe("the same seed", { concurrency: 2 }, () => {
  for (const [format, options] of [
    ["csv", "typical"],
    ["parquet", "distinct"],
  ] as const) {
    test(`gives the same bytes on one thread and on two, as ${format}, equipment ${options}`, async () => {
      const [one, two] = [
        await contents(wholeFile, { format, options }, { threads: 1 }),
        await contents(wholeFile, { format, options }, { threads: 2 }),
      ];
      assert.deepEqual(one, two);
      assert.equal(Object.keys(one).length, 10);
    });
  }
});

test("another seed gives another market", async () => {
  const [one, other] = [await contents(wholeFile, { seed: 1 }), await contents(wholeFile, { seed: 2 })];
  assert.notEqual(one["/2026-11-19/inventory.csv"], other["/2026-11-19/inventory.csv"]);
});
