/** The table of saved searches: one service at a time delivers a search, and its next message is kept. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAccount } from "../../../src/accounts/account.ts";
import {
  accountSearchesMax,
  claimSearch,
  createSearch,
  deleteSearch,
  dueSearches,
  findSearch,
  listSearches,
  recordAttempt,
  resumeSearch,
  rotateSecret,
  secretsOf,
} from "../../../src/accounts/administration/saved-searches.ts";
import { afterFailure } from "../../../src/http/searches/deliver.ts";
import { testOnBothEngines } from "../../support/accounts.ts";
import { atMs, createLedger } from "../../support/ledger.ts";

testOnBothEngines("a search is due after a new version, claimed once, and keeps its position", async (t, engine) => {
  const { database, accountId, keyId } = await createLedger(t, engine);
  const search = { accountId, keyId, name: "all", query: "", url: "https://shop.example/hook", since: "2026-11-18.1" };
  const { searchId, secret } = await createSearch(database, search, atMs);
  await createSearch(database, { ...search, name: "feed only", url: null }, atMs + 1);
  assert.match(secret, /^whsec_[\w+/]{43}=$/);
  assert.deepEqual(
    (await listSearches(database, accountId)).map(({ name, messages, stopped }) => [name, messages, stopped]),
    [
      ["all", 0, null],
      ["feed only", 0, null],
    ],
  );
  const dueFor = async (version: string, at: number, isRepeated = false): Promise<readonly string[]> =>
    (await dueSearches(database, { version, atMs: at, isRepeated, limit: 10 })).map((due) => due.searchId);
  for (const version of ["2026-11-18.1", "2026-11-17.9"])
    assert.deepEqual(await dueFor(version, atMs), [], "no newer version");
  assert.deepEqual(await dueFor("2026-11-18.10", atMs), [searchId]);
  assert.deepEqual(await dueFor("2026-11-19.1", atMs), [searchId]);

  const claim = { searchId, version: "2026-11-19.1", atMs, untilMs: atMs + 60_000 };
  const claimed = await claimSearch(database, claim);
  assert.equal(claimed?.searchId, searchId);
  assert.equal(await claimSearch(database, claim), undefined, "another service");
  assert.deepEqual(await dueFor("2026-11-19.1", atMs + 59_999), []);
  assert.deepEqual(await dueFor("2026-11-19.1", atMs + 60_000), [searchId], "of a service that was killed");
  const later = { ...claim, version: "2026-11-20.1", atMs: atMs + 60_000 };
  assert.equal((await claimSearch(database, later))?.target, "2026-11-19.1", "the message is repeated as it was");

  const position = { since: "2026-11-18.1", target: "2026-11-19.1", pageCursor: "abc", pageSent: 25 };
  const failed = { ...position, attempts: 1, nextAtMs: atMs + 5_000, messages: 2, lastAtMs: atMs, lastOutcome: "500" };
  await recordAttempt(database, { searchId, ...failed, stopped: null });
  assert.deepEqual(await dueFor("2026-11-19.1", atMs + 10_000), []);
  assert.deepEqual(await dueFor("2026-11-19.1", atMs + 10_000, true), [searchId], "beside those that have not failed");
  await recordAttempt(database, { searchId, ...failed, stopped: "The receiver is gone (410)." });
  const found = await findSearch(database, searchId);
  assert.deepEqual({ ...found, ...failed }, found);
  assert.deepEqual(await dueFor("2026-11-19.1", atMs + 10_000, true), [], "stopped");
  assert.equal((await resumeSearch(database, { accountId, searchId }, atMs + 10_000)).attempts, 0);
  assert.deepEqual(await dueFor("2026-11-18.1", atMs + 10_000), [searchId], "with the page that failed");

  const sent = { ...position, since: "2026-11-19.1", target: null, pageCursor: null, pageSent: 0 };
  const succeeded = { ...sent, attempts: 0, nextAtMs: atMs + 10_000, messages: 3, lastAtMs: atMs, lastOutcome: "200" };
  await recordAttempt(database, { searchId, ...succeeded, stopped: null });
  for (const version of ["2026-11-19.1", "2026-11-18.9"])
    assert.equal(
      await claimSearch(database, { ...claim, version, atMs: atMs + 10_000 }),
      undefined,
      "another service has sent it meanwhile",
    );

  const rotated = await rotateSecret(database, { accountId, searchId }, atMs);
  const dayMs = 86_400_000;
  assert.deepEqual([rotated.oldSecret, rotated.secret === secret], [secret, false]);
  assert.deepEqual(secretsOf(rotated, atMs + dayMs - 1), [rotated.secret, secret]);
  assert.deepEqual(secretsOf(rotated, atMs + dayMs), [rotated.secret]);

  const others = { accountId: "acct_other", searchId };
  const changes = [deleteSearch, resumeSearch, rotateSecret].map(
    (change) => async () => void (await change(database, others, atMs)),
  );
  for (const change of changes) await assert.rejects(change, /Unknown saved search .*: expected one of the account/);
  await deleteSearch(database, { accountId, searchId });
  assert.equal(await findSearch(database, searchId), undefined);
  await recordAttempt(database, { searchId, ...failed, stopped: null });
  assert.equal(await findSearch(database, searchId), undefined, "an attempt that ends after the deletion");
  for (let n = 1; n < accountSearchesMax; n += 1) await createSearch(database, search, atMs);
  await assert.rejects(() => createSearch(database, search, atMs), /Too many saved searches: expected at most 100/);
});

test("a message is repeated after growing pauses, and stops after the seventh failure, or for a reason", () => {
  const search = { lastAtMs: 1_000, lastOutcome: "500", stopped: null } as Parameters<typeof afterFailure>[0];
  const pausesS = Array.from({ length: 6 }, (_, attempts) => {
    const { nextAtMs, stopped, attempts: next } = afterFailure({ ...search, attempts });
    assert.deepEqual([stopped, next], [null, attempts + 1]);
    return nextAtMs / 1000 - 1;
  });
  assert.deepEqual(pausesS, [5, 300, 1_800, 7_200, 18_000, 36_000]);
  const exhausted = afterFailure({ ...search, attempts: 6 });
  assert.equal(exhausted.stopped, "The message failed 7 times, the last time with: 500");
  assert.equal(afterFailure({ ...search, attempts: 0 }, "gone").stopped, "gone");
});

testOnBothEngines("of many due searches a limited number is read, in turn of their accounts", async (t, engine) => {
  const { database, accountId, keyId } = await createLedger(t, engine);
  const other = await createAccount(database, { email: "b@c.example", tier: 1, atMs });
  const search = { keyId, query: "", url: "https://shop.example/hook", since: "2026-11-18.1" };
  const names = new Map<string, string>();
  for (const [account, name, ms] of [
    [accountId, "a1", 1],
    [accountId, "a3", 3],
    [accountId, "a2", 2],
    [other, "b5", 5],
    [other, "b4", 4],
  ] as const)
    names.set((await createSearch(database, { ...search, accountId: account, name }, atMs + ms)).searchId, name);
  const due = (limit: number) =>
    dueSearches(database, { version: "2026-11-19.1", atMs: atMs + 9, isRepeated: false, limit });
  const read = async (limit: number) => (await due(limit)).map(({ searchId }) => names.get(searchId));
  assert.deepEqual(await read(9), ["a1", "b4", "a2", "b5", "a3"]);
  assert.deepEqual(await read(3), ["a1", "b4", "a2"]);
  assert.deepEqual(Object.keys((await due(1))[0] ?? {}), ["searchId", "accountId"]);
});
