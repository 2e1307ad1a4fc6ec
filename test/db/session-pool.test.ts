/** The session pool: fair between accounts; ends a job at once when it is aborted. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { everyAccount, FairShares } from "../../src/base/fair-shares.ts";
import { Refusal } from "../../src/contract/errors.ts";
import { AccountSlots } from "../../src/db/account-slots.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { Abandoned, Job } from "../../src/db/job.ts";
import { type PoolOptions, SessionPool } from "../../src/db/session-pool.ts";
import { type Sql, sql } from "../../src/db/sql.ts";
import { fileScope, onScopeEnd, type Scope } from "../support/scope.ts";

const database = await DuckDatabase.open({ threads: 1 });
onScopeEnd(fileScope, async () => database.close());

/** Runs until it is interrupted. */
const endless = sql`SELECT count(*)::INTEGER AS n FROM range(1000000000000)`;
const heavy = sql`SELECT count(*)::INTEGER AS n FROM range(30000000)`;
/** Takes longer than some light ones, on a busy machine too. */
const longest = sql`SELECT count(*)::INTEGER AS n FROM range(600000000)`;
const light = sql`SELECT 1 AS n`;

async function openPool(scope: Scope, options: PoolOptions = {}): Promise<SessionPool> {
  const pool = await SessionPool.open(database, { sessions: 1, waitingQueries: 100, ...options });
  onScopeEnd(scope, async () => pool.close());
  return pool;
}

/** Starts statements in order; returns the names of their jobs in the order in which they end. */
async function orderOfEnds(
  pool: SessionPool,
  statements: readonly (readonly [job: Job, statement: Sql])[],
): Promise<readonly string[]> {
  const ended: string[] = [];
  const runs = statements.map(async ([job, statement]) => {
    await pool.engineOf(job).rows(statement);
    ended.push([...job.accounts].join("+"));
  });
  await Promise.all(runs);
  return ended;
}

const repeat = (count: number, account: string, statement: Sql) =>
  Array.from({ length: count }, () => [new Job(account), statement] as const);

const refusedAs = (code: string) => (thrown: unknown) => thrown instanceof Refusal && thrown.code === code;

test("the statement of an account that has used less time overtakes the waiting ones of another", async (t) => {
  const statements = [...repeat(1, "busy", longest), ...repeat(3, "busy", light), ...repeat(3, "quiet", light)];
  const ended = await orderOfEnds(await openPool(t), statements);
  assert.deepEqual(ended, ["busy", "quiet", "quiet", "quiet", "busy", "busy", "busy"]);
});

test("a pool whose engine has failed says so", async (t) => {
  const pool = await openPool(t);
  const { rows } = pool.engineOf(new Job("a"));
  await assert.rejects(rows(sql`SELECT error('of a value: database has been invalidated')`));
  assert.equal(pool.hasFailed, false);
  const session = await database.connect();
  onScopeEnd(t, async () => session.close());
  session.rows = async () => {
    throw new Error("FATAL Error: Failed: database has been invalidated because of a previous fatal error.");
  };
  const failing = await SessionPool.open(Object.assign(Object.create(database), { connect: async () => session }), {
    sessions: 1,
  });
  await assert.rejects(failing.engineOf(new Job("a")).rows(light), /FATAL Error/);
  assert.equal(failing.hasFailed, true);
});

test("the second turn goes to the account that has not had one", async (t) => {
  const ended = await orderOfEnds(await openPool(t), [...repeat(3, "a", heavy), ...repeat(3, "b", heavy)]);
  assert.deepEqual(new Set(ended.slice(0, 2)), new Set(["a", "b"]));
});

test("a job that several accounts wait for runs in the turn of the account that waits least", async (t) => {
  const shared = new Job("busy");
  shared.join(new Job("busy"));
  shared.join(new Job("quiet"));
  const ended = await orderOfEnds(await openPool(t), [...repeat(3, "busy", heavy), [shared, light]]);
  assert.deepEqual(ended, ["busy", "busy+quiet", "busy", "busy"]);
});

test("what is done once for every account overtakes all that waits", async (t) => {
  const statements = [
    ...repeat(1, "busy", longest),
    ...repeat(2, "quiet", light),
    ...repeat(2, everyAccount, light),
    ...repeat(1, everyAccount, heavy),
  ];
  const ended = await orderOfEnds(await openPool(t), statements);
  assert.deepEqual(ended, ["busy", "", "", "", "quiet", "quiet"]);
});

test("a job of several statements ends before later ones of its account begin", async (t) => {
  const pool = await openPool(t);
  const events: string[] = [];
  const runs = ["first", "second", "third", "fourth"].map(async (name) => {
    const job = new Job("a");
    for (let count = 0; count < 3; count += 1) {
      await pool.engineOf(job).rows(light);
      if (count === 0) events.push(`${name} begins`);
    }
    events.push(`${name} ends`);
  });
  await Promise.all(runs);
  assert.ok(events.indexOf("first ends") < events.indexOf("third begins"), events.join());
  assert.ok(events.indexOf("second ends") < events.indexOf("fourth begins"), events.join());
});

test("an account leaves half of the sessions free, and a second account half of the rest", async (t) => {
  const pool = await openPool(t, { sessions: 4 });
  const jobs = ["a", "a", "a", "a", "b", "b"].map((account) => new Job(account));
  const runs = jobs.map((job) => pool.engineOf(job).rows(endless));
  assert.deepEqual(await pool.engineOf(new Job("c")).rows(light), [{ n: 1 }]);
  assert.deepEqual(
    jobs.map(({ time }) => time.running),
    [1, 1, 0, 0, 1, 0],
  );
  for (const job of jobs) job.abort(new Abandoned());
  for (const outcome of await Promise.allSettled(runs))
    assert.ok(outcome.status === "rejected" && outcome.reason instanceof Abandoned);
});

test("an aborted job's waiting statement is dropped, its running one interrupted, its next one not started", async (t) => {
  const pool = await openPool(t);
  const running = new Job("a");
  const waiting = new Job("b");
  const runs = [running, waiting].map((job) => pool.engineOf(job).rows(endless));
  waiting.abort(new Abandoned());
  await assert.rejects(runs[1] ?? sleep(0), Abandoned);
  assert.equal(waiting.time.at(performance.now()), 0);
  running.abort(new Abandoned());
  await assert.rejects(runs[0] ?? sleep(0), Abandoned);
  assert.ok(running.time.at(performance.now()) > 0);
  await assert.rejects(pool.engineOf(running).rows(light), Abandoned);
  assert.deepEqual(await pool.engineOf(new Job("c")).rows(light), [{ n: 1 }]);
});

test("any number of statements of a job wait without a warning of Node.js", async (t) => {
  const pool = await openPool(t);
  const warnings: Error[] = [];
  const onWarning = (warning: Error): unknown => warnings.push(warning);
  process.on("warning", onWarning);
  const job = new Job("a");
  await Promise.all(Array.from({ length: 50 }, () => pool.engineOf(job).rows(light)));
  await sleep(0);
  process.off("warning", onWarning);
  assert.deepEqual(warnings, []);
});

test("a full queue refuses the account that fills it, not another one", async (t) => {
  const pool = await openPool(t, { waitingQueries: 5 });
  const ask = (account: string) =>
    pool
      .engineOf(new Job(account))
      .rows(account === "busy" ? heavy : light)
      .then(
        () => `${account} answered`,
        (thrown: unknown) => (refusedAs("overloaded")(thrown) ? `${account} refused` : `${account} ${String(thrown)}`),
      );
  const outcomes = await Promise.all([...Array(8).fill("busy"), "quiet", "other", "quiet"].map(ask));
  assert.deepEqual(outcomes.slice(8), ["quiet answered", "other answered", "quiet answered"]);
  assert.equal(outcomes.filter((outcome) => outcome === "busy refused").length, 5);
  assert.equal(outcomes.filter((outcome) => outcome === "busy answered").length, 3);
});

test("of a full queue, the next statement of a job that has begun is not refused", async (t) => {
  const pool = await openPool(t, { waitingQueries: 1 });
  const begun = new Job("begun");
  await pool.engineOf(begun).rows(light);
  const running = pool.engineOf(new Job("busy")).rows(heavy);
  const refused = assert.rejects(pool.engineOf(new Job("new")).rows(light), refusedAs("overloaded"));
  assert.deepEqual(await pool.engineOf(begun).rows(light), [{ n: 1 }]);
  await Promise.all([running, refused]);
});

test("what an account has used counts half after each second, and all that it uses at once counts", () => {
  const shares = new FairShares();
  const usedAt = (account: string, nowMs: number): number => shares.leastUsed([account], nowMs).usedMs;
  shares.start("paused", 0)(80);
  assert.deepEqual(
    [80, 1080, 3080].map((nowMs) => usedAt("paused", nowMs)),
    [80, 40, 10],
  );
  const ends = [shares.start("busy", 3080), shares.start("busy", 3080)];
  assert.equal(shares.heldBy("busy"), 2);
  assert.equal(usedAt("busy", 3100), 40);
  for (const end of ends) end(3100);
  assert.equal(shares.heldBy("busy"), 0);
  assert.equal(usedAt("busy", 4100), 20);
  assert.equal(usedAt("new", 4100), 0);
  assert.equal(shares.leastUsed(["busy", "paused", "new"], 4100).account, "new");
});

test("of accounts that always wait, each gets as much time; one that uses little waits for none of them", () => {
  const shares = new FairShares();
  const got = new Map<string, number>();
  let lightWaits = 0;
  const heavy = { long: 9, short: 1, middle: 3 };
  for (let nowMs = 0, turn = 0; nowMs < 30_000; turn += 1) {
    const isLight = turn % 50 === 49;
    const { account } = shares.leastUsed([...Object.keys(heavy), ...(isLight ? ["light"] : [])], nowMs);
    if (isLight && account !== "light") lightWaits += 1;
    const end = shares.start(account, nowMs);
    const ms = { ...heavy, light: 2 }[account] ?? 0;
    nowMs += ms;
    end(nowMs);
    got.set(account, (got.get(account) ?? 0) + ms);
  }
  assert.equal(lightWaits, 0);
  const [least = 0, most = 0] = [Math.min, Math.max].map((of) =>
    of(...Object.keys(heavy).map((one) => got.get(one) ?? 0)),
  );
  assert.ok(most < 1.02 * least, `${least} to ${most} ms`);
});

test("an account takes half of shared slots, and another one finds one free", () => {
  const slots = new AccountSlots(4);
  const taking = ["a", "a", "a", "b", "b", "c", "d"].filter((account) => {
    const isFree = slots.isFreeFor(account);
    if (isFree) slots.take(account);
    return isFree;
  });
  assert.deepEqual(taking, ["a", "a", "b", "c"]);
});

test("a pool that is closed while a statement runs closes its session afterwards", async () => {
  const pool = await SessionPool.open(database, { sessions: 1, waitingQueries: 1 });
  const job = new Job("a");
  const run = pool.engineOf(job).rows(endless);
  pool.close();
  job.abort(new Abandoned());
  await assert.rejects(run, Abandoned);
});

test("a pool that is closed refuses what waits for a session and what comes later, and ends what runs", async (t) => {
  const pool = await openPool(t);
  const running = pool.engineOf(new Job("a")).rows(heavy);
  const waiting = pool.engineOf(new Job("a")).rows(light);
  pool.close();
  await assert.rejects(waiting, refusedAs("overloaded"));
  await assert.rejects(pool.engineOf(new Job("a")).rows(light), refusedAs("overloaded"));
  assert.equal((await running).length, 1);
});

test("the time of a shared job counts for a job from when it waits for it, divided by those that have waited", async () => {
  const shared = new Job("a");
  const first = new Job("a");
  const second = new Job("b");
  shared.join(first);
  const startMs = performance.now();
  shared.time.start(startMs - 4000);
  shared.join(second);
  assert.ok(second.usedMs(performance.now()) < 1000);
  shared.time.end(startMs + 2000);
  assert.ok(Math.abs(first.usedMs(startMs + 2000) - 3000) < 500);
  assert.ok(Math.abs(second.usedMs(startMs + 2000) - 1000) < 500);
});
