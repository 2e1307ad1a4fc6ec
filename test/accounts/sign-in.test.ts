/** Passwords, sessions, one-time links, uses of keys, and the audit log, in the accounts file. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAccount, searchAccounts } from "../../src/accounts/account.ts";
import { listAuditRecords } from "../../src/accounts/administration/audit-log.ts";
import { applyChange } from "../../src/accounts/administration/changes.ts";
import { dayOf } from "../../src/accounts/clock.ts";
import { listKeys, recordKeyUses, revokeKey } from "../../src/accounts/keys/keys.ts";
import { addCredit } from "../../src/accounts/ledger/ledger.ts";
import { hashPassword, isAcceptedPassword, matchesPassword } from "../../src/accounts/sign-in/passwords.ts";
import {
  consumeLink,
  createLink,
  findCredentials,
  findSession,
  insertSession,
  purgeSessions,
  setPassword,
  touchSession,
} from "../../src/accounts/sign-in/sign-in-tables.ts";
import { backUp, restore } from "../../src/accounts/storage/backup.ts";
import { commitBatch } from "../../src/accounts/worker/group-commit.ts";
import { newSecret, secretHash } from "../../src/base/random-ids.ts";
import { sql } from "../../src/db/sql.ts";
import { inAccountsFile, testOnBothEngines } from "../support/accounts.ts";
import { atMs, createLedger, msPerDay, paidCredit } from "../support/ledger.ts";

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
    insertSession(database, { accountId, sha256, atMs });
    const isOpen = (ms: number): boolean => findSession(database, sha256, atMs + ms) !== null;
    assert.deepEqual([isOpen(12 * hourMs - 1), isOpen(12 * hourMs)], [true, false]);
    for (let ms = 0; ms < 30 * msPerDay; ms += 11 * hourMs) touchSession(database, sha256, atMs + ms);
    assert.deepEqual([isOpen(30 * msPerDay - 1), isOpen(30 * msPerDay)], [true, false]);
    purgeSessions(database, atMs + 30 * msPerDay);
    assert.deepEqual(database.all(sql`SELECT * FROM sessions`), []);
    insertSession(database, { accountId, sha256, atMs });
    const { keyId } = findSession(database, sha256, atMs) ?? {};
    assert.ok(keyId);
    revokeKey(database, keyId, atMs);
    assert.ok(!isOpen(0));
  },
);

testOnBothEngines(
  "a one-time link works once, until it expires, and until a newer one of its kind or a new password",
  async (t, engine) => {
    const { database, accountId } = await createLedger(t, engine);
    const use = (secret: string, ms = 0): boolean =>
      consumeLink(database, secretHash(secret), "invitation", atMs + ms) !== null;
    const create = (): string => createLink(database, { accountId, kind: "invitation", atMs });
    const replaced = create();
    const secret = create();
    assert.deepEqual([use(replaced), use(secret, 7 * msPerDay - 1), use(secret)], [false, true, false]);
    assert.equal(use(create(), 7 * msPerDay), false);
    const earlier = create();
    const signIn = createLink(database, { accountId, kind: "sign_in", atMs });
    setPassword(database, { accountId, hash: "x" }, atMs);
    assert.equal(use(earlier), false, "a new password ends it");
    assert.equal(consumeLink(database, secretHash(signIn), "sign_in", atMs), null);
  },
);

testOnBothEngines(
  "an email address names an account only if no other account with a password has it",
  async (t, engine) => {
    const { database, accountId } = await createLedger(t, engine);
    const found = (name: string): string | undefined => findCredentials(database, name)?.accountId;
    assert.equal(found("a@b.example"), undefined);
    setPassword(database, { accountId, hash: "x" }, atMs);
    const other = createAccount(database, { email: "A@B.example", tier: 1, atMs });
    assert.deepEqual([found("a@B.example"), found(accountId)], [accountId, accountId]);
    setPassword(database, { accountId: other, hash: "y" }, atMs);
    assert.deepEqual([found("a@b.example"), found(accountId), found(other)], [undefined, accountId, other]);
  },
);

testOnBothEngines(
  "a search finds accounts by a part of their address or id, oldest first, in pages",
  async (t, engine) => {
    const { database, accountId } = await createLedger(t, engine);
    const ids = [5, 9, 6, 7, 7, 7, 7].map((ms, n) =>
      createAccount(database, { email: `Fleet${n}@cars.example`, tier: 1, atMs: atMs + ms }),
    );
    const [fifth = "", ninth = "", sixth = "", ...equal] = ids;
    const ordered = [fifth, sixth, ...equal.sort(), ninth];
    const found = (search: string, offset = 0, limit = 10): readonly [readonly string[], number] => {
      const { accounts, total } = searchAccounts(database, { search, month: "2026-11", offset, limit });
      return [accounts.map((account) => account.accountId), total];
    };
    assert.deepEqual(found(""), [[accountId, ...ordered], 8]);
    assert.deepEqual(found("fleet"), [ordered, 7]);
    assert.deepEqual(found("fleet", 1, 3), [ordered.slice(1, 4), 7]);
    assert.deepEqual(found("FLEET1@"), [[ninth], 1]);
    assert.deepEqual(found(ninth.slice(2)), [[ninth], 1]);
  },
);

test("the last use of a key never goes back, and is no row that a restore discards", async (t) => {
  const { database, accountId, keyId, path } = await createLedger(t);
  backUp(path, `${path}.copy`);
  recordKeyUses(database, [
    [keyId, atMs + 5],
    ["0000000000000000", atMs],
  ]);
  recordKeyUses(database, [[keyId, atMs]]);
  assert.deepEqual(
    listKeys(database, accountId).map(({ lastUsedAtMs }) => lastUsedAtMs),
    [atMs + 5],
  );
  restore(path, `${path}.copy`, { stamp: "now", discard: false });
});

test("a restore brings no session and no link back, and refuses to lose a password", async (t) => {
  const { database, accountId, path } = await createLedger(t);
  insertSession(database, { accountId, sha256: secretHash("1"), atMs });
  createLink(database, { accountId, kind: "sign_in", atMs });
  backUp(path, `${path}.copy`);
  setPassword(database, { accountId, hash: "x" }, atMs);
  const restoring = (discard: boolean) => restore(path, `${path}.copy`, { stamp: "now", discard });
  assert.throws(() => restoring(false), /would discard 1 row/);
  restoring(true);
  inAccountsFile(path, (restored) => {
    assert.deepEqual(restored.all(sql`SELECT 1 FROM sessions UNION ALL SELECT 1 FROM one_time_links`), []);
  });
});

testOnBothEngines(
  "the audit log has a record of each change, none of a refused one, and is never changed",
  async (t, engine) => {
    const { database, accountId } = await createLedger(t, engine);
    const author = { actor: "command line (joe)", atMs };
    const { id: keyId } = applyChange(
      database,
      "keys create",
      { accountId, scopes: ["usage.read"], name: "sync" },
      author,
    );
    applyChange(database, "keys revoke", { keyId }, { actor: accountId, atMs: atMs + 1 });
    assert.throws(
      () => applyChange(database, "keys revoke", { keyId, accountId: "acct_other" }, author),
      /Unknown key/,
    );
    assert.throws(() => applyChange(database, "accounts cap", { accountId: "acct_other", capMicros: 1 }, author));
    const records = listAuditRecords(database, { before: null, limit: 10 });
    assert.deepEqual(
      records.map(({ actor, action, details }) => [actor, action, details]),
      [
        [accountId, "keys revoke", keyId],
        ["command line (joe)", "keys create", `${keyId}, usage.read, "sync"`],
      ],
    );
    assert.deepEqual(listAuditRecords(database, { before: records[0]?.record ?? 0, limit: 10 }), records.slice(1));
    assert.throws(() => database.run(sql`UPDATE audit_log SET actor = 'x'`), /audit records are never changed/);
    assert.throws(() => database.run(sql`DELETE FROM audit_log`), /audit records are never removed/);
  },
);

testOnBothEngines("the daily review of the service is in the audit log if it changes an account", async (t, engine) => {
  const { database, accountId } = await createLedger(t, engine);
  const review = (days: number): readonly string[] => {
    const day = dayOf(atMs + days * msPerDay);
    const reviewedAtMs = atMs + days * msPerDay;
    const task = { name: "reviewTiers", input: { day, atMs: reviewedAtMs } } as const;
    commitBatch(database, [task], assert.ifError);
    return listAuditRecords(database, { before: null, limit: 10 }).map(
      ({ actor, action, details }) => `${actor}: ${action}: ${details}`,
    );
  };
  addCredit(database, { ...paidCredit, accountId, micros: 25_000_000 });
  assert.deepEqual(review(6), []);
  const promoted = [`service: tiers review: ${accountId} to tier 2: automatic`];
  assert.deepEqual([review(7), review(7)], [promoted, promoted]);
});

test("passwords of one client address do not hold up those of another", async () => {
  let ended = 0;
  const heavy = Array.from({ length: 4 }, () => hashPassword("correct horse", "heavy").then(() => (ended += 1)));
  await hashPassword("correct horse", "light");
  assert.ok(ended <= 2, `${ended} of the heavy address before that of the light one`);
  await Promise.all(heavy);
});
