/** An accounts file on a disk that stops to answer: its syncs wait, by a preloaded library. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { createAccounts } from "../../src/accounts/storage/open-accounts.ts";
import { isObject } from "../../src/base/json.ts";
import { sql } from "../../src/db/sql.ts";
import { useAndClose } from "../../src/db/sql-database.ts";
import { closeMs } from "../../src/http/server.ts";
import { compileRecorder } from "../ledger/power/recording.ts";
import { inAccountsFile } from "../support/accounts.ts";
import { eventually, parseLog, type ServeProcess, startServing } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";

interface HangingDisk {
  readonly service: ServeProcess;
  readonly accounts: string;
  freeze(): void;
  thaw(): void;
}

/** Serves with the accounts file on a disk that can hang. */
async function serveOnDisk(t: TestContext): Promise<HangingDisk> {
  const { lake } = await createLake(t);
  const folder = await temporaryFolder(t);
  const accounts = join(folder, "accounts.db");
  const hang = join(folder, "hang");
  await useAndClose(createAccounts(accounts, { busyMs: 1000 }), () => undefined);
  const env = {
    CARQUET_ACCOUNTS: accounts,
    LD_PRELOAD: await compileRecorder(folder),
    POWER_LOG: join(folder, "log"),
    POWER_FILE: accounts,
    POWER_HANG: hang,
  };
  const service = await startServing(t, ["serve", "--port", "0", "--lake", lake], { env });
  return { service, accounts, freeze: () => writeFileSync(hang, ""), thaw: () => rmSync(hang, { force: true }) };
}

async function get({ url, customer }: ServeProcess, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, { headers: { ...customer.bearer, ...headers } });
  const body: unknown = await response.json();
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  return { status: response.status, code: error.code, retryAfter: error.retryAfter, headers: response.headers };
}

const options = { skip: skipInShortRun };
const search = "/v1/listings?limit=1";

test("while the disk of the accounts file hangs, requests are refused in time and not charged", options, async (t) => {
  const { service, accounts, freeze, thaw } = await serveOnDisk(t);
  assert.equal((await get(service, search)).status, 200);
  freeze();
  let answered = 1;
  await eventually("a request is refused", async () => {
    const { status } = await get(service, search);
    if (status === 200) answered += 1;
    return status === 503;
  });
  const refused = await Promise.all(Array.from({ length: 10 }, () => get(service, search)));
  for (const { status, code, retryAfter, headers } of refused) {
    assert.deepEqual([status, code], [503, "metering_unavailable"]);
    assert.equal(headers.get("Retry-After"), String(retryAfter));
  }
  const ready = await fetch(`${service.url}/readyz`);
  const { status, reasons } = (await ready.json()) as { status: string; reasons: readonly string[] };
  assert.deepEqual([ready.status, status, reasons], [503, "ledger unavailable", ["ledger"]]);
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
  thaw();
  await eventually("ready again, without a request", async () => (await fetch(`${service.url}/readyz`)).ok);
  const paid = await get(service, search, { "Idempotency-Key": "a" });
  assert.deepEqual([paid.status, paid.headers.get("X-Usage-Cost-Micros")], [200, "2000"]);
  const row = await inAccountsFile(accounts, (database) =>
    database.one(sql`SELECT -sum(micros) AS paid FROM entries WHERE kind <> 'paid'`),
  );
  assert.equal(row?.paid, (answered + 1) * 2_000);
  assert.deepEqual((await inAccountsFile(accounts, audit)).faults, []);
});

test("SIGTERM ends the service although the disk of the accounts file hangs", options, async (t) => {
  const { service, freeze } = await serveOnDisk(t);
  assert.equal((await get(service, search)).status, 200);
  freeze();
  await get(service, search);
  await sleep(200);
  const refused = get(service, search).catch(() => undefined);
  await sleep(100);
  service.terminate();
  assert.equal((await refused)?.status, 503);
  const { code, err } = await service.ended;
  assert.deepEqual([code, parseLog(err).at(-1)?.msg], [null, "not stopped; killing the process"]);
  assert.ok(closeMs < 10_000);
});
