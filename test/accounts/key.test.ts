/** API keys: their form, the storage of their secrets, and revocation. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Accounts } from "../../src/accounts/accounts.ts";
import {
  generateAccessToken,
  generateApiKey,
  matchesSecret,
  parseApiKey,
  redactKeys,
} from "../../src/accounts/keys/api-key.ts";
import { KeyCache } from "../../src/accounts/keys/key-cache.ts";
import {
  accountKeysMax,
  createKey,
  findActiveKey,
  listKeys,
  revokeKey,
  scopes,
  webKeyOf,
} from "../../src/accounts/keys/keys.ts";
import { purgeOAuthState, saveState } from "../../src/accounts/oauth/oauth-state.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { UserError } from "../../src/base/user-error.ts";
import { systemClock } from "../../src/http/service/system-clock.ts";
import { createCustomer, inAccountsFile, temporaryAccountsFile } from "../support/accounts.ts";
import { fileScope, onScopeEnd } from "../support/scope.ts";

test("a key is cq_live_, an id and a secret of 256 random bits; only the secret's hash is stored", () => {
  const keys = Array.from({ length: 200 }, () => generateApiKey());
  for (const { key, keyId, sha256 } of keys) {
    assert.match(key, /^cq_live_[0-9a-z]{16}_[\w-]{43}$/);
    const parts = parseApiKey(key);
    assert.equal(parts?.keyId, keyId);
    assert.equal(Buffer.from(parts?.secret ?? "", "base64url").length, 32);
    assert.equal(
      createHash("sha256")
        .update(parts?.secret ?? "")
        .digest("hex"),
      sha256,
    );
  }
  assert.equal(new Set(keys.map(({ key }) => key.slice(-43))).size, keys.length);
  assert.equal(new Set(keys.map(({ keyId }) => keyId)).size, keys.length);
});

const { key: sample } = generateApiKey();
const malformed = [
  "",
  "cq_live_",
  "cq_live__",
  sample.slice(1),
  sample.slice(0, -1),
  `${sample}x`,
  ` ${sample}`,
  `${sample}\n`,
  sample.toUpperCase(),
  sample.replace("cq_live_", "cq_test_"),
  sample.replace(/_([0-9a-z])/, "_é"),
  sample.replaceAll("_", "-"),
  `${sample},${sample}`,
  `${"cq_live_".padEnd(100_000, "a")}`,
];

test("malformed keys are rejected", () => {
  for (const text of malformed) assert.equal(parseApiKey(text), undefined, text.slice(0, 80));
});

test("the keys of agents are revoked once their codes and tokens have expired", async (t) => {
  const file = await temporaryAccountsFile(t);
  const { accountId } = await createCustomer(file);
  const hourMs = 3_600_000;
  await inAccountsFile(file, async (database) => {
    const keyOf = async (clientId: string, atMs: number): Promise<string> =>
      (await createKey(database, { accountId, scopes, name: clientId, clientId, atMs })).keyId;
    const tokenOf = (keyId: string, expiresAtMs: number) =>
      saveState(database, { kind: "RefreshToken", sha256: keyId.padEnd(64, "0"), keyId, expiresAtMs, content: "{}" });
    await tokenOf(await keyOf("in use", 0), 9 * hourMs);
    await tokenOf(await keyOf("expired", 0), 2 * hourMs);
    await keyOf("never redeemed", hourMs);
    await keyOf("consenting", 4.5 * hourMs);
    await purgeOAuthState(database, 5 * hourMs);
    const revoked = (await listKeys(database, accountId)).filter(({ revokedAtMs }) => revokedAtMs !== null);
    assert.deepEqual(
      revoked.map(({ name }) => name),
      ["expired", "never redeemed"],
    );
  });
});

test("only the secret matches its stored hash", () => {
  const { key, sha256 } = generateApiKey();
  const stored = Buffer.from(sha256, "hex");
  const secret = parseApiKey(key)?.secret ?? "";
  assert.ok(matchesSecret(secret, stored));
  for (const other of ["", secret.slice(1), `${secret}A`, secret.replace(/^./, (first) => (first === "A" ? "B" : "A"))])
    assert.ok(!matchesSecret(other, stored));
});

test("secrets are compared in constant time", () => {
  const source = readFileSync(projectPath("src/accounts/keys/api-key.ts"), "utf8");
  assert.match(source, /timingSafeEqual\(digest\(secret\), sha256\)/);
});

test("the accounts file holds no secret, and a revoked key is not found", async () => {
  const path = await temporaryAccountsFile(fileScope);
  const { accountId, keyId } = await createCustomer(path);
  const other = await inAccountsFile(path, (database) =>
    createKey(database, { accountId, scopes: ["usage.read"], atMs: 5 }),
  );
  const secret = parseApiKey(other.key)?.secret ?? "";
  await inAccountsFile(path, async (database) => {
    const bytes = ["", "-wal", "-shm"].map((part) => readFileSync(`${path}${part}`, "latin1")).join("");
    assert.ok(!bytes.includes(secret));
    assert.ok(bytes.includes(other.keyId), "the search finds text that the file has");
    const activeKeys = async (): Promise<readonly unknown[]> => {
      const ids = [other.keyId, keyId, "0000000000000000"];
      const found = await Promise.all(ids.map((id) => findActiveKey(database, id, "2026-11")));
      return found
        .flatMap((active) => active ?? [])
        .map(({ key, account }) => [account.accountId, key.scopes])
        .sort((a, b) => String(a[1]).length - String(b[1]).length);
    };
    assert.deepEqual(await activeKeys(), [
      [accountId, ["usage.read"]],
      [accountId, scopes],
    ]);
    await revokeKey(database, other.keyId, 77);
    await revokeKey(database, other.keyId, 99);
    assert.deepEqual(await activeKeys(), [[accountId, scopes]]);
    assert.deepEqual(
      (await listKeys(database, accountId)).map((key) => [key.keyId, key.revokedAtMs]),
      [
        [other.keyId, 77],
        [keyId, null],
      ],
    );
    await assert.rejects(() => revokeKey(database, "0000000000000000", 1), /Unknown key 0000000000000000: /);
    await assert.rejects(
      () => createKey(database, { accountId: "acct_none", scopes: [], atMs: 1 }),
      /Unknown account acct_none: /,
    );
  });
});

test("a text that looks like a key is redacted, in any case, percent-encoded or truncated", () => {
  const encoded = [...sample].map((character) => `%${character.charCodeAt(0).toString(16)}`).join("");
  const forms = [sample, sample.toUpperCase(), sample.slice(0, 30), "cq_live_", `${sample}_${sample}`, encoded];
  forms.push(generateAccessToken("0123456789abcdef"), "cq_oauth_");
  const twice = [...encoded].map((character) => `%${character.charCodeAt(0).toString(16)}`).join("");
  const more = [twice, encoded.toUpperCase(), encoded.replaceAll("%", "%2525"), sample.replaceAll("_", "%5F")];
  for (const form of [...forms, ...more]) {
    assert.equal(redactKeys(form), "[key]");
    assert.equal(redactKeys(`"a=${form}","b":"${form}\\n" ${form}.`), '"a=[key]","b":"[key]\\n" [key].');
  }
  for (const other of ["", "cq_test_0123456789abcdef", "live_cq", "%63q", "make=ford&model=f-150"])
    assert.equal(redactKeys(other), other);
});

test("a cached key is used for 0.9 s, and read again before a later use", async (t) => {
  const path = await temporaryAccountsFile(t);
  const { key, keyId } = await createCustomer(path);
  let nowMs = 1_000_000;
  const accounts = await Accounts.open(path, { clock: { ...systemClock, monotonicMs: () => nowMs } });
  onScopeEnd(t, () => accounts.close());
  const identify = async () => accounts.identify(key, "192.0.2.1");
  await identify();
  await inAccountsFile(path, (database) => revokeKey(database, keyId, 1));
  nowMs += 300;
  await identify();
  nowMs += 601;
  await assert.rejects(identify(), { code: "invalid_api_key" });
});

test("a key that was unknown is looked up again half a second later", async () => {
  let nowMs = 1_000_000;
  const cache = new KeyCache(
    async () => undefined,
    () => nowMs,
  );
  await cache.load("new");
  nowMs += 499;
  assert.equal(cache.get("new"), null);
  nowMs += 1;
  assert.equal(cache.get("new"), undefined);
});

test("a key that is revoked while it is cached is not looked up for each request with it", async (t) => {
  const path = await temporaryAccountsFile(t);
  const { keyId } = await createCustomer(path);
  const found = await inAccountsFile(path, (database) => findActiveKey(database, keyId, "2026-11"));
  const answers = [found, undefined];
  let nowMs = 1_000_000;
  const cache = new KeyCache(
    async () => answers.shift(),
    () => nowMs,
  );
  await cache.load(keyId);
  nowMs += 901;
  assert.equal(await cache.load(keyId), undefined);
  assert.deepEqual([cache.get(keyId), cache.has(keyId)], [null, false]);
});

test("while 1024 look-ups are in progress a cached key is read again, and another one is refused", async (t) => {
  const path = await temporaryAccountsFile(t);
  const { keyId } = await createCustomer(path);
  const found = await inAccountsFile(path, (database) => findActiveKey(database, keyId, "2026-11"));
  assert.ok(found);
  let nowMs = 1_000_000;
  const cache = new KeyCache(
    (id) => (id === keyId ? Promise.resolve(found) : new Promise(() => undefined)),
    () => nowMs,
  );
  await cache.load(keyId);
  nowMs += 901;
  assert.equal(cache.get(keyId), undefined);
  for (let index = 0; index < 1024; index += 1) void cache.load(`unknown ${index}`);
  assert.equal((await cache.load(keyId))?.key.keyId, keyId);
  assert.throws(() => cache.load("another"), { code: "overloaded" });
  assert.equal(cache.get(keyId)?.key.keyId, keyId);
});

test("the keys in use outlast any number of other keys, and share an account", async (t) => {
  const path = await temporaryAccountsFile(t);
  const { keyId } = await createCustomer(path);
  const found = await inAccountsFile(path, (database) => findActiveKey(database, keyId, "2026-11"));
  assert.ok(found);
  const cache = new KeyCache(
    async (id) => ({
      ...found,
      key: { ...found.key, keyId: id },
      account: { ...found.account, accountId: /other/.test(id) ? `acct_${id}` : found.account.accountId },
    }),
    () => 1_000_000,
  );
  await cache.load(keyId);
  for (let index = 0; index < 10_000; index += 1) {
    await cache.load(`other ${index}`);
    assert.ok(cache.get(keyId));
  }
  assert.equal(cache.has("other 0"), false);
  const second = await cache.load("second of the account");
  assert.equal(second?.cached, (await cache.load(keyId))?.cached);
});

test("an account has at most 100 keys, those revoked in the last day included, beside that of its pages", async () => {
  const location = await temporaryAccountsFile(fileScope);
  const { accountId, keyId } = await createCustomer(location);
  const dayMs = 86_400_000;
  await inAccountsFile(location, async (database) => {
    const create = (atMs: number) => createKey(database, { accountId, scopes, atMs });
    for (let count = 1; count < accountKeysMax; count += 1) await create(count);
    await webKeyOf(database, accountId, 0);
    await assert.rejects(create(200), { message: /^Too many keys: expected at most 100 of an account/ });
    await revokeKey(database, keyId, 300);
    await assert.rejects(create(300 + dayMs - 1), UserError);
    await create(300 + dayMs);
    for (const { keyId: listed } of await listKeys(database, accountId)) await revokeKey(database, listed, 400 + dayMs);
    for (let count = 0; count < accountKeysMax; count += 1) await create(3 * dayMs + count);
    const listed = await listKeys(database, accountId);
    const active = listed.filter(({ revokedAtMs }) => revokedAtMs === null);
    assert.deepEqual([listed.length, active.length, listed[0]?.createdAtMs], [200, 100, 2], "the newest of 202");
    await assert.rejects(revokeKey(database, keyId, 1, "acct_none"), UserError);
    const webKey = await findActiveKey(database, await webKeyOf(database, accountId, 4 * dayMs), "2026-11");
    assert.equal(webKey?.key.isWeb, true, "the revoked one is replaced");
  });
});
