/** Migration of accounts files of earlier formats. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { getAccount } from "../../src/accounts/account.ts";
import { migrateAccounts } from "../../src/accounts/file/backup.ts";
import {
  accountsVersion,
  type Migration,
  migrations,
  schemaVersionOf,
  versionAfter,
} from "../../src/accounts/file/migrations.ts";
import { openAccountsFile, openAnyVersion } from "../../src/accounts/file/schema.ts";
import { type AuditResult, audit } from "../../src/accounts/ledger/audit.ts";
import { integerIn, textIn } from "../../src/base/json.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { type Sql, sql } from "../../src/db/sql.ts";
import type { SqliteDatabase } from "../../src/db/sqlite.ts";
import { temporaryAccountsFile } from "../support/accounts.ts";
import { skipInShortRun } from "../support/extent.ts";
import { copyFixtureAccounts } from "../support/lakes/fixtures.ts";
import { testMigrations } from "./test-migrations.ts";

const busyMs = 1000;
const newest = versionAfter(testMigrations);

/** Runs work on an accounts file of any version. */
function withAnyVersion<T>(path: string, work: (database: SqliteDatabase) => T): T {
  const database = openAnyVersion(path, { busyMs });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Returns the tables, indexes and triggers of a file; the white space between the columns of a table has no meaning. */
const schemaOf = (path: string): readonly unknown[] =>
  withAnyVersion(path, (database) =>
    database.all(sql`SELECT type, name, sql FROM sqlite_schema ORDER BY name`).map((row) => ({
      ...row,
      sql: String(row.sql)
        .replaceAll(/\s+/g, " ")
        .replaceAll(/ ?([(),]) ?/g, "$1"),
    })),
  );

/** Audits a file. Of one that is too old for an audit, checks the integrity only. */
function auditAnyVersion(database: SqliteDatabase): AuditResult {
  if (schemaVersionOf(database) >= accountsVersion) return audit(database);
  const [row] = database.all(sql`
    SELECT (SELECT count(*) FROM accounts) AS accounts, count(*) AS entries, sum(kind = 'charge') AS charges,
           (SELECT group_concat(integrity_check) FROM pragma_integrity_check) AS integrity
    FROM   entries`);
  const faults = row?.integrity === "ok" ? [] : [String(row?.integrity)];
  const [accounts, entries, charges] = ["accounts", "entries", "charges"].map((column) => integerIn(row, column));
  return { faults, accounts: accounts ?? 0, entries: entries ?? 0, charges: charges ?? 0 };
}

/** The current migrations and one more. */
const migrationsAnd = (...statements: readonly Sql[]): readonly Migration[] => [
  ...migrations,
  { to: versionAfter(migrations) + 1, statements },
];

const versions = [
  { version: 1, entries: 6, charges: 4, balance: 25_000_000 - 2 * 2_000 - 3_000 - 3_000 },
  { version: 2, entries: 5, charges: 3, balance: 26_000_000 - 2_000 - 3_000 - 3_000 },
  { version: 3, entries: 5, charges: 3, balance: 25_000_000 - 2_000 - 3_000 - 3_000 },
  { version: 4, entries: 5, charges: 3, balance: 25_000_000 - 2_000 - 3_000 - 3_000 },
  { version: 5, entries: 11, charges: 6, balance: 25_000_000 - 2_000 - 3_000 - 3_000 },
] as const;

for (const { version, entries, charges, balance } of versions)
  test(`an accounts file of version ${version} migrates to the current schema and keeps its rows`, async (t) => {
    const [path, fresh] = [await copyFixtureAccounts(t, version), await temporaryAccountsFile(t)];
    assert.deepEqual([migrateAccounts(path).from, migrateAccounts(path).backup], [version, undefined]);
    assert.deepEqual(schemaOf(path), schemaOf(fresh));
    const database = openAccountsFile(path, { busyMs });
    const [account] = database.all(sql`SELECT account_id FROM accounts WHERE tier = 4`);
    const found = getAccount(database, textIn(account, "account_id"), "2026-11");
    assert.deepEqual(audit(database), { faults: [], accounts: 2, entries, charges });
    database.close();
    assert.deepEqual([found.balanceMicros, found.isOperator], [balance, false]);
  });

test("refunds of version 5, which counted as usage and as spending, do so no more", async (t) => {
  const path = await copyFixtureAccounts(t, 5);
  const sums = () =>
    withAnyVersion(path, (database) => [
      ...database.all(sql`SELECT requests, charged_micros FROM usage_days ORDER BY usage_class`),
      ...database.all(sql`SELECT micros FROM spending`),
    ]).map((row) => Object.values(row));
  assert.deepEqual(sums(), [[2, 6_000], [2, 4_000], [2, 6_000], [16_000]]);
  migrateAccounts(path);
  assert.deepEqual(sums(), [[1, 3_000], [1, 2_000], [1, 3_000], [8_000]]);
});

test("migrations lead from version to version without a gap", () => {
  assert.deepEqual(
    migrations.map(({ to }) => to),
    migrations.map((_, index) => index + 2),
  );
});

test("missing migrations are applied at once, and a backup of the old file is kept", async (t) => {
  const path = await copyFixtureAccounts(t, 1);
  const before = schemaOf(path);
  const result = migrateAccounts(path, testMigrations);
  assert.deepEqual(result, { from: 1, to: newest, backup: `${path}.version-1` });
  withAnyVersion(path, (database) => {
    assert.equal(schemaVersionOf(database), newest);
    const [row] = database.all(sql`SELECT count(*) AS n FROM accounts WHERE label = 'tier ' || tier`);
    assert.equal(integerIn(row, "n"), 2);
    assert.deepEqual(audit(database).faults, []);
  });
  assert.deepEqual(schemaOf(`${path}.version-1`), before);
  withAnyVersion(`${path}.version-1`, (copy) =>
    assert.deepEqual([schemaVersionOf(copy), auditAnyVersion(copy).entries], [1, 6]),
  );
  assert.deepEqual(
    migrateAccounts(path, testMigrations),
    { from: newest, to: newest, backup: undefined },
    "a second run does nothing",
  );
});

test("a failed migration leaves the file unchanged", async (t) => {
  const cases: readonly (readonly [what: RegExp, step: Sql])[] = [
    [/no such table: strangers/, sql`INSERT INTO strangers VALUES (1)`],
    [/entries are never changed/, sql`UPDATE entries SET micros = 1`],
    [
      /the result fails its audit: Balance differs from the sum/,
      sql`UPDATE accounts SET balance_micros = balance_micros + 1`,
    ],
  ];
  for (const [what, statement] of cases) {
    const path = await copyFixtureAccounts(t, 1);
    const before = schemaOf(path);
    const added = sql`ALTER TABLE accounts ADD COLUMN label TEXT`;
    assert.throws(() => migrateAccounts(path, migrationsAnd(added, statement)), what);
    assert.deepEqual(schemaOf(path), before);
    const unchanged = { faults: [], accounts: 2, entries: 6, charges: 4 };
    withAnyVersion(path, (database) => assert.deepEqual(auditAnyVersion(database), unchanged));
  }
});

test("an accounts file of a newer release, or of none, is refused and left unchanged", async (t) => {
  const path = await copyFixtureAccounts(t, 1);
  migrateAccounts(path, testMigrations);
  const message = `${path}: Accounts file version ${newest} is too new: expected at most ${accountsVersion}. Use a newer release of carquet.`;
  assert.throws(() => openAccountsFile(path, { busyMs }), { message });
  assert.throws(() => migrateAccounts(path), { message });
  withAnyVersion(path, (database) => database.run(sql`PRAGMA user_version = 0`));
  assert.throws(
    () => migrateAccounts(path),
    new RegExp(`Invalid accounts file version 0: expected 1 to ${accountsVersion}\\.$`),
  );
  assert.ok(!existsSync(`${path}.version-0`));
  const text = `${path}.txt`;
  writeFileSync(text, "no database");
  assert.throws(() => migrateAccounts(text), /cannot be opened as a database/);
  assert.equal(readFileSync(text, "utf8"), "no database");
});

test("an accounts file of an older release is refused with the command that migrates it", async (t) => {
  const path = await copyFixtureAccounts(t, 1);
  withAnyVersion(path, (database) => database.run(sql`PRAGMA user_version = 0`));
  const message = `${path}: Accounts file version 0 is too old: expected ${accountsVersion}. Run carquet migrate --accounts ${path}.`;
  assert.throws(() => openAccountsFile(path, { busyMs }), { message });
});

test("a killed migration leaves the old or the new version, sound", { skip: skipInShortRun }, async (t) => {
  const versions: number[] = [];
  for (const delayMs of [0, 20, 60, 120, 250, 2500]) {
    const path = await copyFixtureAccounts(t, 1);
    await killMigration(path, delayMs);
    const version = withAnyVersion(path, (database) => {
      assert.deepEqual(auditAnyVersion(database), { faults: [], accounts: 2, entries: 6, charges: 4 });
      return schemaVersionOf(database);
    });
    assert.ok(version === 1 || version === newest, `version ${version} after ${delayMs} ms`);
    migrateAccounts(path, testMigrations);
    assert.equal(withAnyVersion(path, schemaVersionOf), newest);
    versions.push(version);
  }
  assert.equal(versions[0], 1, "the first kill came before the commit");
});

/** Migrates a file in another process and kills it some time after it starts. */
async function killMigration(path: string, delayMs: number): Promise<void> {
  const command = ["--import", "tsx/esm", projectPath("test/formats/migrate-accounts.ts"), path];
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  await sleep(delayMs);
  child.kill("SIGKILL");
  await ended;
}
