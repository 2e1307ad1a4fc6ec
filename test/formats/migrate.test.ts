/** The command `carquet migrate`. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { accountsVersion } from "../../src/accounts/file/migrations.ts";
import { programPath, projectPath } from "../../src/base/project-files.ts";
import { isCurrentSchema } from "../../src/lake/file-rows.ts";
import { currentManifest, currentVersion } from "../../src/lake/manifest.ts";
import { tableNames } from "../../src/lake/tables.ts";
import { carquet, carquetHere } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { hashLakeFiles, lakeFaults } from "../support/lakes/contents.ts";
import { copyFixtureAccounts, copyFixtureLake } from "../support/lakes/fixtures.ts";
import { queryLake, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";

const migrateCommand = (lake: string): readonly string[] => ["migrate", "--lake", lake, "--json"];

/** Views that hold the same before and after a migration; the times at which listings were last checked become those of deliveries. */
const views: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["active_days", "missing", "contenders"].map((view) => [view, "* EXCLUDE (last_checked_at)"])),
  ...Object.fromEntries(
    ["days", "sold", "ended", "builds", "dealers", "tokens", "options", "rejects"].map((view) => [view, "*"]),
  ),
};

async function lakeRows(lake: string): Promise<Readonly<Record<string, unknown>>> {
  const rows: Record<string, unknown> = {};
  for (const [view, columns] of Object.entries(views))
    rows[view] = await queryLake(lake, `SELECT ${columns} FROM ${view} ORDER BY ALL`);
  return rows;
}

test("a migrated lake keeps its rows, has only current files, and a second run changes nothing", async (t) => {
  const lake = await copyFixtureLake(t, 1);
  const before = await lakeRows(lake);
  const first = await carquet(migrateCommand(lake));
  assert.equal(first.code, 0, first.err);
  const report = { lake, version: "2026-11-24.3", fromFormat: 1, toFormat: 3, rewritten: 12, recorded: 0 };
  assert.deepEqual(JSON.parse(first.out), { lake: report });
  assert.deepEqual(await lakeRows(lake), before);
  assert.deepEqual(await lakeFaults(lake), []);
  const manifest = await currentManifest(lake);
  for (const table of tableNames)
    for (const file of manifest?.tables[table] ?? []) assert.ok(isCurrentSchema(table, file), file.path);
  const contents = await hashLakeFiles(lake);
  const second = await carquetHere(["migrate", "--lake", lake]);
  assert.equal(second.out, `${lake}: nothing changed: version 2026-11-24.3 already has format 3.\n`);
  assert.deepEqual(await hashLakeFiles(lake), contents);
});

test("a killed migration leaves the old version, and the next run completes it", {
  skip: skipInShortRun,
}, async (t) => {
  const undisturbed = await copyFixtureLake(t, 2);
  const rows = await lakeRows(undisturbed);
  await carquet(migrateCommand(undisturbed));
  const contents = await hashLakeFiles(undisturbed);
  assert.deepEqual(await lakeRows(undisturbed), rows);
  for (const afterMs of [0, 150, 400, 800]) {
    const lake = await copyFixtureLake(t, 2);
    await killMigration(lake, afterMs);
    if ((await currentVersion(lake)) === "2026-11-24.1") {
      assert.deepEqual(await lakeRows(lake), rows, `killed after ${afterMs} ms`);
      assert.equal((await carquet(migrateCommand(lake))).code, 0);
    }
    assert.deepEqual(await hashLakeFiles(lake), contents, `killed after ${afterMs} ms`);
  }
});

/** Migrates a lake in another process and kills it a time after it has reached the first month. */
async function killMigration(lake: string, afterMs: number): Promise<void> {
  const command = [programPath, ...migrateCommand(lake)];
  const child = spawn(process.execPath, command, { cwd: projectPath("."), stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stderr }))
    if (line.includes(": 1/1 ")) setTimeout(() => child.kill("SIGKILL"), afterMs);
  await ended;
}

test("migrate without flags migrates the configured lake and accounts file", async (t) => {
  const [lake, accounts] = [await copyFixtureLake(t, 1), await copyFixtureAccounts(t, 1)];
  const both = await carquetHere(["migrate"], { env: { CARQUET_LAKE: lake, CARQUET_ACCOUNTS: accounts } });
  assert.equal(
    both.out,
    `${accounts}: migrated from version 1 to ${accountsVersion}; backup: ${accounts}.version-1.\n` +
      `${lake}: migrated from format 1 to 3: 12 files rewritten, 0 unchanged; published as version 2026-11-24.3. Run carquet index to build its search index.\n`,
  );
  const folder = await temporaryFolder(t);
  const [noLake, noAccounts] = [join(folder, "lake"), join(folder, "accounts.db")];
  const neither = await carquetHere(["migrate"], { env: { CARQUET_LAKE: noLake, CARQUET_ACCOUNTS: noAccounts } });
  assert.equal(
    neither.err,
    `carquet: Nothing to migrate: expected a lake at ${noLake} or an accounts file at ${noAccounts}.\n`,
  );
  assert.equal(neither.code, 1);
  assert.deepEqual(await readdir(folder), []);
});

test("migrate refuses a named lake or accounts file that does not exist", async (t) => {
  const folder = await temporaryFolder(t);
  const lake = await carquetHere(["migrate", "--lake", join(folder, "lake")]);
  assert.equal(
    lake.err,
    `carquet: Lake ${join(folder, "lake")} has no published version: expected one published by "carquet ingest <path> --lake ${join(folder, "lake")}".\n`,
  );
  const accounts = await carquetHere(["migrate", "--accounts", join(folder, "accounts.db")]);
  assert.equal(
    accounts.err,
    `carquet: File ${join(folder, "accounts.db")} does not exist: expected an accounts file.\n`,
  );
  const foreign = await carquetHere(["migrate", "--accounts", join(samplePath, "expected.csv")]);
  assert.match(foreign.err, /^carquet: .*expected\.csv: cannot be opened as a database/);
  assert.deepEqual([lake.code, accounts.code, foreign.code], [1, 1, 1]);
});
