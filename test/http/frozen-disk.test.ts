/** An accounts file on a disk that stops to answer: a frozen file system on a loop device, which needs root. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { createAccountsFile } from "../../src/accounts/storage/accounts-file.ts";
import { isObject } from "../../src/base/json.ts";
import { sql } from "../../src/db/sql.ts";
import { closeMs } from "../../src/http/server.ts";
import { inAccountsFile } from "../support/accounts.ts";
import { eventually, parseLog, type ServeProcess, startServing } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { onScopeEnd } from "../support/scope.ts";

const run = promisify(execFile);

/** A mounted file system that can be frozen: writes then wait until it is thawed. */
interface Disk {
  readonly folder: string;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** Mounts a small disk until the test ends; undefined if this machine or user cannot. */
async function mountDisk(t: TestContext): Promise<Disk | undefined> {
  const base = await temporaryFolder(t);
  const file = join(base, "disk.img");
  const mounted = join(base, "mounted");
  await mkdir(mounted);
  try {
    await run("truncate", ["-s", "48M", file]);
    await run("mkfs.ext4", ["-q", file]);
    await run("mount", ["-o", "loop", file, mounted]);
  } catch {
    return undefined;
  }
  const thaw = async (): Promise<void> => void (await run("fsfreeze", ["-u", mounted]).catch(() => undefined));
  onScopeEnd(t, async () => {
    await thaw();
    await run("umount", [mounted]);
  });
  return { folder: mounted, thaw, freeze: async () => void (await run("fsfreeze", ["-f", mounted])) };
}

/** Serves with the accounts file on a disk. */
async function serveOn(
  t: TestContext,
  disk: Disk,
): Promise<{ readonly service: ServeProcess; readonly accounts: string }> {
  const { lake } = await createLake(t);
  const accounts = join(disk.folder, "accounts.db");
  await (await createAccountsFile(accounts, { busyMs: 1000 })).close();
  const env = { CARQUET_ACCOUNTS: accounts };
  return { accounts, service: await startServing(t, ["serve", "--port", "0", "--lake", lake], { env }) };
}

const skipped = "freezing a file system needs root and loop devices";

async function get({ url, customer }: ServeProcess, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, { headers: { ...customer.bearer, ...headers } });
  const body: unknown = await response.json();
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  return { status: response.status, code: error.code, retryAfter: error.retryAfter, headers: response.headers };
}

const options = { skip: skipInShortRun };

test("while the disk of the accounts file hangs, requests are refused in time and not charged", options, async (t) => {
  const disk = await mountDisk(t);
  if (disk === undefined) return t.skip(skipped);
  const { service, accounts } = await serveOn(t, disk);
  const search = "/v1/listings?limit=1";
  assert.equal((await get(service, search)).status, 200);
  await disk.freeze();
  const refused = await Promise.all(Array.from({ length: 10 }, () => get(service, search, { "Idempotency-Key": "a" })));
  for (const { status, code, retryAfter, headers } of refused) {
    assert.deepEqual([status, code], [503, "metering_unavailable"]);
    assert.equal(headers.get("Retry-After"), String(retryAfter));
  }
  const ready = await fetch(`${service.url}/readyz`);
  const { status, reasons } = (await ready.json()) as { status: string; reasons: readonly string[] };
  assert.deepEqual([ready.status, status, reasons], [503, "ledger unavailable", ["ledger"]]);
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
  await disk.thaw();
  await eventually("ready again, without a request", async () => (await fetch(`${service.url}/readyz`)).ok, 10_000);
  await eventually("refunds", async () => (await net(accounts, service)) === 2_000);
  const paid = await get(service, search, { "Idempotency-Key": "a" });
  assert.deepEqual([paid.status, paid.headers.get("X-Usage-Cost-Micros")], [200, "2000"]);
  assert.equal(await net(accounts, service), 4_000);
  assert.deepEqual((await inAccountsFile(accounts, audit)).faults, []);
});

/** Returns the sum of the customer's charges less refunds. */
async function net(accounts: string, { customer }: ServeProcess): Promise<number> {
  const row = await inAccountsFile(accounts, (database) =>
    database.one(
      sql`SELECT -sum(micros) AS paid FROM entries WHERE account_id = ${customer.accountId} AND kind <> 'paid'`,
    ),
  );
  return Number(row?.paid);
}

test("SIGTERM ends the service although the disk of the accounts file hangs", options, async (t) => {
  const disk = await mountDisk(t);
  if (disk === undefined) return t.skip(skipped);
  const { service } = await serveOn(t, disk);
  assert.equal((await get(service, "/v1/listings?limit=1")).status, 200);
  await disk.freeze();
  const refused = get(service, "/v1/listings?limit=1").catch(() => undefined);
  await sleep(200);
  service.terminate();
  assert.equal((await refused)?.status, 503);
  await sleep(closeMs + 1_000);
  // A killed process remains in the table until the kernel has ended its writes.
  await disk.thaw();
  const { code, err } = await service.ended;
  assert.deepEqual([code, parseLog(err).at(-1)?.msg], [null, "not stopped; killing the process"]);
});
