import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { integerIn } from "../../src/base/json.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { literal, Sql, sql } from "../../src/db/sql.ts";
import { currentVersion } from "../../src/lake/manifest.ts";
import { createLake } from "../support/lakes/lakes.ts";

test("the .sql file beside a manifest defines the documented views in any DuckDB", async (scope) => {
  const { lake } = await createLake(scope);
  const script = readFileSync(join(lake, "versions", `${await currentVersion(lake)}.sql`), "utf8");
  const database = await DuckDatabase.open();
  try {
    await database.using(async (session) => {
      await session.run(sql`SET file_search_path = ${literal(lake)}`);
      await session.run(new Sql([script], []));
      const counted = await session.row(sql`SELECT count(*)::INTEGER AS n FROM active`);
      assert.ok(integerIn(counted, "n") > 100);
    });
  } finally {
    database.close();
  }
});
