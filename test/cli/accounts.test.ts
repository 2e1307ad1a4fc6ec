/** The commands of accounts, keys, credits, tiers and the ledger. */
import assert from "node:assert/strict";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { openAccountsToRead } from "../../src/accounts/storage/open-accounts.ts";
import { isObject } from "../../src/base/json.ts";
import { withAccountsFile } from "../../src/cli/accounts-file.ts";
import { sql } from "../../src/db/sql.ts";
import { useAndClose } from "../../src/db/sql-database.ts";
import { createCustomer } from "../support/accounts.ts";
import { carquet, carquetHere, eventually, startServing } from "../support/command-line.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const folder = await temporaryFolder(fileScope);
const file = join(folder, "accounts.db");

/** Runs a command on the accounts file and returns its output; fails unless it exits with 0 and no standard error. */
async function run(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await carquetHere([...args, "--accounts", file]);
  assert.deepEqual([code, err], [0, ""], args.join(" "));
  return out;
}

async function runJson(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = JSON.parse(await run(...args, "--json"));
  assert.ok(isObject(value), args.join(" "));
  return value;
}

/** Creates an account and a key with the command line. */
async function createKeyedAccount(): Promise<{ account: readonly string[]; key: string; keyId: string }> {
  const created = await runJson("accounts", "create", "--email", "joe@dealers.example");
  const { account_id, invitation_url, ...rest } = created;
  assert.ok(typeof account_id === "string" && Object.keys(rest).length === 0);
  assert.match(String(invitation_url), /^http:\/\/127\.0\.0\.1:8080\/invitation\?token=[\w-]{43}$/);
  assert.match(account_id, /^acct_[0-9a-z]{16}$/);
  const invited = await runJson("accounts", "invite", "--account", account_id, "--sign-in", "--port", "25001");
  assert.match(String(invited.sign_in_url), /^http:\/\/127\.0\.0\.1:25001\/sign-?in\?token=/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const account = ["--account", account_id];
  const newKey = await runJson("keys", "create", ...account, "--scopes", "inventory.read,usage.read", "--name", "sync");
  assert.deepEqual(Object.keys(newKey).sort(), ["key", "key_id"]);
  const key = String(newKey.key);
  const keyId = String(newKey.key_id);
  assert.match(key, new RegExp(`^cq_live_${keyId}_[\\w-]{43}$`));
  return { account, key, keyId };
}

/** Adds a paid and a promotional credit and an adjustment, 5 USD in all; returns the id of the paid credit. */
async function addCredits(account: readonly string[]): Promise<string> {
  const credit = await runJson("credits", "add", ...account, "--usd", "25", "--unconfirmed", "--reference", "pi_1");
  assert.equal(credit.balance_usd, "25.00");
  await run("credits", "confirm", String(credit.credit_id));
  await runJson("credits", "add", ...account, "--usd", "0.5", "--kind", "promotional", "--note", "welcome");
  const adjusted = await runJson("credits", "adjust", ...account, "--usd", "-20.5", "--note", "a mistake");
  assert.equal(adjusted.balance_usd, "5.00");
  const credits: unknown = JSON.parse(await run("credits", "list", ...account, "--json"));
  assert.ok(Array.isArray(credits));
  assert.deepEqual(
    credits.map(({ kind, usd, reference, note }) => [kind, usd, reference, note]),
    [
      ["paid", "25.00", "pi_1", null],
      ["promotional", "0.50", null, "welcome"],
      ["adjustment", "-20.50", null, "a mistake"],
    ],
  );
  return String(credit.credit_id);
}

/** Backs the ledger up, suspends the account, and restores the backup, which undoes that. */
async function backUpAndRestore(account: readonly string[]): Promise<void> {
  const copy = join(folder, "copy.db");
  await run("ledger", "backup", copy);
  assert.match(await run("ledger", "verify"), /: no faults in 2 accounts and 6 entries \(charges: 1\)\.\n$/);
  await run("accounts", "status", "suspended", ...account);
  const refused = await carquetHere(["ledger", "restore", copy, "--accounts", file]);
  assert.match(refused.err, /^carquet: Restoring .* would discard 2 rows of .*: expected --discard to confirm\.\n$/);
  const restored = await carquet(["ledger", "restore", copy, "--discard", "--accounts", file]);
  assert.deepEqual([restored.code, /^previous file saved as (.*)\n$/.test(restored.err)], [0, true]);
  assert.ok(existsSync(/saved as (.*)\n/.exec(restored.err)?.[1] ?? ""));
  assert.equal((await runJson("accounts", "show", ...account)).state, "active");
}

test("the command line takes an account from creation to paid requests and a restored backup", async () => {
  const { account, key, keyId } = await createKeyedAccount();
  const creditId = await addCredits(account);

  const { lake } = await createLake(fileScope);
  const service = await startServing(fileScope, ["serve", "--port", "0", "--lake", lake], {
    env: { CARQUET_ACCOUNTS: file },
  });
  const headers = { Authorization: `Bearer ${key}` };
  const status = async (path: string): Promise<number> => (await fetch(`${service.url}${path}`, { headers })).status;
  assert.equal(await status("/v1/listings?limit=1"), 200);
  assert.equal(await status("/v1/dealers"), 403);

  const shown = await runJson("accounts", "show", ...account);
  assert.deepEqual(
    [shown.billing_state, shown.balance_usd, shown.spent_usd, shown.tier, shown.per_10s, shown.cap_usd],
    ["low_balance", "4.998", "0.002", 1, 20, null],
  );
  await run("accounts", "low-balance", "2", ...account);
  await run("accounts", "cap", "0.003", ...account);
  await run("accounts", "rate-limit", "--per10s", "3", "--per60s", "30", ...account);
  const changed = await runJson("accounts", "show", ...account);
  assert.deepEqual(
    ["billing_state", "low_below_usd", "cap_usd", "per_10s", "per_60s", "is_override"].map((name) => changed[name]),
    ["active", "2.00", "0.003", 3, 30, true],
  );
  await eventually("the cap holds", async () => (await status("/v1/listings?limit=1")) === 402);
  await run("keys", "revoke", keyId);
  await eventually("the key is revoked", async () => (await status("/v1/usage")) === 401);

  let keys = "";
  await eventually("the use of the key is recorded", async () => {
    keys = await run("keys", "list", ...account);
    return new RegExp(`${keyId} +inventory\\.read,usage\\.read +\\S+Z +\\S+Z +\\S+Z +sync *\n`).test(keys);
  });
  assert.ok(!keys.includes(key.slice(-43)), "a secret is shown once");
  await runJson("credits", "reverse", creditId, "--note", "stolen card");
  assert.equal((await runJson("accounts", "show", ...account)).balance_usd, "-20.002");
  await backUpAndRestore(account);
});

test("tiers are reviewed on command, and manual reviews are decided", async () => {
  const other = join(folder, "tiers.db");
  const { code } = await carquetHere([
    "accounts",
    "create",
    "--email",
    "a@b.example",
    "--tier",
    "3",
    "--accounts",
    other,
  ]);
  assert.equal(code, 0);
  const { accountId } = await createCustomer(other, { tier: 3, usd: "600" });
  const tiers = async (...args: readonly string[]) => carquetHere(["tiers", ...args, "--accounts", other]);
  assert.equal((await tiers("review", "--json")).out, "[]\n");
  assert.equal((await tiers("queue")).out, "(0 rows)\n");
  const nothing = await tiers("approve", "--account", accountId);
  assert.deepEqual(
    [nothing.code, nothing.err],
    [1, `carquet: No queued review of account ${accountId}: expected an account in "carquet tiers queue".\n`],
  );
});

const refused: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [["accounts", "create"], /Required option '--email <email>'/],
  [["accounts", "create", "--email", "a@b.example", "--tier", "5"], /'5'.*1, 2, 3 or 4/],
  [["accounts", "show", "--account", "acct_none"], /Unknown account acct_none: expected an id/],
  [["keys", "create", "--account", "acct_none", "--scopes", "everything"], /'everything'.*inventory\.read/],
  [["credits", "add", "--account", "acct_none", "--usd", "0"], /'0'.*an amount in USD/],
  [
    ["accounts", "rate-limit", "--account", "acct_none", "--per10s", "1"],
    /expected both --per10s and --per60s, or --none/,
  ],
  [["accounts", "rate-limit", "--account", "acct_none", "--none", "--per10s", "1"], /expected both --per10s/],
  [["accounts", "operator", "--account", "acct_none", "maybe"], /'maybe'.*Expected on or off/],
  [["ledger", "restore", "none.db"], /none\.db: cannot be opened/],
];

describe("a command that cannot run", () => {
  for (const [args, says] of refused) {
    test(`explains why in one line: carquet ${args.join(" ")}`, async () => {
      const { code, out, err } = await carquetHere([...args, "--accounts", file]);
      assert.ok(code !== null && code > 0);
      assert.equal(out, "");
      assert.match(err, /^carquet: [^\n]+\n$/);
      assert.match(err, says);
    });
  }

  test("an account starts with the promotional credit that its creation names, and without one by default", async () => {
    for (const [args, balance, state, credits] of [
      [["--credit", "5"], "5.00", "active", 1],
      [[], "0.00", "exhausted", 0],
    ] as const) {
      const { account_id } = await runJson("accounts", "create", "--email", "new@dealers.example", ...args);
      const account = ["--account", String(account_id)];
      const { balance_usd, billing_state } = await runJson("accounts", "show", ...account);
      assert.deepEqual([balance_usd, billing_state], [balance, state]);
      const listed: unknown = JSON.parse(await run("credits", "list", ...account, "--json"));
      assert.ok(Array.isArray(listed) && listed.length === credits);
      if (credits > 0) assert.deepEqual([listed[0].kind, listed[0].note], ["promotional", "starting credit"]);
    }
    await run("ledger", "verify");
  });

  test("explains why in one line: only accounts create creates a missing accounts file", async () => {
    const none = join(folder, "none.db");
    for (const args of [
      ["accounts", "list"],
      ["ledger", "verify"],
      ["tiers", "review"],
    ]) {
      const { code, err } = await carquet([...args, "--accounts", none]);
      assert.deepEqual(
        [code, err],
        [1, `carquet: Accounts file ${none} does not exist: expected one created by "carquet accounts create".\n`],
      );
    }
    assert.ok(!existsSync(none));
  });
});

test("amounts are refused with the amounts that are accepted", async () => {
  for (const [usd, bounds] of [
    ["0", /such as 25 or 0\.50, above 0 and up to 999999, with at most 6 decimals/],
    ["1.0000001", /at most 6 decimals/],
    ["1000000", /up to 999999/],
  ] as const) {
    const { code, err } = await carquetHere(["credits", "add", "--account", "a", `--usd=${usd}`, "--accounts", file]);
    assert.equal(code, 2, usd);
    assert.match(err, bounds, usd);
  }
});

test("a file that cannot be written is named in one line", async () => {
  await createCustomer(file);
  await assert.rejects(
    withAccountsFile(file, () =>
      useAndClose(openAccountsToRead(file, { busyMs: 1000 }), (read) => read.run(sql`DELETE FROM sessions`)),
    ),
    { name: "UserError", message: `${file}: The accounts cannot be used: attempt to write a readonly database.` },
  );
});
