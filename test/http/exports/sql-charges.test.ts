/** What requests to `/v1/sql` cost, what counts against the rate limits instead, and the memory that a process of statements takes. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { getAccount } from "../../../src/accounts/account.ts";
import { prices } from "../../../src/accounts/policy/prices.ts";
import { isObject } from "../../../src/base/json.ts";
import { lowestPriority, programPriority } from "../../../src/base/programs.ts";
import { type Customer, createCustomer, inAccountsFile } from "../../support/accounts.ts";
import { skipInShortRun } from "../../support/extent.ts";
import { type Answer, assertMatchesDocument, startService } from "../../support/http/service.ts";
import { createLake, smallDisk } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const { lake } = await createLake(fileScope);
const memoryMiB = 512;
const sqlDeadlineMs = 30_000;
const client = await startService(fileScope, lake, { exports: { memory: `${memoryMiB}MiB`, sqlDeadlineMs } });
const scopes = ["sql.read", "usage.read"] as const;
const newCustomer = (): Promise<Customer> => createCustomer(client.accounts, { scopes });

interface Sent {
  readonly as: Customer;
  readonly key?: string;
  readonly url?: string;
}

async function run(sql: string, { as, key, url = client.url }: Sent): Promise<Answer> {
  const headers = { ...as.bearer, ...(key === undefined ? {} : { "Idempotency-Key": key }) };
  const response = await fetch(`${url}/v1/sql`, { method: "POST", body: JSON.stringify({ sql }), headers });
  const answer = { status: response.status, headers: response.headers, body: await response.json() };
  assertMatchesDocument("/v1/sql", answer);
  return answer;
}

const errorIn = ({ body }: Answer): Readonly<Record<string, unknown>> =>
  isObject(body) && isObject(body.error) ? body.error : {};

const costOf = ({ headers }: Answer): number => Number(headers.get("X-Usage-Cost-Micros") ?? Number.NaN);

const balanceOf = ({ accountId }: Customer, accounts = client.accounts): Promise<number> =>
  inAccountsFile(accounts, async (database) => (await getAccount(database, accountId, "2026-11")).balanceMicros);

/** The ids of the processes that this one has started. */
async function children(): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)("pgrep", ["-P", String(process.pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim().split("\n").filter(Boolean).map(Number);
}

/** Returns the largest memory that a process of this one takes while `work` is done, in MiB. */
async function peakMiB(work: Promise<unknown>): Promise<number> {
  let peak = 0;
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    for (const pid of await children()) {
      const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
      peak = Math.max(peak, Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    }
    await wait(20);
  }
  return peak;
}

const greedy = {
  "a list of a constant": "SELECT range(0,700000000) IS NULL AS a",
  "a long text":
    "SELECT length(string_agg(repeat('x', 1000000), '')) AS n, length(repeat('x', 2000000000)) AS m FROM range(4000)",
  "an aggregated list": "SELECT len(list(range)) AS n FROM range(500000000)",
};

for (const [index, [what, sql]] of Object.entries(greedy).entries())
  test(`${what} beyond the memory of a statement is a 400 that is charged, and its process never takes twice that memory`, {
    skip: index > 0 && skipInShortRun,
  }, async () => {
    const as = await newCustomer();
    const before = await balanceOf(as);
    const running = run(sql, { as });
    const peak = await peakMiB(running);
    const answer = await running;
    assert.deepEqual([answer.status, errorIn(answer).code], [400, "invalid_statement"], JSON.stringify(answer.body));
    assert.match(
      String(errorIn(answer).message),
      /^Invalid SQL: Out of Memory: expected statements that need at most 512MiB/,
    );
    assert.ok(peak < 2 * memoryMiB, `${peak} MiB`);
    assert.equal(before - (await balanceOf(as)), costOf(answer));
  });

test("a statement costs its processor time, however long its process waits", async () => {
  const as = await newCustomer();
  const running = run("SELECT count(*) AS n FROM range(400000000) AS a WHERE hash(range) = 7", { as });
  const waitUntil = performance.now() + 3000;
  let stopped: readonly number[] = [];
  while (stopped.length === 0 && performance.now() < waitUntil) stopped = await children();
  await wait(500);
  for (const pid of stopped) process.kill(pid, "SIGSTOP");
  const threads = (await Promise.all(stopped.map((pid) => readdir(`/proc/${pid}/task`)))).flat().map(Number);
  assert.ok(
    threads.some((thread) => getPriority(thread) === lowestPriority),
    "the engine has the lowest priority",
  );
  assert.ok(
    stopped.every((pid) => getPriority(pid) === programPriority),
    "what watches its memory has a higher one",
  );
  await wait(4000);
  for (const pid of stopped) process.kill(pid, "SIGCONT");
  const answer = await running;
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.ok(costOf(answer) <= 3 * prices.sql_statement, `${costOf(answer)} micros`);
});

test("a statement that ran and failed is charged, one that could not be planned is not", async () => {
  const as = await newCustomer();
  const before = await balanceOf(as);
  const leak = await run("SELECT (SELECT string_agg(vin, ' ') FROM active)::INTEGER AS a", { as });
  assert.deepEqual([leak.status, costOf(leak)], [400, prices.sql_statement]);
  const unplanned = [
    "SELECT nothing",
    "SELEC 1",
    "COPY (SELECT 1) TO 'a'",
    "SELECT 1 AS a; SELECT 2 AS b",
    "SELECT $a AS a",
  ];
  for (const sql of unplanned) {
    const { status, headers } = await run(sql, { as });
    assert.deepEqual([status, headers.get("X-Usage-Cost-Micros")], [400, null], sql);
  }
  const second = await run("CREATE TABLE a AS SELECT 1 AS b; SELECT nothing FROM a", { as });
  assert.deepEqual([second.status, costOf(second)], [400, prices.sql_statement]);
  assert.equal(before - (await balanceOf(as)), 2 * prices.sql_statement);
});

test("statements with an idempotency key are charged once, and belong to it", async () => {
  const as = await newCustomer();
  const before = await balanceOf(as);
  const sql = "SELECT 1 AS a";
  const costs = [];
  for (const key of ["once", "once", "other"]) {
    const answer = await run(sql, { as, key });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    costs.push([costOf(answer), answer.headers.get("Idempotent-Replayed")]);
  }
  assert.deepEqual(costs, [
    [prices.sql_statement, null],
    [0, "true"],
    [prices.sql_statement, null],
  ]);
  assert.equal(before - (await balanceOf(as)), 2 * prices.sql_statement);
  const reused = await run("SELECT 2 AS a", { as, key: "once" });
  assert.deepEqual([reused.status, errorIn(reused).code], [422, "idempotency_key_reused"]);
});

test("a repetition that is not charged counts against the rate limits by its processor time", {
  skip: skipInShortRun,
}, async () => {
  const as = await newCustomer();
  const sql = "SELECT count(*) AS n FROM range(600000000) AS a WHERE hash(range) = 7";
  const remaining = async (): Promise<number> => {
    const response = await fetch(`${client.url}/v1/usage`, { headers: as.bearer });
    return Number(response.headers.get("X-RateLimit-Remaining-60s"));
  };
  await run(sql, { as, key: "a" });
  const before = await remaining();
  await run(sql, { as, key: "a" });
  assert.ok(before - (await remaining()) >= 3, `${before}`);
});

test("a full disk refuses statements with 503, which are not charged", async (t) => {
  const disk = await smallDisk(t, "4m");
  if (disk === undefined) return t.skip("mounting a tmpfs needs root");
  const full = await startService(t, lake, { exports: { folder: disk, sqlDeadlineMs } });
  try {
    const as = await createCustomer(full.accounts, { scopes });
    const before = await balanceOf(as, full.accounts);
    for (const sql of ["SELECT repeat(hash(range)::VARCHAR, 10) AS a FROM range(100000)"]) {
      const answer = await run(sql, { as, url: full.url });
      assert.deepEqual([answer.status, errorIn(answer).code], [503, "data_unavailable"], JSON.stringify(answer.body));
      assert.match(String(errorIn(answer).message), /^No disk space is left/);
    }
    assert.equal(await balanceOf(as, full.accounts), before);
  } finally {
    await full.stop();
  }
});
