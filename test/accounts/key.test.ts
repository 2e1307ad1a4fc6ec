import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { generateApiKey, matchesSecret, parseApiKey } from "../../src/accounts/api-key.ts";
import { createKey, findActiveKey, listKeys, revokeKey } from "../../src/accounts/keys.ts";
import { accountsFile, customerIn, onFile } from "../support/accounts.ts";
import { wholeFile } from "../support/scope.ts";

test("a key is cq_live_, an id and a secret of 256 random bits; the hash that is kept is the secret's", () => {
  const made = Array.from({ length: 200 }, () => generateApiKey());
  for (const { key, keyId, sha256 } of made) {
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
  assert.equal(new Set(made.map(({ key }) => key.slice(-43))).size, made.length);
  assert.equal(new Set(made.map(({ keyId }) => keyId)).size, made.length);
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

test("what is not of that form is no key", () => {
  for (const text of malformed) assert.equal(parseApiKey(text), undefined, text.slice(0, 80));
});

test("only the secret itself matches what was kept of it", () => {
  const { key, sha256 } = generateApiKey();
  const kept = Buffer.from(sha256, "hex");
  const secret = parseApiKey(key)?.secret ?? "";
  assert.ok(matchesSecret(secret, kept));
  for (const other of ["", secret.slice(1), `${secret}A`, secret.replace(/^./, (first) => (first === "A" ? "B" : "A"))])
    assert.ok(!matchesSecret(other, kept));
});

test("secrets are compared in constant time", () => {
  const source = readFileSync(new URL("../../src/accounts/api-key.ts", import.meta.url), "utf8");
  assert.match(source, /timingSafeEqual\(digest\(secret\), sha256\)/);
});

test("the file holds no secret, and a key that is revoked is presented no more", async () => {
  const path = await accountsFile(wholeFile);
  const { accountId, keyId } = customerIn(path);
  const other = onFile(path, (database) => createKey(database, { accountId, scopes: ["usage.read"], atMs: 5 }));
  const secret = parseApiKey(other.key)?.secret ?? "";
  onFile(path, (database) => {
    const bytes = ["", "-wal", "-shm"].map((part) => readFileSync(`${path}${part}`, "latin1")).join("");
    assert.ok(!bytes.includes(secret));
    assert.ok(bytes.includes(other.keyId), "what is looked for would be found");
    assert.deepEqual(findActiveKey(database, other.keyId, "2026-11")?.key.scopes, ["usage.read"]);
    revokeKey(database, other.keyId, 77);
    revokeKey(database, other.keyId, 99);
    assert.equal(findActiveKey(database, other.keyId, "2026-11"), null);
    assert.equal(findActiveKey(database, "0000000000000000", "2026-11"), null);
    assert.deepEqual(
      listKeys(database, accountId).map((key) => [key.keyId, key.revokedAtMs]),
      [
        [other.keyId, 77],
        [keyId, null],
      ],
    );
    assert.throws(() => revokeKey(database, "0000000000000000", 1), /Unknown key 0000000000000000: /);
    assert.throws(
      () => createKey(database, { accountId: "acct_none", scopes: [], atMs: 1 }),
      /Unknown account acct_none: /,
    );
  });
});
