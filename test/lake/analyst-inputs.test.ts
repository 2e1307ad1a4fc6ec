/** What analysts add to a session: their own files as views, values of parameters, and another version. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { UserError } from "../../src/base/user-error.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { literal, sql } from "../../src/db/sql.ts";
import {
  type AnalystDatabase,
  type AnalystOptions,
  openAnalystDatabase,
} from "../../src/lake/analyst/analyst-database.ts";
import { attachFiles } from "../../src/lake/analyst/attached-files.ts";
import { checkParameters } from "../../src/lake/analyst/statements.ts";
import { versionsIn } from "../../src/lake/manifest.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { assertRefused, type RefusedStatement } from "./refused-statements.ts";

const { lake } = await createLake(fileScope);
const folder = join(await temporaryFolder(fileScope), "it's [mine]");
mkdirSync(folder);

const write = (name: string, content: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const mine = write("mine.csv", "make,weight\nFord,2\nnone,3\n");
const secret = write("secret.csv", "make,weight\nsecret,1\n");

const inSession = <T>(options: AnalystOptions, work: (database: AnalystDatabase) => Promise<T>): Promise<T> =>
  openAnalystDatabase(lake, { threads: 1, ...options }, work);

const rowsWith = async (options: AnalystOptions, text: string): Promise<unknown> =>
  inSession(options, async (database) => (await database.query(text)).rows);

async function writeParquet(name: string): Promise<string> {
  const path = join(folder, name);
  const database = await DuckDatabase.open({ threads: 1 });
  try {
    await database.using((session) =>
      session.run(sql`COPY (SELECT 'Ford' AS make, 2 AS weight) TO ${literal(path)} (FORMAT parquet)`),
    );
  } finally {
    database.close();
  }
  return path;
}

/** Statements on the view `mine` of an attached file, which must not write, nor open anything else. */
const hostile: readonly RefusedStatement[] = [
  [`FROM read_csv('${quoted(secret)}')`, /Cannot access file/],
  [`FROM read_csv('${quoted(mine)}/../secret.csv')`, /Cannot access file/],
  [`FROM read_csv(['${quoted(mine)}', '${quoted(secret)}'])`, /Cannot access file/],
  [`FROM glob('${quoted(folder)}/*')`, /Cannot access (file|directory)/],
  [`FROM read_csv('${quoted(folder)}/*.csv')`, /Cannot access file/],
  [`COPY (SELECT 1 AS a) TO '${quoted(mine)}'`, /^Invalid statement COPY/],
  [`EXPLAIN ANALYZE COPY mine TO '${quoted(mine)}'`, /^Invalid statement/],
  [`EXPORT DATABASE '${quoted(folder)}'`, /Cannot access|^Invalid statement/],
  ["INSERT INTO mine VALUES ('x', 1)", /mine is not an table|not a table/],
  ["UPDATE mine SET weight = 1", /Can only update base table/],
  ["DELETE FROM mine", /Can only delete from base table/],
  [`ATTACH '${quoted(mine)}' AS other`, /^Invalid statement ATTACH/],
  ["SET allowed_paths = ['/']", /locked|^Invalid statement SET/],
  ["SET enable_external_access = true", /locked|^Invalid statement SET/],
  ["RESET allowed_paths", /locked|^Invalid statement/],
];

function quoted(path: string): string {
  return path.replaceAll("'", "''").replaceAll("[", "[[]");
}

describe("an attached file", () => {
  test("is a view that joins those of the version, in each format", async () => {
    const ndjson = '{"make":"Ford","weight":2}\n';
    const attach = new Map([
      ["csv", mine],
      ["gz", write("mine.CSV.gz", gzipSync(readFileSync(mine)))],
      ["lines", write("mine.ndjson", ndjson)],
      ["jsonl", write("mine.jsonl", ndjson)],
      ["parquet_file", await writeParquet("mine.parquet")],
    ]);
    await inSession({ attach }, async (database) => {
      for (const view of attach.keys()) {
        const query = `SELECT any_value(weight)::INTEGER AS weight, count(*) > 0 AS found FROM active JOIN ${view} USING (make)`;
        assert.deepEqual((await database.query(query)).rows, [{ weight: 2, found: true }], view);
      }
    });
  });

  test("opens no other file, and is not written", async () => {
    const before = [readdirSync(folder).sort(), readFileSync(mine, "utf8")];
    await inSession({ attach: new Map([["mine", mine]]) }, async (database) => {
      await assertRefused(database, hostile);
      assert.equal((await database.query("FROM mine")).rows.length, 2);
      assert.equal((await database.query(`FROM read_csv('${quoted(mine)}', all_varchar = true)`)).rows.length, 2);
    });
    assert.deepEqual([readdirSync(folder).sort(), readFileSync(mine, "utf8")], before);
  });

  const refused: readonly (readonly [view: string, file: string, says: RegExp])[] = [
    ["active", mine, /as active: expected a name that no view, macro or keyword has\.$/],
    ["ACTIVE", mine, /expected a name that no view/],
    ["snapshot", mine, /expected a name that no view/],
    ["select", mine, /expected a name that no view/],
    ["left", mine, /expected a name that no view/],
    ["a", join(folder, "none.csv"), /none\.csv: no such file: expected a file to read\.$/],
    ["a", folder, /not a file: expected a file to read\.$/],
    ["a", write("mine.xlsx", "x"), /mine\.xlsx: unknown format: expected a name that ends in one of \.csv, /],
    ["a", write("bad.parquet", "text"), /^Cannot attach \S+it's \[mine\]\/bad\.parquet: [^\n]+$/],
    ["a", write("bad.csv", Buffer.from("a\n\xff\xfe\n", "latin1")), /^Cannot attach [^\n]+unicode[^\n]+$/],
  ];

  test("is refused with what was expected", async () => {
    const database = await DuckDatabase.open({ threads: 1 });
    try {
      await database.using(async (session) => {
        await session.run(sql`CREATE VIEW active AS SELECT 1 AS a`);
        await session.run(sql`CREATE MACRO snapshot(day) AS TABLE SELECT 1 AS a`);
        for (const [view, file, says] of refused)
          await assert.rejects(
            attachFiles(session, new Map([[view, file]])),
            (thrown) => thrown instanceof UserError && (says.test(thrown.message) || assert.fail(thrown.message)),
          );
      });
    } finally {
      database.close();
    }
  });
});

/** The text of a parameter, its type and its value as text. */
const values: readonly (readonly [text: string, type: string, value: string | null])[] = [
  ["5", "INTEGER", "5"],
  ["-5", "INTEGER", "-5"],
  ["9007199254740993", "BIGINT", "9007199254740993"],
  ["1.50", "DECIMAL(3,2)", "1.50"],
  ["1e3", "DOUBLE", "1000.0"],
  ["true", "BOOLEAN", "true"],
  ["null", "INTEGER", null],
  ['"10001"', "VARCHAR", "10001"],
  ["02134", "VARCHAR", "02134"],
  ["2026-11-18", "VARCHAR", "2026-11-18"],
  ["", "VARCHAR", ""],
  ['"open', "VARCHAR", '"open'],
  ["'); DROP VIEW active; --", "VARCHAR", "'); DROP VIEW active; --"],
];

describe("a parameter", () => {
  test("is a number, true, false, null or a string in JSON, else a text", async () => {
    const param = new Map(values.map(([text], index) => [`p${index}`, text]));
    await inSession({ param }, async (database) => {
      for (const [index, [text, type, value]] of values.entries()) {
        const { rows } = await database.query(`SELECT typeof($p${index}) AS type, $P${index}::VARCHAR AS value`);
        assert.deepEqual(rows, [{ type, value }], text);
      }
    });
  });

  test("is compared with dates, and used by views, macros, limits and arithmetic", async () => {
    const param = new Map([
      ["day", "2026-11-18"],
      ["n", "1"],
    ]);
    const query = `CREATE VIEW chosen AS SELECT snapshot_date FROM active_days WHERE snapshot_date = $day LIMIT $n;
      SELECT (SELECT count(*) FROM snapshot($day)) > 0 AS found, (snapshot_date + $n)::VARCHAR AS next FROM chosen`;
    assert.deepEqual(await rowsWith({ param }, query), [{ found: true, next: "2026-11-19" }]);
  });

  test("is not read in strings, quoted identifiers and comments", async () => {
    const query = `SELECT '$x' AS a, $$ $x $$ AS b, 1 AS "$x", 2 AS a$x /* $x */ -- $x`;
    assert.deepEqual(await rowsWith({}, query), [{ a: "$x", b: " $x ", $x: 1, a$x: 2 }]);
  });

  test("without a value is refused before the statement runs, and one that no statement names, too", async () => {
    const missing = { message: "Missing parameter $state: expected a value for state." };
    const text = "CREATE TABLE t AS SELECT $make AS a; SELECT $state";
    const param = new Map([["make", "Ford"]]);
    await inSession({ param }, async (database) => {
      await assert.rejects(database.run("CREATE TABLE kept AS SELECT $state AS a"), missing);
      await assert.rejects(database.write("SELECT $state", { format: "ndjson" }), missing);
      await assert.rejects(database.query("FROM kept"), /kept does not exist/);
    });
    assert.throws(() => checkParameters(text, param), missing);
    const both = new Map([...param, ["state", "TX"], ["stat", "TX"]]);
    const unknown = "Unknown parameter stat: expected one of $make, $state, as in the statements.";
    assert.throws(() => checkParameters(text, both), { message: unknown });
    const none = "Unknown parameter make: expected no parameter, as in the statements.";
    assert.throws(() => checkParameters("SELECT '$make'", param), { message: none });
  });
});

test("another version has its own published day; one that the lake does not have is refused", async () => {
  const query = "SELECT max(snapshot_date)::VARCHAR AS day FROM days";
  const [oldest = "", ...later] = [...(await versionsIn(lake))].sort();
  assert.ok(later.length > 0);
  assert.deepEqual(await rowsWith({ dataVersion: oldest }, query), [{ day: oldest.slice(0, 10) }]);
  for (const dataVersion of ["2020-01-01.1", "../x"])
    await assert.rejects(
      rowsWith({ dataVersion }, query),
      /has no version \S+: expected one of its versions, such as 2026-11-19\.1, /,
    );
});
