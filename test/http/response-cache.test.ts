import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ResponseCache } from "../../src/http/response-cache.ts";
import { customerIn } from "../support/accounts.ts";
import { ingestPath, lakeOf, samplePath } from "../support/lakes/lakes.ts";
import { serviceOf } from "../support/service.ts";

const request = { query: { make: ["Kia"], limit: 10 } };

/** Something that makes an answer, and counts how often it did. */
function maker(text = "an answer"): { readonly make: () => Promise<Buffer>; times: number } {
  const made = {
    times: 0,
    make: async () => {
      made.times += 1;
      await sleep(5);
      return Buffer.from(text);
    },
  };
  return made;
}

test("what is asked again is at hand, in whatever order its parameters come", async () => {
  const [answers, made] = [new ResponseCache(1000), maker()];
  const first = await answers.getOrCompute("v1", "search", request, made.make);
  const again = await answers.getOrCompute("v1", "search", { query: { limit: 10, make: ["Kia"] } }, made.make);
  assert.equal(again, first);
  assert.equal(made.times, 1);
  assert.deepEqual(answers.counts, { hits: 1, shared: 0, misses: 1, kept: 1, bytes: answers.counts.bytes });
  assert.ok(answers.counts.bytes > "an answer".length);
});

test("another version, operation, value or order of values is another question", async () => {
  const [answers, made] = [new ResponseCache(10_000), maker()];
  await answers.getOrCompute("v1", "search", request, made.make);
  await answers.getOrCompute("v2", "search", request, made.make);
  await answers.getOrCompute("v1", "facets", request, made.make);
  await answers.getOrCompute("v1", "search", { query: { make: ["Kia"], limit: 11 } }, made.make);
  await answers.getOrCompute("v1", "search", { query: { make: ["Kia", "Ford"], limit: 10 } }, made.make);
  await answers.getOrCompute("v1", "search", { query: { make: ["Ford", "Kia"], limit: 10 } }, made.make);
  assert.equal(made.times, 6);
  assert.equal(answers.counts.hits, 0);
});

test("what is being made is shared", async () => {
  const [answers, made] = [new ResponseCache(1000), maker()];
  const all = await Promise.all(
    Array.from({ length: 20 }, () => answers.getOrCompute("v1", "search", request, made.make)),
  );
  assert.equal(made.times, 1);
  assert.deepEqual(new Set(all).size, 1);
  assert.equal(answers.counts.shared, 19);
});

test("a failure goes to all who wait for it, and is not kept", async () => {
  const answers = new ResponseCache(1000);
  const fail = async (): Promise<Buffer> => {
    await sleep(5);
    throw new Error("no");
  };
  const asked = [
    answers.getOrCompute("v1", "search", request, fail),
    answers.getOrCompute("v1", "search", request, fail),
  ];
  for (const { status } of await Promise.allSettled(asked)) assert.equal(status, "rejected");
  assert.equal(String(await answers.getOrCompute("v1", "search", request, maker().make)), "an answer");
});

test("room is bounded: the least recently wanted go, and who waits gets its answer all the same", async () => {
  const [answers, made] = [new ResponseCache(1000), maker("x".repeat(300))];
  const ask = (limit: number): Promise<Buffer> => answers.getOrCompute("v1", "search", { limit }, made.make);
  const all = await Promise.all(Array.from({ length: 12 }, (_, limit) => ask(limit)));
  assert.deepEqual(new Set(all.map(String)), new Set(["x".repeat(300)]));
  assert.ok(answers.counts.bytes <= 1000 && answers.counts.kept <= 3, JSON.stringify(answers.counts));
  const large = maker("y".repeat(5000));
  assert.equal((await answers.getOrCompute("v1", "search", request, large.make)).length, 5000);
  assert.ok(answers.counts.bytes <= 1000);
});

test("without room every answer is made", async () => {
  const [answers, made] = [new ResponseCache(0), maker()];
  for (let times = 0; times < 3; times += 1) await answers.getOrCompute("v1", "search", request, made.make);
  assert.equal(made.times, 3);
  assert.deepEqual(answers.counts, { hits: 0, shared: 0, misses: 3, kept: 0, bytes: 0 });
});

test("an answer that is at hand is metered, and belongs to its version", async (context) => {
  const { lake } = await lakeOf(context, `${samplePath}/2026-11-18`, { day: "2026-11-18" });
  const client = await serviceOf(context, lake);
  const { bearer } = customerIn(client.accounts);
  const path = "/v1/listings?limit=3";
  const [first, again] = [await client.get(path, bearer), await client.get(path, bearer)];
  assert.deepEqual(again.body, first.body);
  for (const name of ["X-Usage-Class", "X-Usage-Cost-Micros"])
    assert.equal(again.headers.get(name), first.headers.get(name));
  const left = ({ headers }: typeof first): number => Number(headers.get("X-RateLimit-Remaining-60s"));
  assert.equal(left(again), left(first) - 1);
  const counts = async (): Promise<unknown> => ((await client.get("/readyz")).body as { answers: unknown }).answers;
  assert.equal(((await counts()) as { hits: number }).hits, 1);

  await ingestPath(lake, `${samplePath}/2026-11-19`, { day: "2026-11-19" });
  const versionOf = (body: unknown): string => (body as { meta: { version: string } }).meta.version;
  const deadline = performance.now() + 5000;
  let next = await client.get(path, bearer);
  while (versionOf(next.body) === versionOf(first.body) && performance.now() < deadline) {
    await sleep(50);
    next = await client.get(path, bearer);
  }
  assert.notEqual(versionOf(next.body), versionOf(first.body));
});
