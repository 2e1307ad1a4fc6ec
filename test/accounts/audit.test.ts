/** The accounts file itself: durability settings, constraints of the schema, and the audit of its sums. */
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { addCredit } from "../../src/accounts/ledger/ledger.ts";
import { accountsVersion } from "../../src/accounts/storage/account-tables.ts";
import { copyAccounts } from "../../src/accounts/storage/copy-accounts.ts";
import { createAccounts, openAccounts, openAccountsToRead } from "../../src/accounts/storage/open-accounts.ts";
import { withoutPassword } from "../../src/db/postgres.ts";
import { integerLiteral, type Sql, sql } from "../../src/db/sql.ts";
import type { SqlDatabase } from "../../src/db/sql-database.ts";
import { SqliteDatabase } from "../../src/db/sqlite.ts";
import { testOnBothEngines } from "../support/accounts.ts";
import { carquetHere } from "../support/command-line.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { createLedger, paidCredit, postPlainCharge, searchCharge } from "../support/ledger.ts";

test("an accounts file uses the write-ahead log with synchronous=FULL each time it is opened", async (t) => {
  const { path, database } = await createLedger(t);
  const settings = async (opened: SqlDatabase) => [
    (await opened.one(sql`PRAGMA journal_mode`))?.journal_mode,
    (await opened.one(sql`PRAGMA synchronous`))?.synchronous,
    (await opened.one(sql`PRAGMA foreign_keys`))?.foreign_keys,
  ];
  assert.deepEqual(await settings(database), ["wal", 2, 1]);
  const again = await openAccounts(path, { busyMs: 1000 });
  assert.deepEqual(await settings(again), ["wal", 2, 1]);
  await again.close();
  assert.equal(statSync(path).mode & 0o777, 0o600, "only its owner can read it");
});

test("a file that is not an accounts file is refused and left unchanged", async (t) => {
  const folder = await temporaryFolder(t);
  const text = join(folder, "text");
  const foreign = join(folder, "foreign");
  writeFileSync(text, "no database at all".repeat(500));
  await assert.rejects(
    () => openAccounts(text, { busyMs: 10 }),
    /text: cannot be opened as a database: .*not a database/,
  );
  assert.equal(readFileSync(text, "utf8"), "no database at all".repeat(500));
  writeFileSync(foreign, "");
  const other = SqliteDatabase.open(foreign, { busyMs: 10 });
  other.run(sql`CREATE TABLE mine (x)`);
  other.close();
  await assert.rejects(() => openAccounts(foreign, { busyMs: 10 }), /foreign: Not an accounts file: expected /);
  await assert.rejects(() => createAccounts(foreign, { busyMs: 10 }), /foreign: Not an accounts file: expected /);
  await assert.rejects(() => openAccounts(join(folder, "none"), { busyMs: 10 }), /none: cannot be opened/);
});

testOnBothEngines("accounts of another version are refused with both versions and the way out", async (t, engine) => {
  const { path, database } = await createLedger(t, engine);
  const setVersion = async (version: number): Promise<unknown> =>
    engine === "SQLite"
      ? await database.run(sql`PRAGMA user_version = ${integerLiteral(version)}`)
      : await database.run(sql`UPDATE carquet_accounts SET version = ${version}`);
  for (const version of [accountsVersion - 1, accountsVersion + 1]) {
    await setVersion(version);
    const message = `${withoutPassword(path)}: Unsupported accounts version ${version}: expected ${accountsVersion}. Use the release of carquet that created these accounts, or create new ones at another location.`;
    for (const open of [openAccounts, createAccounts, openAccountsToRead])
      await assert.rejects(open(path, { busyMs: 1000 }), { name: "UserError", message });
    await assert.rejects(() => copyAccounts(path, join("none", "copy.db")), { message });
    const { code, err } = await carquetHere(["accounts", "list", "--accounts", path]);
    assert.deepEqual([code, err], [1, `carquet: ${message}\n`]);
  }
  await setVersion(accountsVersion);
  assert.equal((await audit(database)).accounts, 1);
});

const tampering: readonly (readonly [what: string, statement: Sql, says: RegExp])[] = [
  ["a changed entry", sql`UPDATE entries SET micros = micros + 1`, /entries are never changed/],
  ["a removed entry", sql`DELETE FROM entries`, /entries are never removed/],
  ["a replaced entry", sql`INSERT OR REPLACE INTO entries SELECT * FROM entries`, /entries are never removed/],
  ["a removed confirmation", sql`DELETE FROM confirmations`, /confirmations are never removed/],
  ["a changed confirmation", sql`UPDATE confirmations SET at_ms = 0`, /confirmations are never changed/],
  [
    "a charge beyond the balance",
    sql`INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, price, key_id)
        SELECT 'x', account_id, 'charge', -10000000, 0, 1, key_id FROM keys`,
    /a charge takes no balance below zero/,
  ],
  [
    "a charge without a price",
    sql`INSERT INTO entries (entry_id, account_id, kind, micros, at_ms) SELECT 'x', account_id, 'charge', -1, 0 FROM accounts`,
    /CHECK constraint/,
  ],
  [
    "a credit for an unknown account",
    sql`INSERT INTO entries (entry_id, account_id, kind, micros, at_ms) VALUES ('x', 'acct_none', 'paid', 1, 0)`,
    /FOREIGN KEY constraint/,
  ],
  [
    "a fraction of a micro",
    sql`INSERT INTO entries (entry_id, account_id, kind, micros, at_ms) SELECT 'x', account_id, 'paid', 0.5, 0 FROM accounts`,
    /cannot store REAL value in INTEGER column/,
  ],
  [
    "a negative credit",
    sql`INSERT INTO entries (entry_id, account_id, kind, micros, at_ms) SELECT 'x', account_id, 'paid', -5, 0 FROM accounts`,
    /CHECK constraint/,
  ],
];

for (const [what, statement, says] of tampering) {
  test(`the schema refuses ${what}`, async (t) => {
    const ledger = await createLedger(t);
    await addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 4_000 });
    await postPlainCharge(ledger.database, searchCharge(ledger, "c1"));
    await assert.rejects(() => ledger.database.run(statement), says);
    assert.equal(await ledger.balance(), 2_000);
    assert.deepEqual(await audit(ledger.database), { faults: [], accounts: 1, entries: 2, charges: 1 });
  });
}

const breakages: readonly (readonly [fault: string, statement: Sql])[] = [
  ["Balance differs from the sum of its entries", sql`UPDATE accounts SET balance_micros = balance_micros + 1`],
  ["Daily usage differs from the sum of its charges", sql`UPDATE usage_days SET requests = requests + 1`],
  ["Daily usage differs from the sum of its charges", sql`UPDATE usage_days SET usage_class = 'facet_counts'`],
  ["Daily usage differs from the sum of its charges", sql`UPDATE usage_days SET last_entry = last_entry - 1`],
  ["Charge differs from its price", sql`UPDATE prices SET micros = micros + 1`],
  ["Foreign key without a target", sql`DELETE FROM prices`],
];

for (const [fault, statement] of breakages) {
  test(`an audit reports: ${fault}: ${statement.text.slice(0, 40)}`, async (t) => {
    const ledger = await createLedger(t);
    await addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 4_000 });
    await postPlainCharge(ledger.database, searchCharge(ledger, "c1"));
    await ledger.database.run(sql`PRAGMA foreign_keys = OFF`);
    await ledger.database.run(statement);
    const { faults } = await audit(ledger.database);
    assert.ok(
      faults.some((found) => found.startsWith(`${fault}: `)),
      faults.join("\n"),
    );
  });
}
