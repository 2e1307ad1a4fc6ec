/** The analysts' session: which statements it refuses, its views of past days, and how it splits a text into statements. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type AnalystDatabase, openAnalystDatabase } from "../../src/lake/analyst/analyst-database.ts";
import { splitStatements } from "../../src/lake/analyst/statements.ts";
import { currentVersion, readManifest } from "../../src/lake/manifest.ts";
import { valuedNames } from "../../src/listing/schema.ts";
import { createLake, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { assertRefused, type RefusedStatement } from "./refused-statements.ts";

const { lake } = await createLake(fileScope);
const outside = await temporaryFolder(fileScope);
writeFileSync(join(outside, "secret.csv"), "a\n1\n");
const manifest = await readManifest(lake, (await currentVersion(lake)) ?? "");
const dataFile = join(lake, manifest.tables.listings[0]?.path ?? "");

const statement = /^Invalid statement /;
const file = /Cannot access (file|directory) .*disabled by configuration/;
const name = /^Invalid function /;
const locked = /configuration has been locked|^Invalid statement SET/;

const hostile: readonly RefusedStatement[] = [
  [`COPY active TO '${outside}/x.csv'`, file],
  [`COPY (SELECT 1) TO '${lake}/CURRENT'`, file],
  [`COPY (SELECT 1 AS a) TO '${dataFile}' (FORMAT parquet)`, statement],
  [`EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO '${dataFile}' (FORMAT parquet)`, statement],
  [`/* c */ EXPLAIN (ANALYZE, FORMAT json) COPY (SELECT 1 AS a) TO '${dataFile}'`, statement],
  [`EXPLAIN/**/ANALYZE COPY (SELECT 1 AS a) TO '${dataFile}'`, /Parser Error|^Invalid statement/],
  [`PREPARE p AS COPY (SELECT 1 AS a) TO '${dataFile}'`, statement],
  [`EXPORT DATABASE '${outside}/export'`, file],
  [`IMPORT DATABASE '${outside}'`, file],
  [`FROM read_text('/etc/passwd')`, file],
  [`FROM '${outside}/secret.csv'`, file],
  [`FROM read_csv('${dataFile}/../../../../secret.csv')`, file],
  [`FROM glob('${outside}/*')`, file],
  [`FROM read_text('${lake}/CURRENT')`, file],
  [`CREATE VIEW v AS FROM read_csv('${outside}/secret.csv')`, file],
  [`SELECT 1; COPY (SELECT 1) TO '${outside}/x'`, file],
  [`FROM 'https://example.com/x.parquet'`, file],
  [`ATTACH '${outside}/x.db'`, statement],
  ["ATTACH ':memory:' AS other", statement],
  ["INSTALL httpfs", statement],
  ["LOAD httpfs", /Loading external extensions is disabled|^Invalid statement/],
  ["SET enable_external_access = true", locked],
  ["SET lock_configuration = false", locked],
  ["SET search_path = 'temp'", locked],
  ["SET GLOBAL memory_limit = '1TB'", locked],
  ["RESET threads", locked],
  [`PRAGMA profiling_output = '${outside}/profile'`, /locked|^Invalid statement/],
  ["PRAGMA enable_profiling", name],
  [`FROM enable_logging(storage = 'file', storage_config = {'path': '${dataFile}'})`, name],
  [`FROM "ENABLE_PROFILING"(save_location = '${outside}/profile.txt')`, name],
  ["FROM query/* */('FROM enable_' || 'logging()')", name],
  ["FROM query\u200b('SELECT 1')", name],
  [`FROM "query"('SELECT 1')`, name],
  ["SELECT error(dealer_name) FROM active", name],
  [`SELECT main."error" /* c */ ('a')`, name],
  [`FROM U&"enable\\005Flogging"()`, /Parser Error|^Invalid function/],
  [`FROM U&"query!" UESCAPE '!' ('SELECT 1')`, /Parser Error|^Invalid function/],
  ["SELECT 1 -- '\r, error('a')", name],
  ["SELECT 1 /* /* /* */ */ ' */, error('a') --'", name],
  ["CREATE TYPE ée AS VARCHAR; SELECT ée'\\', error('a') --'", name],
  ["SELECT $a$ $A$ $a$, error('a')", name],
  ["SELECT 'it''s', error('a') -- '", name],
  [`SELECT "'", error('a'), "'"`, name],
  ["FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))", name],
  ["CALL pragma_version()", statement],
  ["CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')", /^Invalid statement CREATE SECRET/],
  ["CREATE/**/SECRET s (TYPE http, BEARER_TOKEN 'x')", /^Invalid statement CREATE SECRET/],
  ["BEGIN", statement],
  ["VACUUM", statement],
];

const allowed: readonly string[] = [
  "DESCRIBE active",
  "SUMMARIZE builds",
  "SHOW TABLES",
  "EXPLAIN ANALYZE SELECT count(*) FROM active",
  "PRAGMA table_info('active')",
  "PIVOT (SELECT make, year FROM active) ON year USING count(*) GROUP BY make",
  "CREATE TEMP TABLE t AS SELECT 1 AS a; INSERT INTO t VALUES (2); SELECT sum(a) FROM t",
  "SET VARIABLE day = '2026-11-19'; SELECT count(*) FROM active WHERE listed_at < getvariable('day')::DATE + 1",
  "SELECT 'query' AS query, 1 AS enabled",
  "SELECT count(*) FROM active WHERE dealer_name = 'Checkpoint Motors' -- query('')",
  "SELECT 'it''s error(1)' AS error /* checkpoint */ ORDER BY error",
  "SELECT MAP {'a': 1} AS m, INTERVAL 1 DAY AS i",
];

const contentsOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();

const inSession = <T>(work: (database: AnalystDatabase) => Promise<T>): Promise<T> =>
  openAnalystDatabase(lake, {}, work);

test("a statement that reads other files, writes, or changes settings is refused", async () => {
  const before = [contentsOf(lake), contentsOf(outside), readFileSync(dataFile).toString("base64")];
  await inSession(async (database) => {
    await assertRefused(database, hostile);
    assert.equal((await database.query("SELECT 1 AS still_usable")).rows.length, 1);
  });
  assert.deepEqual([contentsOf(lake), contentsOf(outside), readFileSync(dataFile).toString("base64")], before);
});

test("queries and changes of the session's own tables are allowed", async () => {
  await inSession(async (database) => {
    for (const text of allowed) assert.ok((await database.query(text)).rows.length > 0, text);
  });
});

test("values of every type of the engine can be written in every format", async () => {
  await inSession(async (database) => {
    const all = "FROM test_all_types()";
    for (const format of ["csv", "ndjson", "parquet", "arrow"] as const)
      for (const isExact of format === "ndjson" ? [false, true] : [false]) {
        const written = await database.write(all, { format, isExact });
        assert.equal(written?.rows, 3, format);
      }
  });
});

describe("views of past days", () => {
  test("a listing is active once on each day, from the first day of an interval to the day before its end", async () => {
    const counts = await queryLake(
      lake,
      "SELECT snapshot_date, count(*)::INTEGER AS n, count(DISTINCT id)::INTEGER AS ids FROM active_days GROUP BY ALL ORDER BY ALL",
    );
    const published = Object.entries(manifest.days).map(([snapshot_date, n]) => ({ snapshot_date, n, ids: n }));
    assert.deepEqual(counts, published);
    const ended = `SELECT count(*)::INTEGER AS n FROM listing_intervals WHERE valid_to IN (SELECT snapshot_date FROM active_days)`;
    assert.ok(Number((await queryLake(lake, ended))[0]?.n) > 0, "intervals that end on a published day");
  });

  test("snapshot returns the rows of a day as active had them", async () => {
    for (const day of ["2026-11-18", "2026-11-19"]) {
      const [compared] = await queryLake(
        lake,
        `SELECT count(*)::INTEGER AS n, (SELECT count(*)::INTEGER FROM active_days WHERE snapshot_date = '${day}') AS expected FROM snapshot('${day}')`,
      );
      assert.equal(compared?.n, compared?.expected);
    }
    const difference = `(SELECT * EXCLUDE (${valuedNames}) FROM active EXCEPT FROM snapshot('2026-11-19'))`;
    assert.deepEqual(await queryLake(lake, `SELECT count(*)::INTEGER AS n FROM ${difference}`), [{ n: 0 }]);
  });

  test("a day without a snapshot is an error that names the nearest", async () => {
    const message = (day: string, nearest: string): object => ({
      message: `Invalid Input Error: Invalid day "${day}" for snapshot: expected a day with a snapshot; the nearest: ${nearest}.`,
    });
    await assert.rejects(queryLake(lake, "FROM snapshot('2026-10-01')"), message("2026-10-01", "2026-11-18"));
    await assert.rejects(queryLake(lake, "FROM snapshot('2026-12-01')"), message("2026-12-01", "2026-11-19"));
  });

  test("price_changes has a row for each change of each listing", async () => {
    const states = ["active", "missing", "sold", "ended"];
    const changes = states.map((view) => `SELECT id, unnest(price_history, recursive := true) FROM ${view}`);
    const expected = await queryLake(
      lake,
      `SELECT id, changed_at, price, price_before, miles FROM (${changes.join(" UNION ALL ")}) ORDER BY ALL`,
    );
    const rows = await queryLake(
      lake,
      "SELECT listing_id AS id, changed_at, price, price_before, miles FROM price_changes ORDER BY ALL",
    );
    assert.ok(rows.length > 0);
    assert.deepEqual(rows, expected);
    assert.deepEqual(
      await queryLake(lake, "FROM price_changes WHERE make IS NULL OR dealer_id IS NULL OR date <> changed_at::DATE"),
      [],
    );
  });
});

const splits: readonly (readonly [text: string, statements: readonly string[], rest: string])[] = [
  ["SELECT 1", [], "SELECT 1"],
  ["SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"], ""],
  [";; -- only ;\n;", [], ""],
  [`SELECT ';', ";", $$;$$, $a$;$$;$a$, e'\\';' ;`, [`SELECT ';', ";", $$;$$, $a$;$$;$a$, e'\\';'`], ""],
  ["SELECT 'it''s;' /* ; /* ; */ ; */; x", ["SELECT 'it''s;' /* ; /* ; */ ; */"], " x"],
  ["-- a\rSELECT 1; -- b;\r;", ["-- a\rSELECT 1"], ""],
  ["SELECT 'open ; ", [], "SELECT 'open ; "],
  ["SELECT /* open ; ", [], "SELECT /* open ; "],
];

test("a text is split at the semicolons between its statements", () => {
  for (const [text, statements, rest] of splits) assert.deepEqual(splitStatements(text), { statements, rest }, text);
});
