/** The response cache: keys, coalescing and eviction. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { turnMs } from "../../src/base/turns.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { Abandoned, Job } from "../../src/db/job.ts";
import type { SiteServices } from "../../src/http/service/service-state.ts";
import { keyTextOf, ResponseCache } from "../../src/operations/response-cache.ts";
import { createCustomer } from "../support/accounts.ts";
import { noteTurns } from "../support/event-loop-turns.ts";
import { eventually } from "../support/eventually.ts";
import { startService } from "../support/http/service.ts";
import { createLake, ingestPath, samplePath } from "../support/lakes/lakes.ts";

const request = { query: { make: ["Kia"], limit: 10 } };

type KeyParts = Parameters<typeof keyTextOf>;

/** Asks a cache for a result with a text, with a new job. Returns its JSON: a cached one is the same buffer. */
async function getOrCompute(
  cache: ResponseCache,
  parts: KeyParts,
  compute: (job: Job) => Promise<Buffer>,
  job = new Job("account"),
): Promise<Buffer> {
  const computeResult = async (shared: Job) => ({ data: { text: String(await compute(shared)) }, meta: {} });
  const { json } = await cache.getOrCompute(keyTextOf(...parts), job, computeResult);
  return json;
}

const textOf = (json: Buffer): string => {
  const { data, meta }: { readonly data: { readonly text: string }; readonly meta: object } = JSON.parse(String(json));
  assert.deepEqual(meta, {});
  return data.text;
};

/** Creates a source that computes an answer and counts its calls. */
function createSource(text = "an answer"): { readonly compute: () => Promise<Buffer>; calls: number } {
  const source = {
    calls: 0,
    compute: async () => {
      source.calls += 1;
      await sleep(5);
      return Buffer.from(text);
    },
  };
  return source;
}

test("a repeated request is a cache hit in any order of its parameters, with defaults named or not", async () => {
  const cache = new ResponseCache(1000);
  const source = createSource();
  const answers = new Set<Buffer>();
  for (const query of ["make=Kia&limit=50&sort=price", "limit=50&sort=price&make=Kia", "sort=price&make=Kia"]) {
    const decoded = decoderOf("searchListings")(query, {});
    answers.add(await getOrCompute(cache, ["v1", "search", decoded], source.compute));
  }
  assert.equal(answers.size, 1);
  assert.equal(source.calls, 1);
  assert.deepEqual(cache.counts, { hits: 2, shared: 0, misses: 1, kept: 1, bytes: cache.counts.bytes });
  assert.ok(cache.counts.bytes > "an answer".length);
});

test("another version, operation, value or order of values is another cache key", async () => {
  const cache = new ResponseCache(10_000);
  const source = createSource();
  await getOrCompute(cache, ["v1", "search", request], source.compute);
  await getOrCompute(cache, ["v2", "search", request], source.compute);
  await getOrCompute(cache, ["v1", "facets", request], source.compute);
  await getOrCompute(cache, ["v1", "search", { query: { make: ["Kia"], limit: 11 } }], source.compute);
  await getOrCompute(cache, ["v1", "search", { query: { make: ["Kia", "Ford"], limit: 10 } }], source.compute);
  await getOrCompute(cache, ["v1", "search", { query: { make: ["Ford", "Kia"], limit: 10 } }], source.compute);
  assert.equal(source.calls, 6);
  assert.equal(cache.counts.hits, 0);
});

test("concurrent identical requests share one computation", async () => {
  const cache = new ResponseCache(1000);
  const source = createSource();
  const all = await Promise.all(
    Array.from({ length: 20 }, () => getOrCompute(cache, ["v1", "search", request], source.compute)),
  );
  assert.equal(source.calls, 1);
  assert.deepEqual(new Set(all).size, 1);
  assert.equal(cache.counts.shared, 19);
});

test("a computation goes on while one request waits for it, and ends early when none does", async () => {
  const cache = new ResponseCache(1000);
  const shared: Job[] = [];
  const compute = async (job: Job): Promise<Buffer> => {
    shared.push(job);
    await sleep(5);
    job.signal.throwIfAborted();
    return Buffer.from("an answer");
  };
  const ask = (job: Job): Promise<Buffer> => getOrCompute(cache, ["v1", "search", request], compute, job);
  const first = new Job("one");
  const second = new Job("other");
  const bodies = [ask(first), ask(second)];
  assert.deepEqual([...(shared[0]?.accounts ?? [])], ["one", "other"]);
  first.abort(new Abandoned());
  assert.equal(textOf(await (bodies[1] ?? assert.fail())), "an answer");

  const lonely = new ResponseCache(1000);
  const leaving = new Job("one");
  const late = new Job("one");
  const left = getOrCompute(lonely, ["v1", "search", request], compute, leaving);
  leaving.abort(new Abandoned());
  const answered = getOrCompute(lonely, ["v1", "search", request], compute, late);
  await assert.rejects(left, Abandoned);
  assert.equal(textOf(await answered), "an answer", "a later request does not join an aborted one");
  assert.equal(shared.length, 3);
});

test("a failure reaches every waiting request and is not cached", async () => {
  const cache = new ResponseCache(1000);
  const fail = async (): Promise<Buffer> => {
    await sleep(5);
    throw new Error("no");
  };
  const pending = [
    getOrCompute(cache, ["v1", "search", request], fail),
    getOrCompute(cache, ["v1", "search", request], fail),
  ];
  for (const { status } of await Promise.allSettled(pending)) assert.equal(status, "rejected");
  assert.equal(textOf(await getOrCompute(cache, ["v1", "search", request], createSource().compute)), "an answer");
});

test("the cache is bounded: least recently used answers are evicted, and every waiting request is answered", async () => {
  const cache = new ResponseCache(1400);
  const source = createSource("x".repeat(300));
  const ask = (limit: number): Promise<Buffer> => getOrCompute(cache, ["v1", "search", { limit }], source.compute);
  const all = await Promise.all(Array.from({ length: 12 }, (_, limit) => ask(limit)));
  assert.deepEqual(new Set(all.map(textOf)), new Set(["x".repeat(300)]));
  assert.ok(cache.counts.bytes <= 1400 && cache.counts.kept <= 3, JSON.stringify(cache.counts));
  const large = createSource("y".repeat(5000));
  assert.equal(textOf(await getOrCompute(cache, ["v1", "search", request], large.compute)).length, 5000);
  assert.ok(cache.counts.bytes <= 1400);
});

test("a cache without space computes every answer", async () => {
  const cache = new ResponseCache(0);
  const source = createSource();
  for (let times = 0; times < 3; times += 1) await getOrCompute(cache, ["v1", "search", request], source.compute);
  assert.equal(source.calls, 3);
  assert.deepEqual(cache.counts, { hits: 0, shared: 0, misses: 3, kept: 0, bytes: 0 });
});

test("a cached answer is charged, and belongs to its version", async (context) => {
  const { lake } = await createLake(context, `${samplePath}/2026-11-18`, { day: "2026-11-18" });
  const client = await startService(context, lake);
  const { bearer } = await createCustomer(client.accounts);
  const path = "/v1/listings?limit=3";
  const first = await client.get(path, bearer);
  const again = await client.get(path, bearer);
  assert.deepEqual(again.body, first.body);
  for (const name of ["X-Usage-Class", "X-Usage-Cost-Micros"])
    assert.equal(again.headers.get(name), first.headers.get(name));
  const remaining = ({ headers }: typeof first): number => Number(headers.get("X-RateLimit-Remaining-60s"));
  assert.equal(remaining(again), remaining(first) - 1);
  const counts = async (): Promise<unknown> =>
    ((await client.get("/readyz")).body as { response_cache: unknown }).response_cache;
  assert.equal(((await counts()) as { hits: number }).hits, 1);

  await ingestPath(lake, `${samplePath}/2026-11-19`, { day: "2026-11-19" });
  const versionOf = (body: unknown): string => (body as { meta: { data_version: string } }).meta.data_version;
  await eventually("the next version", async () => {
    const { meta } = await client.getBody("searchListings", path);
    return meta.data_version !== versionOf(first.body);
  });
});

test("calls within the process that share an answer read it in turns of the event loop", async (t) => {
  const { lake } = await createLake(t, `${samplePath}/2026-11-18`, { day: "2026-11-18" });
  const mounted: SiteServices[] = [];
  const client = await startService(t, lake, { mountSite: (_, services) => void mounted.push(services) });
  const { callOperation, accounts } = mounted[0] ?? assert.fail("no site is mounted");
  const customers = await Promise.all(Array.from({ length: 6 }, () => createCustomer(client.accounts)));
  const identities = await Promise.all(customers.map(({ keyId }) => accounts.identityOfKey(keyId)));
  const { parse } = JSON;
  t.mock.method(JSON, "parse", (text: string) => {
    const untilMs = performance.now() + (text.startsWith('{"data":') ? 2 * turnMs : 0);
    while (performance.now() < untilMs);
    return parse(text);
  });
  const events: string[] = [];
  const ask = async (identity: (typeof identities)[number]): Promise<void> => {
    const { signal } = new AbortController();
    const caller = {
      identity,
      signal,
      arrivedAtMs: performance.now(),
      parentRequestId: "none",
      log: pino({ level: "silent" }),
    };
    const querystring = "facets=make&metric=price.median";
    await callOperation(caller, { id: "getFacets", path: "/v1/facets", querystring });
    events.push("answer");
  };
  const text = await noteTurns(events, identities.map(ask));
  assert.doesNotMatch(text, /answer answer/);
  assert.equal(((await client.get("/readyz")).body as { response_cache: { shared: number } }).response_cache.shared, 5);
});
