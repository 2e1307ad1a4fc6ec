import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { changeAccount, getAccount } from "../../src/accounts/account.ts";
import { backUp, restore } from "../../src/accounts/file/backup.ts";
import { openBackup } from "../../src/accounts/file/schema.ts";
import { listKeys, revokeKey } from "../../src/accounts/keys.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { adjustBalance } from "../../src/accounts/ledger/ledger.ts";
import { textIn } from "../../src/base/json.ts";
import { sql } from "../../src/db/sql.ts";
import { accountsFile, customerIn, onFile } from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { lakeOf, temporaryFolder } from "../support/lakes/lakes.ts";
import { wholeFile } from "../support/scope.ts";
import { serviceOf } from "../support/service.ts";

const { lake } = await lakeOf(wholeFile);
const path = "/v1/listings?limit=1&fields=id";
const kept = { stamp: "test", discard: false };

test("copies made while charges are made are sound, and have every charge that was answered for before", async (t) => {
  const client = await serviceOf(t, lake);
  const folder = await temporaryFolder(t);
  const answered: string[] = [];
  const isOver = { yet: false };
  const asking = Array.from({ length: 8 }, async () => {
    while (!isOver.yet) answered.push((await client.get(path)).headers.get("X-Request-Id") ?? "");
  });
  for (let copy = 0; copy < 4; copy += 1) {
    const before = answered.length + 20;
    await eventually("20 more answers", async () => answered.length >= before, 30_000);
    const known = [...answered];
    const file = join(folder, `copy-${copy}.db`);
    assert.deepEqual(backUp(client.accounts, file).faults, []);
    const copied = openBackup(file);
    const charges = copied.all(sql`SELECT entry_id FROM entries WHERE kind = 'charge'`);
    copied.close();
    const ids = new Set(charges.map((row) => textIn(row, "entry_id")));
    assert.deepEqual(
      known.filter((id) => !ids.has(id)),
      [],
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!existsSync(`${file}-wal`) && !existsSync(`${file}.new`));
  }
  isOver.yet = true;
  await Promise.all(asking);
  assert.throws(
    () => backUp(client.accounts, join(folder, "copy-0.db")),
    /copy-0\.db already exists: expected a new path/,
  );
  assert.throws(
    () => backUp(join(folder, "none.db"), join(folder, "x.db")),
    /none\.db does not exist: expected an accounts file\.$/,
  );
});

test("a copy is put in place while the service runs, which goes on from it", async (t) => {
  const client = await serviceOf(t, lake);
  const copy = join(await temporaryFolder(t), "copy.db");
  const { accountId, keyId } = client.customer;
  const balance = () => onFile(client.accounts, (database) => getAccount(database, accountId, "2026-11").balanceMicros);
  await client.get(path);
  backUp(client.accounts, copy);
  const then = balance();
  await client.get(path);
  await client.get(path);
  onFile(client.accounts, (database) => adjustBalance(database, { accountId, micros: -1 - balance(), atMs: 0 }));
  await eventually("no money", async () => (await client.get(path)).status === 402, 2000);

  await assert.rejects(
    restore(client.accounts, copy, kept),
    /Restoring .*copy\.db would discard 4 rows of .*: expected --discard to confirm\.$/,
  );
  const { previousFile: before } = await restore(client.accounts, copy, { ...kept, discard: true });
  assert.equal(balance(), then);
  await eventually("money again", async () => (await client.get(path)).status === 200, 2000);
  assert.ok(balance() < then);
  const { faults, charges } = onFile(client.accounts, audit);
  assert.deepEqual([faults, charges], [[], 2]);
  assert.ok(before);
  assert.equal(onFile(before, audit).charges, 3, "what was there is kept");

  onFile(client.accounts, (database) => revokeKey(database, keyId, 1));
  await assert.rejects(
    restore(client.accounts, copy, kept),
    /expected --discard/,
    "a revocation is not undone unasked",
  );
  onFile(client.accounts, (database) => changeAccount(database, accountId, { state: "suspended" }));
  await restore(client.accounts, copy, { stamp: "again", discard: true });
  assert.equal(onFile(client.accounts, (database) => listKeys(database, accountId))[0]?.revokedAtMs, null);
});

test("a copy takes the place of a file that is damaged, which is kept", async (t) => {
  const file = await accountsFile(t);
  for (let account = 0; account < 40; account += 1) customerIn(file);
  const copy = join(await temporaryFolder(t), "copy.db");
  backUp(file, copy);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0x55, 4096, bytes.length - 4096));
  const { previousFile: before, audit: found } = await restore(file, copy, kept);
  assert.deepEqual([found.faults, found.accounts], [[], 40]);
  assert.deepEqual(onFile(file, audit), found);
  assert.equal(readFileSync(before ?? "").at(5000), 0x55);
});

test("a copy is put where nothing is; what is no copy, or not sound, is not", async (t) => {
  const file = await accountsFile(t);
  customerIn(file);
  const folder = await temporaryFolder(t);
  const [copy, fresh, text] = ["copy.db", "fresh.db", "text.db"].map((name) => join(folder, name));
  assert.ok(copy && fresh && text);
  backUp(file, copy);
  const { previousFile: before } = await restore(fresh, copy, kept);
  assert.equal(before, undefined);
  assert.equal(onFile(fresh, audit).accounts, 1);
  writeFileSync(text, "nothing".repeat(1000));
  await assert.rejects(restore(fresh, text, kept), /text\.db: cannot be opened/);
  onFile(copy, (database) => database.run(sql`UPDATE accounts SET balance_micros = 1`));
  await assert.rejects(
    restore(fresh, copy, kept),
    /copy\.db fails its audit: Balance differs from the sum of its entries/,
  );
  assert.deepEqual(onFile(fresh, audit).faults, []);
});
