/** Generated markets are byte-identical for the same seed. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sha256Of } from "../../src/base/files.ts";
import type { DatabaseOptions } from "../../src/db/duckdb.ts";
import type { MarketShape } from "../../src/demo/market-shape.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import type { Scope } from "../support/scope.ts";

/** Returns the SHA-256 of every file of a generated market, by path. */
async function hashGenerated(
  scope: Scope,
  shape: Partial<MarketShape>,
  options: DatabaseOptions = {},
): Promise<Readonly<Record<string, string>>> {
  const folder = await generateFeeds(scope, { listings: extentOf(400, 1500), days: 2, ...shape }, options);
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
    test(`generates the same bytes on one thread and on two, as ${format}, equipment ${options}`, {
      skip: skipInShortRun,
    }, async (scope) => {
      const first = await hashGenerated(scope, { format, options }, { threads: 1 });
      const second = await hashGenerated(scope, { format, options }, { threads: 2 });
      assert.deepEqual(first, second);
      assert.equal(Object.keys(first).length, 10);
    });
  }
});

test("another seed generates another market", { skip: skipInShortRun }, async (scope) => {
  const first = await hashGenerated(scope, { seed: 1 });
  const second = await hashGenerated(scope, { seed: 2 });
  assert.notEqual(first["/2026-11-19/inventory.csv"], second["/2026-11-19/inventory.csv"]);
});
