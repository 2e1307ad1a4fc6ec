/** Limits of an account's pages and downloads, over HTTP. */
import assert from "node:assert/strict";
import { get, type IncomingMessage } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { adjustBalance } from "../../../src/accounts/ledger/ledger.ts";
import { VisitLimits } from "../../../src/accounts/policy/visit-limits.ts";
import { createCustomer, inAccountsFile } from "../../support/accounts.ts";
import { eventually } from "../../support/command-line.ts";
import { startService } from "../../support/http/service.ts";
import { createLake } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const { lake } = await createLake(fileScope);
const { url, accounts, customer, sessions } = await startService(fileScope, lake);
/** Notes so long that the file is larger than what the operating system buffers of a connection. */
const entries = 10_000;
const note = "x".repeat(4_000);
await inAccountsFile(accounts, async (database) => {
  await database.transaction(async (database) => {
    for (let entry = 0; entry < entries; entry += 1)
      await adjustBalance(database, {
        accountId: customer.accountId,
        micros: 1,
        atMs: Date.now(),
        note: `${entry} ${note}`,
      });
  });
});

const cookieOf = async (accountId: string): Promise<string> =>
  `carquet-session=${await sessions.create({ accountId })}`;
const cookie = await cookieOf(customer.accountId);
const download = (headers = { Cookie: cookie }): Promise<Response> =>
  fetch(`${url}/account/charges.csv`, { headers, redirect: "manual" });

/** Starts a download without reading its content. */
const startSlowly = (): Promise<IncomingMessage> =>
  new Promise((resolve, reject) =>
    get(`${url}/account/charges.csv`, { headers: { Cookie: cookie } }, resolve).on("error", reject),
  );

test("an account downloads two ledgers at once; a third is refused until one ends, and another account is not", async () => {
  const slow = [await startSlowly(), await startSlowly()];
  assert.deepEqual(
    slow.map(({ statusCode }) => statusCode),
    [200, 200],
  );
  const refused = await download();
  assert.deepEqual([refused.status, refused.headers.get("Retry-After")], [429, "1"]);
  assert.match(await refused.text(), /Too many concurrent requests: more than 2 of this account/);
  const other = await createCustomer(accounts);
  assert.equal((await download({ Cookie: await cookieOf(other.accountId) })).status, 200);
  assert.equal((await fetch(`${url}/account`, { headers: { Cookie: cookie } })).status, 200, "pages are counted apart");
  for (const response of slow) response.destroy();
  await eventually("the downloads have ended", async () => (await download()).status === 200);
});

test("a download is read no faster than its client receives it, and is complete", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const usedBytes = (): number => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const usedBefore = usedBytes();
  const response = await startSlowly();
  await sleep(500);
  const grownMib = (usedBytes() - usedBefore) / 2 ** 20;
  assert.ok(grownMib < 16, `${grownMib.toFixed(1)} MiB of 40`);
  let lines = 0;
  for await (const chunk of response.setEncoding("utf8")) lines += String(chunk).split("\r\n").length - 1;
  assert.equal(lines, entries + 2, "a header, the entries, and the credit of the account");
});

test("visits beyond the rate are refused with the time to wait, and count no more after it", () => {
  let nowMs = 0;
  const limits = new VisitLimits(() => nowMs);
  const visit = (): void => limits.enter("account", "page")();
  for (let count = 0; count < 200; count += 1) visit();
  // More than an account may have in progress.
  for (let count = 0; count < 17; count += 1)
    assert.throws(visit, { code: "rate_limit_exceeded", retryAfterSeconds: 10 });
  limits.enter("other", "page");
  nowMs = 10_001;
  visit();
});
