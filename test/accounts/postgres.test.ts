/** Accounts in PostgreSQL: its constraints, lost connections, crashes of the server, replicas and copies. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { lockAccount } from "../../src/accounts/account.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import { revokeKey } from "../../src/accounts/keys/keys.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { adjustmentOf } from "../../src/accounts/ledger/charging.ts";
import { addCredit, adjustBalance } from "../../src/accounts/ledger/ledger.ts";
import { accountTables } from "../../src/accounts/storage/account-tables.ts";
import { backUp, restore } from "../../src/accounts/storage/backup.ts";
import { copyAccounts } from "../../src/accounts/storage/copy-accounts.ts";
import { createAccounts, openAccounts } from "../../src/accounts/storage/open-accounts.ts";
import { textIn } from "../../src/base/json.ts";
import { Refusal } from "../../src/contract/errors.ts";
import { connectPostgres, isPostgresUrl, withoutPassword } from "../../src/db/postgres.ts";
import { type Sql, sql } from "../../src/db/sql.ts";
import { systemClock } from "../../src/http/service/system-clock.ts";
import { createCustomer, inAccountsFile, temporaryAccounts } from "../support/accounts.ts";
import { carquet, eventually } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { createLedger, paidCredit, postPlainCharge, searchCharge } from "../support/ledger.ts";
import { emptySchemaOn, PostgresServer, skipWithoutPostgres, stopServerAtEnd } from "../support/postgres.ts";
import { type LossMoment, PostgresProxy } from "../support/postgres-proxy.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

async function openService(scope: Scope, location: string, changes: boolean[] = []): Promise<Accounts> {
  const accounts = await Accounts.open(location, {
    clock: systemClock,
    onAvailabilityChange: (isDown) => changes.push(isDown),
  });
  onScopeEnd(scope, () => accounts.close());
  return accounts;
}

/** Charges one request; returns `charged` or the code of the refusal. */
async function pay(accounts: Accounts, key: string, chargeId: string = randomUUID()): Promise<string> {
  try {
    const identity = await accounts.identify(key, "192.0.2.1");
    await accounts.charge(identity, accounts.hold(identity, "listing_search"), chargeId);
    return "charged";
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown.code;
    throw thrown;
  }
}

const chargesIn = (location: string): Promise<readonly string[]> =>
  inAccountsFile(location, async (database) =>
    (await database.all(sql`SELECT entry_id FROM entries WHERE kind = 'charge'`)).map((row) => textIn(row, "entry_id")),
  );

stopServerAtEnd();

const tampering: readonly (readonly [what: string, statement: Sql, says: RegExp])[] = [
  ["a changed entry", sql`UPDATE entries SET micros = micros + 1`, /entries are never changed/],
  ["a removed entry", sql`DELETE FROM entries`, /entries are never removed/],
  ["a truncated ledger", sql`TRUNCATE entries CASCADE`, /are never removed/],
  ["a changed confirmation", sql`UPDATE confirmations SET at_ms = 0`, /confirmations are never changed/],
  ["a removed audit record", sql`DELETE FROM audit_log`, /audit records are never removed/],
  [
    "charges that together exceed the balance",
    sql`INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, price, key_id)
        SELECT 'x' || n, account_id, 'charge', -1500, 0, 1, key_id FROM keys CROSS JOIN generate_series(1, 2) AS n`,
    /a charge takes no balance below zero/,
  ],
  [
    "a credit for an unknown account",
    sql`INSERT INTO entries (entry_id, account_id, kind, micros, at_ms) VALUES ('x', 'acct_none', 'paid', 1, 0)`,
    /foreign key constraint/,
  ],
  [
    "a negative credit",
    sql`INSERT INTO entries (entry_id, account_id, kind, micros, at_ms) SELECT 'x', account_id, 'paid', -5, 0 FROM accounts`,
    /check constraint/,
  ],
];

describe("PostgreSQL", { skip: skipWithoutPostgres }, () => {
  test("refuses the same input as the accounts file", async (t) => {
    const ledger = await createLedger(t, "PostgreSQL");
    await addCredit(ledger.database, { ...paidCredit, accountId: ledger.accountId, micros: 4_000 });
    await postPlainCharge(ledger.database, searchCharge(ledger, "c1"));
    for (const [what, statement, says] of tampering)
      await assert.rejects(() => ledger.database.run(statement), says, what);
    assert.equal(await ledger.balance(), 2_000);
    assert.deepEqual(await audit(ledger.database), { faults: [], accounts: 1, entries: 2, charges: 1 });
    await ledger.database.run(sql`UPDATE usage_days SET requests = requests + 1`);
    assert.match(
      (await audit(ledger.database)).faults[0] ?? "",
      /^Daily usage differs from the sum of its charges: acct_/,
    );
  });

  for (const moment of ["before the commit", "after the commit"] as const satisfies readonly LossMoment[])
    test(`a charge whose connection is lost ${moment} is posted again, and charged once`, async (t) => {
      const server = await PostgresServer.start(t);
      const proxy = await PostgresProxy.start(t, server.folder);
      const direct = await emptySchemaOn(server);
      const accounts = await openService(t, direct.replace(/@[^/]*\//, `@127.0.0.1:${proxy.port}/`));
      const { key } = await createCustomer(direct, { usd: "1" });
      assert.equal(await pay(accounts, key, "first"), "charged");
      proxy.loseNext(moment, "second");
      assert.equal(await pay(accounts, key, "second"), "charged");
      assert.equal(await pay(accounts, key, "third"), "charged");
      assert.deepEqual(await chargesIn(direct), ["first", "second", "third"]);
    });

  test("a charge whose outcome stays unknown is refused, and reported with its account, amount and reference", {
    skip: skipInShortRun,
  }, async (t) => {
    const server = await PostgresServer.start(t);
    const proxy = await PostgresProxy.start(t, server.folder);
    const direct = await emptySchemaOn(server);
    const undecided: object[] = [];
    const accounts = await Accounts.open(direct.replace(/@[^/]*\//, `@127.0.0.1:${proxy.port}/`), {
      clock: systemClock,
      onUndecided: (charge) => undecided.push(adjustmentOf(charge)),
    });
    onScopeEnd(t, () => accounts.close());
    const { key, accountId } = await createCustomer(direct, { usd: "1" });
    assert.equal(await pay(accounts, key, "first"), "charged");
    proxy.loseNext("after the commit", "second", true);
    assert.equal(await pay(accounts, key, "second"), "metering_unavailable");
    assert.deepEqual(undecided, [{ account: accountId, usd: "0.002", reference: "refund_second" }]);
    proxy.accept();
    await eventually("charged again", async () => (await pay(accounts, key, "third")) === "charged");
    assert.deepEqual((await inAccountsFile(direct, audit)).faults, []);
  });

  test("a change of a service that need not wait for each commit is on the disk when it is acknowledged", async (t) => {
    const server = await PostgresServer.start(t);
    const direct = await connectPostgres(server.url, { busyMs: 1000 });
    onScopeEnd(t, () => direct.close());
    // Else the server itself soon flushes commits that do not wait for the disk.
    await direct.run(sql`ALTER SYSTEM SET wal_writer_delay = '10s'`);
    await direct.one(sql`SELECT pg_reload_conf()`);
    await direct.run(sql`CREATE TABLE changes (n INTEGER)`);
    const flush = { isEachFlushed: false, onError: () => undefined, onFlush: () => undefined };
    const database = await connectPostgres(server.url, { busyMs: 1000, flush });
    onScopeEnd(t, () => database.close());
    for (let change = 0; change < 5; change += 1) {
      const position = await database.transaction(async (transaction) => {
        await transaction.run(sql`INSERT INTO changes VALUES (${change})`);
        return textIn(await transaction.one(sql`SELECT pg_current_wal_insert_lsn()::TEXT AS lsn`), "lsn");
      });
      const row = await direct.one(sql`SELECT (pg_current_wal_flush_lsn() >= ${position}::PG_LSN)::TEXT AS on_disk`);
      assert.equal(textIn(row, "on_disk"), "true");
    }
  });

  test("clients of two replicas have the limits of one, of their account, in the database", async (t) => {
    const location = await temporaryAccounts(t, "PostgreSQL");
    const { key } = await createCustomer(location, { tier: 1, override: null });
    const replicas = [await openService(t, location), await openService(t, location)];
    const identities = await Promise.all(replicas.map((replica) => replica.identify(key, "192.0.2.1")));
    const count = async (index: number): Promise<string> => {
      const replica = replicas[index % 2];
      const identity = identities[index % 2];
      assert.ok(replica && identity);
      return replica.countRequest(identity).then(
        () => "counted",
        (thrown: unknown) => (thrown instanceof Refusal ? thrown.code : String(thrown)),
      );
    };
    const outcomes = await Promise.all(Array.from({ length: 60 }, (_, index) => count(index)));
    assert.equal(outcomes.filter((outcome) => outcome === "counted").length, 20);
    assert.equal(outcomes.filter((outcome) => outcome === "rate_limit_exceeded").length, 40);
    for (const [index, replica] of replicas.entries()) {
      const identity = identities[index];
      assert.ok(identity);
      await assert.rejects(replica.countRequest(identity), (thrown: unknown) => {
        assert.ok(thrown instanceof Refusal && thrown.code === "rate_limit_exceeded");
        const { retryAfterSeconds = 0 } = thrown;
        assert.ok(retryAfterSeconds >= 1 && retryAfterSeconds <= 11);
        return true;
      });
      assert.deepEqual(replica.limits(identity).remaining, { per10s: 0, per60s: 40 });
    }
    await replicas[0]?.countUncharged(identities[0] ?? assert.fail(), 50);
    assert.equal(await count(1), "rate_limit_exceeded");
    assert.equal(replicas[1]?.limits(identities[1] ?? assert.fail()).remaining.per60s, 0);
  });

  test("commands and revocations reach every replica within a second, and a stopped server is reported", async (t) => {
    const server = await PostgresServer.start(t);
    const location = await emptySchemaOn(server);
    const changes: boolean[] = [];
    const replicas = [await openService(t, location, changes), await openService(t, location)];
    const { key, keyId } = await createCustomer(location, { usd: "1" });
    for (const replica of replicas) assert.equal(await pay(replica, key), "charged");
    await server.crash();
    for (const replica of replicas)
      await eventually("unavailable", async () => (await pay(replica, key)) === "metering_unavailable");
    await server.restart();
    for (const replica of replicas) await eventually("available", async () => (await pay(replica, key)) === "charged");
    assert.deepEqual(changes, [true, false]);
    await inAccountsFile(location, (database) => revokeKey(database, keyId, 1));
    await pause(1000);
    for (const replica of replicas) assert.equal(await pay(replica, key), "invalid_api_key");
    assert.deepEqual((await inAccountsFile(location, audit)).faults, []);
  });

  test("accounts are copied from a file to PostgreSQL and back, and go on there", async (t) => {
    const source = await createLedger(t);
    const folder = await temporaryFolder(t);
    await addCredit(source.database, { ...paidCredit, accountId: source.accountId, micros: 10_000, reference: "pi_1" });
    for (const id of ["c1", "c2"]) await postPlainCharge(source.database, searchCharge(source, id));
    const location = await emptySchemaOn(await PostgresServer.start(t));
    const expected = { faults: [], accounts: 1, entries: 3, charges: 2 };
    assert.deepEqual(await copyAccounts(source.path, location), expected);
    await assert.rejects(
      () => copyAccounts(source.path, location),
      /already has accounts: expected a database without accounts/,
    );
    await inAccountsFile(location, (database) => postPlainCharge(database, searchCharge(source, "c3")));
    const back = join(folder, "back.db");
    const { code, out, err } = await carquet(["ledger", "copy", location, back, "--json"]);
    assert.equal(code, 0, err);
    assert.deepEqual(JSON.parse(out), { file: back, accounts: 1, entries: 4, charges: 3, faults: 0 });
    await inAccountsFile(back, async (database) => {
      await postPlainCharge(database, searchCharge(source, "c4"));
      assert.equal((await database.one(sql`SELECT max(entry) AS entry FROM entries`))?.entry, 5);
    });
    await inAccountsFile(location, (database) => database.run(sql`UPDATE accounts SET balance_micros = 1`));
    await assert.rejects(() => copyAccounts(location, join(folder, "x.db")), /fails its audit: Balance differs/);
  });

  test("the tables of both engines have the same columns, which a copy knows", async (t) => {
    const expected = accountTables.flatMap(({ name, columns }) =>
      Object.keys(columns).map((column) => `${name}.${column}`),
    );
    const file = await openAccounts(await temporaryAccounts(t, "SQLite"), { busyMs: 1000 });
    const inFile = await file.all(sql`
      SELECT tables.name || '.' || columns.name AS name
      FROM   sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`);
    await file.close();
    const inPostgres = await inAccountsFile(await temporaryAccounts(t, "PostgreSQL"), (database) =>
      database.all(sql`
        SELECT table_name || '.' || column_name AS name FROM information_schema.columns
        WHERE  table_schema = current_schema() AND table_name NOT LIKE 'carquet%'`),
    );
    for (const rows of [inFile, inPostgres])
      assert.deepEqual(rows.map((row) => textIn(row, "name")).sort(), [...expected].sort());
  });

  test("a database without accounts is refused, and so are copies of PostgreSQL as a file", async (t) => {
    const { path } = await createLedger(t, "PostgreSQL");
    const empty = path.replace(/test_\d+/, "none");
    await assert.rejects(() => openAccounts(empty, { busyMs: 10 }), /has no accounts: expected tables created by/);
    await assert.rejects(() => backUp(path, "copy.db"), /Not a file: .*pg_dump/);
    await assert.rejects(() => restore(path, "copy.db", { stamp: "x", discard: false }), /Not a file: .*pg_dump/);
  });

  test("a transaction that hangs holds up no charge", async (t) => {
    const { database, path, accountId, ...ledger } = await createLedger(t, "PostgreSQL");
    await addCredit(database, { ...paidCredit, accountId, micros: 100_000 });
    const hanging = await openAccounts(path, { busyMs: 1000, idleMs: 300 });
    onScopeEnd(t, async () => hanging.close());
    const hang = (): Promise<void> =>
      hanging.transaction(async (transaction) => {
        await transaction.run(sql`SELECT account_id FROM accounts WHERE account_id = ${accountId} FOR UPDATE`);
        assert.equal(
          await postPlainCharge(database, searchCharge({ accountId, ...ledger, database, path }, "c1")),
          undefined,
        );
      });
    await assert.rejects(hang, /idle-in-transaction timeout|[Cc]onnection/);
    assert.equal((await hanging.one(sql`SELECT count(*) AS n FROM entries`))?.n, 2);
  });

  test("an account whose requests wait for its lock leaves connections for others", async (t) => {
    const location = await temporaryAccounts(t, "PostgreSQL");
    const service = await startService(t, (await createLake(t)).lake, { accounts: location });
    const { accountId, bearer } = await createCustomer(location);
    const search = (): Promise<number> =>
      fetch(`${service.url}/v1/listings?limit=1`, { headers: bearer }).then(({ status }) => status);
    let waiting: readonly Promise<unknown>[] = [];
    await inAccountsFile(location, (database) =>
      database.transaction(async (transaction) => {
        await lockAccount(transaction, accountId);
        waiting = Array.from({ length: 40 }, () => search());
        await eventually("charges wait for the account", async () => {
          const locks = await transaction.one(sql`SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted`);
          return Number(locks?.waiting) >= 5;
        });
        for (let request = 0; request < 3; request += 1)
          assert.equal((await service.get("/v1/listings?limit=1")).status, 200);
        assert.equal(await Promise.race(waiting), 503);
        assert.equal((await service.get("/readyz")).status, 200, "the ledger of other accounts is available");
      }),
    );
    await Promise.all(waiting);
    assert.equal(await search(), 200);
  });

  test("the entries of an account are numbered in the order in which they are committed", async (t) => {
    const { database, path, accountId, ...ledger } = await createLedger(t, "PostgreSQL");
    await addCredit(database, { ...paidCredit, accountId, micros: 100_000 });
    const other = await openAccounts(path, { busyMs: 5000 });
    onScopeEnd(t, async () => other.close());
    const charge = (chargeId: string) => searchCharge({ accountId, ...ledger, database, path }, chargeId);
    let waiting: Promise<unknown> | undefined;
    await database.transaction(async (transaction) => {
      await lockAccount(transaction, accountId);
      waiting = postPlainCharge(other, charge("second"));
      await eventually("the other charge waits for the account", async () => {
        const locks = await transaction.one(sql`SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted`);
        return locks?.waiting === 1;
      });
      await postPlainCharge(transaction, charge("first"));
    });
    await waiting;
    const posted = await database.all(sql`SELECT entry_id FROM entries WHERE kind = 'charge' ORDER BY entry`);
    assert.deepEqual(
      posted.map((row) => textIn(row, "entry_id")),
      ["first", "second"],
    );
    assert.deepEqual((await audit(database)).faults, []);
  });

  test("transactions that deadlock are run again", async (t) => {
    const { database, path, accountId } = await createLedger(t, "PostgreSQL");
    const other = await openAccounts(path, { busyMs: 5000 });
    onScopeEnd(t, async () => other.close());
    let attempts = 0;
    await database.transaction(async (database) => {
      attempts += 1;
      if (attempts === 1)
        await database.run(sql`DO $$ BEGIN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END $$`);
      await adjustBalance(database, { accountId, micros: 5, atMs: 0 });
    });
    assert.equal(attempts, 2);
    assert.equal((await inAccountsFile(path, audit)).entries, 1);
  });

  test("a statement of a command ends after a minute without a reply", async (t) => {
    const server = await PostgresServer.start(t);
    const database = await createAccounts(await emptySchemaOn(server), { busyMs: 1000 });
    t.mock.timers.enable({ apis: ["setTimeout"] });
    server.suspend();
    let outcome = "waits";
    database
      .transaction((transaction) => transaction.run(sql`UPDATE accounts SET tier = tier`))
      .catch((thrown) => {
        outcome = `${thrown}`;
      });
    const after = async (ms: number): Promise<string> => {
      for (let turn = 0; turn < 10; turn += 1) await nextTurn();
      t.mock.timers.tick(ms);
      for (let turn = 0; turn < 10; turn += 1) await nextTurn();
      return outcome;
    };
    assert.equal(await after(59_999), "waits");
    assert.equal(await after(1), "PostgresFault: the server does not reply");
    t.mock.timers.reset();
    server.resume();
    assert.equal((await database.one(sql`SELECT count(*) AS n FROM accounts`))?.n, 0);
    await database.close();
  });

  test("a command whose connection is lost says so in one line", async (t) => {
    const server = await PostgresServer.start(t);
    const proxy = await PostgresProxy.start(t, server.folder);
    const direct = await emptySchemaOn(server);
    await (await createAccounts(direct, { busyMs: 1000 })).close();
    const location = direct.replace(/@[^/]*\//, `@127.0.0.1:${proxy.port}/`);
    const copied = join(await temporaryFolder(t), "copy.db");
    for (const [text, ...words] of [
      ["FROM entries", "ledger", "verify", "--accounts", location],
      ["FROM entries", "ledger", "copy", location, copied],
      ["created_at_ms", "accounts", "list", "--accounts", location],
    ] as const) {
      proxy.loseNext("before the commit", text);
      const { code, err } = await carquet(words);
      assert.equal(code, 1, err);
      assert.match(err, /^carquet: postgres:\/\/\S+: The accounts cannot be used: Connection terminated[^\n]*\.\n$/);
    }
  });

  test("a server that cannot be reached is reported without the password of its URL", async () => {
    const url = "postgres://carquet:secret@127.0.0.1:1/none";
    await assert.rejects(
      Accounts.open(url, { clock: systemClock }),
      /^UserError: postgres:\/\/carquet@127\.0\.0\.1:1\/none: cannot be opened as a database: .*ECONNREFUSED/,
    );
    assert.equal(withoutPassword("postgres://h/d?user=u&password=p&x=1"), "postgres://h/d?user=u&password=***&x=1");
    assert.ok(isPostgresUrl(url) && !isPostgresUrl("data/postgres.db"));
  });
});
