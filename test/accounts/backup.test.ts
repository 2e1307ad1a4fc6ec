/** Backups of the accounts file, and their restore while the service runs. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { changeAccount, getAccount } from "../../src/accounts/account.ts";
import { listKeys, revokeKey } from "../../src/accounts/keys/keys.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { addCredit, adjustBalance } from "../../src/accounts/ledger/ledger.ts";
import { saveState } from "../../src/accounts/oauth/oauth-state.ts";
import { backUp, restore } from "../../src/accounts/storage/backup.ts";
import { openAccounts, openAccountsToRead } from "../../src/accounts/storage/open-accounts.ts";
import { textIn } from "../../src/base/json.ts";
import { sql } from "../../src/db/sql.ts";
import { createCustomer, inAccountsFile, temporaryAccountsFile } from "../support/accounts.ts";
import { carquet, eventually } from "../support/command-line.ts";
import { extentOf } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { createLedger, paidCredit, postPlainCharge, searchCharge } from "../support/ledger.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const path = "/v1/listings?limit=1&fields=id";
const restoreOptions = { stamp: "test", discard: false };

test("a backup taken during charges is sound and holds every charge answered before it", async (t) => {
  const client = await startService(t, lake);
  const folder = await temporaryFolder(t);
  const answered: string[] = [];
  const load = { isOver: false };
  const clients = Array.from({ length: 8 }, async () => {
    while (!load.isOver) answered.push((await client.get(path)).headers.get("X-Request-Id") ?? "");
  });
  for (let copy = 0; copy < 4; copy += 1) {
    const before = answered.length + 20;
    await eventually("20 more answers", async () => answered.length >= before, 30_000);
    const known = [...answered];
    const file = join(folder, `copy-${copy}.db`);
    assert.deepEqual((await backUp(client.accounts, file)).faults, []);
    const copied = await openAccountsToRead(file, { busyMs: 1000 });
    const charges = await copied.all(sql`SELECT entry_id FROM entries WHERE kind = 'charge'`);
    await copied.close();
    const ids = new Set(charges.map((row) => textIn(row, "entry_id")));
    assert.deepEqual(
      known.filter((id) => !ids.has(id)),
      [],
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!existsSync(`${file}-wal`) && !existsSync(`${file}.new`));
  }
  load.isOver = true;
  await Promise.all(clients);
  await assert.rejects(
    () => backUp(client.accounts, join(folder, "copy-0.db")),
    /copy-0\.db already exists: expected a new path/,
  );
  await assert.rejects(
    () => backUp(join(folder, "none.db"), join(folder, "x.db")),
    /none\.db does not exist: expected an accounts file\.$/,
  );
});

test("a backup is restored while the service runs, and the service continues from it", async (t) => {
  const client = await startService(t, lake);
  const copy = join(await temporaryFolder(t), "copy.db");
  const { accountId, keyId } = client.customer;
  const balance = () =>
    inAccountsFile(
      client.accounts,
      async (database) => (await getAccount(database, accountId, "2026-11")).balanceMicros,
    );
  await client.get(path);
  await backUp(client.accounts, copy);
  const balanceAtBackup = await balance();
  await client.get(path);
  await client.get(path);
  await inAccountsFile(client.accounts, async (database) =>
    adjustBalance(database, { accountId, micros: -1 - (await balance()), atMs: 0 }),
  );
  await eventually("the balance is spent", async () => (await client.get(path)).status === 402);

  await assert.rejects(
    () => restore(client.accounts, copy, restoreOptions),
    /Restoring .*copy\.db would discard 4 rows of .*: expected --discard to confirm\.$/,
  );
  const { previousFile: before } = await restore(client.accounts, copy, { ...restoreOptions, discard: true });
  assert.equal(await balance(), balanceAtBackup);
  await eventually("the balance is restored", async () => (await client.get(path)).status === 200);
  assert.ok((await balance()) < balanceAtBackup);
  const { faults, charges } = await inAccountsFile(client.accounts, audit);
  assert.deepEqual([faults, charges], [[], 2]);
  assert.ok(before);
  assert.equal((await inAccountsFile(before, audit)).charges, 3, "the replaced file is kept");

  await inAccountsFile(client.accounts, (database) => revokeKey(database, keyId, 1));
  await assert.rejects(
    () => restore(client.accounts, copy, restoreOptions),
    /expected --discard/,
    "a revocation is undone only with --discard",
  );
  await inAccountsFile(client.accounts, (database) => changeAccount(database, accountId, { state: "suspended" }));
  await restore(client.accounts, copy, { stamp: "again", discard: true });
  assert.equal(
    (await inAccountsFile(client.accounts, (database) => listKeys(database, accountId)))[0]?.revokedAtMs,
    null,
  );
});

test("every charge during a restore is in the saved file or in the restored one", async (t) => {
  const client = await startService(t, lake);
  const folder = await temporaryFolder(t);
  const answered: string[] = [];
  const load = { isOver: false };
  const clients = Array.from({ length: 8 }, async () => {
    while (!load.isOver) {
      const { status, headers } = await client.get(path);
      if (status === 200) answered.push(headers.get("X-Request-Id") ?? "");
    }
  });
  const kept = new Set<string>();
  const keep = async (file: string): Promise<void> => {
    const rows = await inAccountsFile(file, (database) => database.all(sql`SELECT entry_id FROM entries`));
    for (const row of rows) kept.add(textIn(row, "entry_id"));
  };
  for (let run = 0; run < extentOf(1, 3); run += 1) {
    const before = answered.length + 20;
    await eventually("20 more answers", async () => answered.length >= before, 30_000);
    const copy = join(folder, `copy-${run}.db`);
    await backUp(client.accounts, copy);
    await eventually("20 more answers", async () => answered.length >= before + 20, 30_000);
    // Another process, so that the service charges meanwhile.
    const restored = await carquet(["ledger", "restore", copy, "--discard", "--accounts", client.accounts]);
    assert.equal(restored.code, 0, restored.err);
    await keep(/saved as (.*)$/m.exec(restored.err)?.[1] ?? "");
    await eventually("20 more answers", async () => answered.length >= before + 40, 30_000);
  }
  load.isOver = true;
  await Promise.all(clients);
  await keep(client.accounts);
  const lost = answered.filter((id) => !kept.has(id));
  assert.deepEqual(lost, [], `${lost.length} of ${answered.length} charges are in neither file`);
  assert.deepEqual((await inAccountsFile(client.accounts, audit)).faults, []);
});

test("restoring a backup over a damaged file keeps the damaged file", async (t) => {
  const file = await temporaryAccountsFile(t);
  for (let account = 0; account < 40; account += 1) await createCustomer(file);
  const copy = join(await temporaryFolder(t), "copy.db");
  await backUp(file, copy);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0x55, 4096, bytes.length - 4096));
  const { previousFile: before, audit: found } = await restore(file, copy, restoreOptions);
  assert.deepEqual([found.faults, found.accounts], [[], 40]);
  assert.deepEqual(await inAccountsFile(file, audit), found);
  assert.equal(readFileSync(before ?? "").at(5000), 0x55);
});

test("a backup that fails leaves no file", async (t) => {
  const file = await temporaryAccountsFile(t);
  const folder = await temporaryFolder(t);
  const copy = join(folder, "copy.db");
  writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, 4096), Buffer.alloc(8192, 0x55)]));
  await assert.rejects(backUp(file, copy));
  assert.deepEqual(readdirSync(folder), []);
});

test("a change that posts no entry is discarded only on confirmation", async (t) => {
  const file = await temporaryAccountsFile(t);
  const copy = join(await temporaryFolder(t), "copy.db");
  const { accountId } = await createCustomer(file);
  await backUp(file, copy);
  const record = sql`INSERT INTO audit_log (at_ms, actor, action, account_id, details) VALUES (1, 'a', 'searches rotate', ${accountId}, '{}')`;
  await inAccountsFile(file, (database) => database.run(record));
  await assert.rejects(restore(file, copy, restoreOptions), /would discard 1 row of /);
});

test("a restore ends sessions, links and tokens, and ignores the write-ahead log of a file that was moved away", async (t) => {
  const file = await temporaryAccountsFile(t);
  const folder = await temporaryFolder(t);
  const copy = join(folder, "copy.db");
  const moved = join(folder, "moved.db");
  const { accountId, keyId } = await createCustomer(file);
  const sha256 = "0".repeat(64);
  const later = Date.now() + 1e9;
  const states = ["Client", "RefreshToken"].map((kind) => ({ kind, sha256, keyId, expiresAtMs: later, content: "{}" }));
  await inAccountsFile(file, async (database) => {
    for (const state of states) await saveState(database, state);
    await database.run(sql`INSERT INTO sessions VALUES (${sha256}, ${accountId}, ${keyId}, 1, 1)`);
    await database.run(sql`INSERT INTO one_time_links VALUES (${sha256}, ${accountId}, 'sign_in', ${later})`);
  });
  await backUp(file, copy);
  const killed = await openAccounts(file, { busyMs: 1000 });
  t.after(() => killed.close());
  await adjustBalance(killed, { accountId, micros: -1, atMs: 0 });
  const remaining = (): Promise<unknown> =>
    inAccountsFile(file, async (database) => {
      const rows = sql`SELECT kind FROM oauth_state UNION ALL SELECT sha256 FROM sessions UNION ALL SELECT sha256 FROM one_time_links`;
      return (await database.all(rows)).map((row) => textIn(row, "kind"));
    });
  renameSync(file, moved);
  const { audit: found } = await restore(file, copy, restoreOptions);
  assert.deepEqual([found.faults, await inAccountsFile(file, audit)], [[], found]);
  assert.equal(found.entries, (await inAccountsFile(copy, audit)).entries);
  assert.deepEqual(await remaining(), ["Client"], "no file");
  await restore(file, copy, { stamp: "again", discard: true });
  assert.deepEqual(await remaining(), ["Client"], "a readable file");
});

test("a backup from before a change of prices is restored with the present prices", async (t) => {
  const ledger = await createLedger(t);
  await addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 4_000 });
  const copy = join(await temporaryFolder(t), "copy.db");
  await backUp(ledger.path, copy);
  await inAccountsFile(copy, (database) => database.run(sql`UPDATE prices SET pricing_version = 'former'`));
  await restore(ledger.path, copy, { ...restoreOptions, discard: true });
  assert.equal(await postPlainCharge(ledger.database, searchCharge(ledger, "c1")), undefined);
  assert.equal(await ledger.balance(), 2_000);
});

test("a backup is restored where no file exists; a file that is not a sound backup is refused", async (t) => {
  const file = await temporaryAccountsFile(t);
  await createCustomer(file);
  const folder = await temporaryFolder(t);
  const [copy, fresh, text] = ["copy.db", "fresh.db", "text.db"].map((name) => join(folder, name));
  assert.ok(copy && fresh && text);
  await backUp(file, copy);
  const { previousFile: before } = await restore(fresh, copy, restoreOptions);
  assert.equal(before, undefined);
  assert.equal((await inAccountsFile(fresh, audit)).accounts, 1);
  writeFileSync(text, "nothing".repeat(1000));
  await assert.rejects(() => restore(fresh, text, restoreOptions), /text\.db: cannot be opened/);
  await inAccountsFile(copy, (database) => database.run(sql`UPDATE accounts SET balance_micros = 1`));
  await assert.rejects(
    () => restore(fresh, copy, restoreOptions),
    /copy\.db fails its audit: Balance differs from the sum of its entries/,
  );
  assert.deepEqual((await inAccountsFile(fresh, audit)).faults, []);
});
