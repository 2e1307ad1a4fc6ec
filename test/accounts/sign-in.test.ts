/** Passwords, sessions, one-time links, uses of keys, and the audit log, in the accounts file. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createAccount, searchAccounts } from "../../src/accounts/account.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import { listAuditRecords } from "../../src/accounts/administration/audit-log.ts";
import { applyChange, reviewDaily } from "../../src/accounts/administration/changes.ts";
import { listKeys, recordKeyUses, revokeKey } from "../../src/accounts/keys/keys.ts";
import { addCredit } from "../../src/accounts/ledger/ledger.ts";
import { hashPassword, isAcceptedPassword, matchesPassword } from "../../src/accounts/sign-in/passwords.ts";
import { SignIn } from "../../src/accounts/sign-in/sign-in.ts";
import {
  consumeLink,
  createLink,
  findCredentials,
  findSession,
  insertSession,
  purgeSessions,
  type SessionAccount,
  setPassword,
  touchSession,
} from "../../src/accounts/sign-in/sign-in-tables.ts";
import { backUp, restore } from "../../src/accounts/storage/backup.ts";
import { newSecret, secretHash } from "../../src/base/random-ids.ts";
import { sql } from "../../src/db/sql.ts";
import type { SqlDatabase } from "../../src/db/sql-database.ts";
import { systemClock } from "../../src/http/service/system-clock.ts";
import { createCustomer, inAccountsFile, temporaryAccountsFile, testOnBothEngines } from "../support/accounts.ts";
import { atMs, createLedger, msPerDay, paidCredit } from "../support/ledger.ts";
import { onScopeEnd } from "../support/scope.ts";

const hourMs = 3_600_000;

test("a password is stored as a salted scrypt hash with its parameters", async () => {
  const [first, second] = await Promise.all([hashPassword("correct horse", "a"), hashPassword("correct horse", "a")]);
  assert.match(first, /^\$scrypt\$ln=17,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(first, second);
  assert.deepEqual(
    await Promise.all([
      matchesPassword("correct horse", first, "a"),
      matchesPassword("wrong horse", first, "a"),
      matchesPassword("correct horse", undefined, "a"),
    ]),
    [true, false, false],
  );
  const lengths = [11, 12, 256, 257].map((length) => isAcceptedPassword("🐎".repeat(length)));
  assert.deepEqual(lengths, [false, true, true, false]);
});

testOnBothEngines(
  "a session ends 12 hours after its last request, 30 days after its start, and with its key",
  async (t, engine) => {
    const { database, accountId } = await createLedger(t, engine);
    const sha256 = secretHash(newSecret());
    await insertSession(database, { accountId, sha256, atMs });
    const isOpen = async (ms: number): Promise<boolean> =>
      (await findSession(database, sha256, atMs + ms)) !== undefined;
    assert.deepEqual([await isOpen(12 * hourMs - 1), await isOpen(12 * hourMs)], [true, false]);
    for (let ms = 0; ms < 30 * msPerDay; ms += 11 * hourMs) await touchSession(database, sha256, atMs + ms);
    assert.deepEqual([await isOpen(30 * msPerDay - 1), await isOpen(30 * msPerDay)], [true, false]);
    await purgeSessions(database, atMs + 30 * msPerDay);
    assert.deepEqual(await database.all(sql`SELECT * FROM sessions`), []);
    await insertSession(database, { accountId, sha256, atMs });
    const { keyId } = (await findSession(database, sha256, atMs)) ?? {};
    assert.ok(keyId);
    await revokeKey(database, keyId, atMs);
    assert.ok(!(await isOpen(0)));
  },
);

testOnBothEngines(
  "a one-time link works once, until it expires, and until a newer one of its kind or a new password",
  async (t, engine) => {
    const { database, accountId } = await createLedger(t, engine);
    const use = async (secret: string, ms = 0): Promise<boolean> =>
      (await consumeLink(database, secretHash(secret), "invitation", atMs + ms)) !== undefined;
    const create = (): Promise<string> => createLink(database, { accountId, kind: "invitation" }, atMs);
    const replaced = await create();
    const secret = await create();
    assert.deepEqual(
      [await use(replaced), await use(secret, 7 * msPerDay - 1), await use(secret)],
      [false, true, false],
    );
    assert.equal(await use(await create(), 7 * msPerDay), false);
    const earlier = await create();
    const signIn = await createLink(database, { accountId, kind: "sign_in" }, atMs);
    await setPassword(database, { accountId, hash: "x" }, atMs);
    assert.equal(await use(earlier), false, "a new password ends it");
    assert.equal(await consumeLink(database, secretHash(signIn), "sign_in", atMs), undefined);
  },
);

testOnBothEngines("a sign-in that is in progress while the password changes starts no session", async (t, engine) => {
  const { database, accountId } = await createLedger(t, engine);
  const start = (opened: SqlDatabase, account: SessionAccount) =>
    insertSession(opened, { ...account, sha256: secretHash(newSecret()), atMs });
  const sessions = () => database.all(sql`SELECT * FROM sessions`);
  const secret = await createLink(database, { accountId, kind: "sign_in" }, atMs);
  const link = (await consumeLink(database, secretHash(secret), "sign_in", atMs)) ?? assert.fail();
  await setPassword(database, { accountId, hash: "x" }, atMs);
  const credentials = (await findCredentials(database, accountId)) ?? assert.fail();
  await setPassword(database, { accountId, hash: "y" }, atMs);
  assert.deepEqual([await start(database, link), await start(database, credentials)], [false, false]);
  assert.deepEqual(await sessions(), []);
  const current = { accountId, hash: "y" };
  const change = await database.transaction(async (transaction) => {
    assert.ok(await start(transaction, current));
    const changing = database.transaction((changed) => setPassword(changed, { accountId, hash: "z" }, atMs));
    await sleep(200);
    return () => changing;
  });
  await change();
  assert.deepEqual(await sessions(), []);
});

testOnBothEngines("of two uses of a one-time link at once, one works", async (t, engine) => {
  const { database, accountId } = await createLedger(t, engine);
  const secret = await createLink(database, { accountId, kind: "sign_in" }, atMs);
  const use = (opened: SqlDatabase) => consumeLink(opened, secretHash(secret), "sign_in", atMs);
  const { first, second } = await database.transaction(async (transaction) => {
    const first = await use(transaction);
    const second = use(database);
    await sleep(200);
    return { first, second: () => second };
  });
  assert.deepEqual([first?.accountId, await second()], [accountId, undefined]);
});

testOnBothEngines(
  "an email address names an account only if no other account with a password has it",
  async (t, engine) => {
    const { database, accountId } = await createLedger(t, engine);
    const found = async (name: string): Promise<string | undefined> =>
      (await findCredentials(database, name))?.accountId;
    assert.equal(await found("a@b.example"), undefined);
    await setPassword(database, { accountId, hash: "x" }, atMs);
    const other = await createAccount(database, { email: "A@B.example", tier: 1, atMs });
    assert.deepEqual([await found("a@B.example"), await found(accountId)], [accountId, accountId]);
    await setPassword(database, { accountId: other, hash: "y" }, atMs);
    assert.deepEqual(
      [await found("a@b.example"), await found(accountId), await found(other)],
      [undefined, accountId, other],
    );
  },
);

testOnBothEngines("an email address has letters of any alphabet in upper or lower case", async (t, engine) => {
  const { database } = await createLedger(t, engine);
  const addresses = ["Änne.Öz@Cars.example", "ΝΊΚΟΣ@cars.example"];
  for (const email of addresses) {
    const accountId = await createAccount(database, { email, tier: 1, atMs });
    await setPassword(database, { accountId, hash: "x" }, atMs);
    for (const name of [email, email.toLowerCase(), email.toUpperCase()]) {
      assert.equal((await findCredentials(database, name))?.accountId, accountId, name);
      const { accounts } = await searchAccounts(database, name.slice(0, 4), "2026-11", 10);
      assert.deepEqual(
        accounts.map((found) => found.accountId),
        [accountId],
        name,
      );
    }
  }
});

testOnBothEngines(
  "a search finds accounts by a part of their address or id, oldest first, up to a limit",
  async (t, engine) => {
    const { database, accountId } = await createLedger(t, engine);
    const ids = await Promise.all(
      [5, 9, 6, 7, 7, 7, 7].map((ms, n) =>
        createAccount(database, { email: `Fleet${n}@cars.example`, tier: 1, atMs: atMs + ms }),
      ),
    );
    const [fifth = "", ninth = "", sixth = "", ...equal] = ids;
    const ordered = [fifth, sixth, ...equal.sort(), ninth];
    const found = async (search: string, limit = 10): Promise<readonly [readonly string[], number]> => {
      const { accounts, total } = await searchAccounts(database, search, "2026-11", limit);
      return [accounts.map((account) => account.accountId), total];
    };
    assert.deepEqual(await found(""), [[accountId, ...ordered], 8]);
    assert.deepEqual(await found("fleet"), [ordered, 7]);
    assert.deepEqual(await found("fleet", 3), [ordered.slice(0, 3), 7]);
    assert.deepEqual(await found("FLEET1@"), [[ninth], 1]);
    assert.deepEqual(await found(ninth.slice(2)), [[ninth], 1]);
  },
);

test("the last use of a key never goes back, and is no row that a restore discards", async (t) => {
  const { database, accountId, keyId, path } = await createLedger(t);
  await backUp(path, `${path}.copy`);
  await recordKeyUses(database, [
    [keyId, atMs + 5],
    ["0000000000000000", atMs],
  ]);
  await recordKeyUses(database, [[keyId, atMs]]);
  assert.deepEqual(
    (await listKeys(database, accountId)).map(({ lastUsedAtMs }) => lastUsedAtMs),
    [atMs + 5],
  );
  await restore(path, `${path}.copy`, { stamp: "now", discard: false });
});

test("a restore brings no session and no link back, and refuses to lose a password", async (t) => {
  const { database, accountId, path } = await createLedger(t);
  await insertSession(database, { accountId, sha256: secretHash("1"), atMs });
  await createLink(database, { accountId, kind: "sign_in" }, atMs);
  await backUp(path, `${path}.copy`);
  await setPassword(database, { accountId, hash: "x" }, atMs);
  const restoring = (discard: boolean) => restore(path, `${path}.copy`, { stamp: "now", discard });
  await assert.rejects(() => restoring(false), /would discard 1 row/);
  await restoring(true);
  await inAccountsFile(path, async (restored) => {
    assert.deepEqual(await restored.all(sql`SELECT 1 FROM sessions UNION ALL SELECT 1 FROM one_time_links`), []);
  });
});

testOnBothEngines(
  "the audit log has a record of each change, none of a refused one, and is never changed",
  async (t, engine) => {
    const { database, accountId } = await createLedger(t, engine);
    const author = { actor: "command line (joe)", atMs };
    const { id: keyId } = await applyChange(
      database,
      "keys create",
      { accountId, scopes: ["usage.read"], name: "sync" },
      author,
    );
    await applyChange(database, "keys revoke", { keyId }, { actor: accountId, atMs: atMs + 1 });
    await assert.rejects(
      () => applyChange(database, "keys revoke", { keyId, accountId: "acct_other" }, author),
      /Unknown key/,
    );
    await assert.rejects(() =>
      applyChange(database, "accounts cap", { accountId: "acct_other", capMicros: 1 }, author),
    );
    const records = await listAuditRecords(database, { before: null, limit: 10 });
    assert.deepEqual(
      records.map(({ actor, action, details }) => [actor, action, details]),
      [
        [accountId, "keys revoke", keyId],
        ["command line (joe)", "keys create", `${keyId}, usage.read, "sync"`],
      ],
    );
    assert.deepEqual(
      await listAuditRecords(database, { before: records[0]?.record ?? 0, limit: 10 }),
      records.slice(1),
    );
    await assert.rejects(() => database.run(sql`UPDATE audit_log SET actor = 'x'`), /audit records are never changed/);
    await assert.rejects(() => database.run(sql`DELETE FROM audit_log`), /audit records are never removed/);
  },
);

testOnBothEngines("the daily review of the service is in the audit log if it changes an account", async (t, engine) => {
  const { database, accountId } = await createLedger(t, engine);
  const review = async (days: number): Promise<readonly string[]> => {
    await reviewDaily(database, atMs + days * msPerDay);
    return (await listAuditRecords(database, { before: null, limit: 10 })).map(
      ({ actor, action, details }) => `${actor}: ${action}: ${details}`,
    );
  };
  await addCredit(database, { ...paidCredit, accountId, micros: 25_000_000 });
  assert.deepEqual(await review(6), []);
  const promoted = [`service: tiers review: ${accountId} to tier 2: automatic`];
  assert.deepEqual([await review(7), await review(7)], [promoted, promoted]);
});

test("passwords of one client address do not hold up those of another", async () => {
  let ended = 0;
  const heavy = Array.from({ length: 4 }, () => hashPassword("correct horse", "heavy").then(() => (ended += 1)));
  await hashPassword("correct horse", "light");
  assert.ok(ended <= 2, `${ended} of the heavy address before that of the light one`);
  await Promise.all(heavy);
});

test("wrong current passwords of one account do not hold up those of another", async (t) => {
  const path = await temporaryAccountsFile(t);
  const { accountId: heavy } = await createCustomer(path);
  const { accountId: light } = await createCustomer(path);
  const accounts = await Accounts.open(path, { clock: systemClock });
  onScopeEnd(t, () => accounts.close());
  const signIn = new SignIn(accounts.administration, systemClock);
  const ended: string[] = [];
  const confirm = async (accountId: string): Promise<void> => {
    assert.equal(await signIn.confirm(accountId, "wrong horse"), "wrong");
    ended.push(accountId);
  };
  await Promise.all([heavy, heavy, heavy, light].map(confirm));
  assert.ok(ended.indexOf(light) < 2, ended.join());
});
