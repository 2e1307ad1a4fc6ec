/** Why statements fail, as clients of a service read it: no reason names a folder of the machine. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DamagedFile, UserError } from "../../src/base/user-error.ts";
import { reasonOf } from "../../src/cli/statement-process.ts";
import { classifyFault } from "../../src/db/engine-faults.ts";
import { type AnalystDatabase, openAnalystDatabase } from "../../src/lake/analyst/analyst-database.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { copyLake, createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);

/** What statements read. */
const sources = [
  "nothing",
  "read_text('a')",
  "read_csv('~/a.csv')",
  "read_parquet('https://a.example/b.parquet')",
  "glob('*')",
  "duckdb_extensions()",
  "duckdb_secrets()",
  "duckdb_temporary_files()",
  "duckdb_settings()",
  "duckdb_views()",
  "duckdb_databases()",
  "which_secret('s3://a', 's3')",
  "sqlite_scan('a', 'b')",
  "sniff_csv('a')",
  "parquet_metadata('a')",
  "snapshot('2000-01-01')",
  "active",
  "(SELECT file_name AS value FROM parquet_file_metadata((SELECT string_agg(value, '') FROM duckdb_settings() WHERE name = 'allowed_paths')))",
];

/** Statements over a source, each with another kind of error. */
const forms: readonly ((source: string) => string)[] = [
  (source) => `FROM ${source}`,
  (source) => `SELECT count(*)::DATE AS a FROM ${source}`,
  (source) => `SELECT (SELECT string_agg(rest::VARCHAR, ' ') FROM ${source} AS rest)::INTEGER AS a`,
  (source) => `SELECT * FROM ${source} WHERE missing = 1`,
  (source) => `SELECT strptime((SELECT string_agg(COLUMNS(*)::VARCHAR) FROM ${source}), '%Y') AS a`,
  (source) => `CREATE TABLE a AS FROM ${source}; SELECT max(columns(*))::BOOLEAN FROM a`,
  (source) => `DELETE FROM ${source}`,
  (source) => `COPY (FROM ${source}) TO 'a'`,
];

const settings = ["temp_directory", "home_directory", "extension_directory", "secret_directory", "allowed_directories"];

const statements = [
  ...sources.flatMap((source) => forms.map((form) => form(source))),
  ...settings.map((name) => `SELECT (current_setting('${name}')::VARCHAR || 'x')::INTEGER AS a`),
  "LOAD httpfs",
  "ATTACH 'a.db'",
  "IMPORT DATABASE 'a'",
  "SELECT list(range ORDER BY -range) AS a FROM range(20000000)",
];

test("nothing that clients of a service may read shows a folder of the machine", async () => {
  await openAnalystDatabase(lake, { threads: 1, rowsMax: 100_000 }, async (database) => {
    const named = (kind: string, from: string) => database.query(`SELECT DISTINCT ${kind} AS name FROM ${from}`);
    const { rows: functions } = await openAnalystDatabase(lake, { threads: 1 }, (own) =>
      own.query(
        "SELECT DISTINCT function_name AS name FROM duckdb_functions() WHERE function_type IN ('table', 'table_macro')",
      ),
    );
    const { rows: views } = await named("table_schema || '.' || table_name", "information_schema.tables");
    const relations = [
      ...functions.flatMap(({ name }) => [`${name}()`, `"${name}"('active')`]),
      ...views.map(({ name }) => String(name)),
      ...[
        "pg_catalog.pg_settings",
        "pg_catalog.pg_views",
        "pg_catalog.pg_proc",
        "sqlite_master",
        "information_schema.views",
      ],
    ];
    const values = settings.flatMap((name) => [
      `SELECT current_setting('${name}') AS a`,
      `SELECT reverse("current_setting" /**/ ('${name}')) AS a`,
      `SELECT '${name}'.current_setting() AS a`,
    ]);
    const own = [lake, tmpdir(), homedir(), process.cwd()].flatMap((one) => [one, [...one].reverse().join("")]);
    let answered = 0;
    for (const sql of [...relations.map((relation) => `FROM ${relation}`), ...values]) {
      const shown = await database.query(sql).then(
        ({ rows }) => JSON.stringify(rows),
        (thrown: unknown) => reasonOf(thrown, { lake }),
      );
      answered += Number(shown.startsWith("["));
      for (const folder of own) assert.ok(!shown.includes(folder), `${sql}: ${shown.slice(0, 400)}`);
    }
    assert.ok(answered > 20, `${answered} of ${relations.length} relations are read`);
  });
});

test("a statement that names a path learns neither whether it leads to the lake, nor what is there", async () => {
  const guessed = lake.replace(/.$/, (last) => (last === "x" ? "y" : "x"));
  await openAnalystDatabase(lake, { threads: 1, rowsMax: 100 }, async (database) => {
    // The engine proposes the table whose name is most like the text of the path, wherever that leads.
    const proposal = /^Did you mean .*\n/m;
    const reasonFor = (path: string, form: string): Promise<string> =>
      database
        .query(form.replace("?", path))
        .then(String, (thrown: unknown) => reasonOf(thrown, { lake }).replace(proposal, ""));
    for (const form of ["FROM '?'", "FROM read_text('?')", "FROM glob('?')", "SELECT '?'::INT AS a", 'FROM "?"'])
      for (const name of ["", "CURRENT", "files/none.parquet", "files/builds/none.parquet", "catalog.duckdb"]) {
        const shown = await reasonFor(`${lake}/${name}`, form);
        assert.equal(shown, await reasonFor(`${guessed}/${name}`, form), form);
        assert.ok(shown.includes("(path)"), shown);
      }
    const guess = await database.query(`FROM '${lake}/files/none.parquet'`).catch((thrown: unknown) => thrown);
    assert.ok(guess instanceof UserError && !(guess instanceof DamagedFile));
  });
});

test("a footer that cannot be read is damage and no fault of a statement, even if the engine has no name for it", async (t) => {
  const copy = await temporaryFolder(t);
  await copyLake(lake, copy);
  const [file = assert.fail("no file")] = (await currentManifest(copy))?.tables.absent ?? [];
  const path = join(copy, file.path);
  const whole = await readFile(path);
  const footerBytes = whole.readUInt32LE(whole.length - 8);
  const messages = new Set<string>();
  for (let at = whole.length - 8 - footerBytes; at < whole.length - 8; at += Math.ceil(footerBytes / 20)) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 0x40;
    await writeFile(path, changed);
    const count = (database: AnalystDatabase) => database.query("SELECT count(*)::INTEGER AS n FROM active");
    await openAnalystDatabase(copy, { threads: 1 }, count).catch((thrown: unknown) => {
      assert.ok(thrown instanceof DamagedFile, `${at}: ${String(thrown)}`);
      messages.add(thrown.message);
    });
  }
  const unknown = [...messages].filter((message) => classifyFault(new Error(message)) === "other");
  assert.ok(unknown.length > 0, [...messages].join("\n"));
});

test("no reason for which a statement fails names a folder of the machine", async () => {
  const reasons = await openAnalystDatabase(lake, { threads: 1, memoryLimit: "100MiB" }, async (database) => {
    const found: string[] = [];
    for (const sql of statements)
      for (const part of sql.split("; "))
        await database.write(part, { format: "ndjson" }).catch((thrown: unknown) => {
          assert.ok(thrown instanceof UserError, sql);
          found.push(`${part}: ${reasonOf(thrown, { lake, memoryLimit: "100MiB" })}`);
        });
    return found;
  });
  assert.ok(reasons.length > statements.length / 2, `${reasons.length} of ${statements.length}`);
  const folders = [lake, tmpdir(), homedir(), process.cwd()];
  for (const reason of reasons) for (const folder of folders) assert.ok(!reason.includes(folder), reason);
});
