/** The service without data, with defects, under overload and past deadlines. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { generateApiKey } from "../../src/accounts/keys/api-key.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import type { ErrorCode } from "../../src/contract/errors.ts";
import { serve } from "../../src/http/server.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { type Customer, createCustomer, inAccountsFile } from "../support/accounts.ts";
import { attackFairness } from "../support/campaigns/fairness.ts";
import { limitedDisk } from "../support/campaigns/mixed/faults.ts";
import { runMixedLoad } from "../support/campaigns/mixed/mixed-load.ts";
import { prepareLake } from "../support/campaigns/mixed/prepared-lake.ts";
import { eventually, parseLog } from "../support/command-line.ts";
import { extentOf, sampled, skipInShortRun } from "../support/extent.ts";
import { type Answer, type Client, startService } from "../support/http/service.ts";
import { createSlowLake, slowLakeDay, slowRequest } from "../support/http/slow-request.ts";
import { listFilesAnew } from "../support/lakes/contents.ts";
import { createLake, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const slowLake = await createSlowLake(fileScope);
const pastPage = `/v1/listings?snapshot_date=${slowLakeDay}`;

const noServingFiles = { index: false, rows: false, fallbacks: 0 };
const allServingFiles = { index: true, rows: true, fallbacks: 0 };
const emptyCache = { hits: 0, shared: 0, misses: 0, kept: 0, bytes: 0 };

const codeOf = ({ body }: Answer): ErrorCode | undefined => (body as { error?: { code: ErrorCode } }).error?.code;
const messageOf = ({ body }: Answer): string => (body as { error: { message: string } }).error.message;

test("before the first publish the service is alive and not ready", async (context) => {
  const client = await startService(context, join(await temporaryFolder(context), "lake"));
  assert.deepEqual((await client.get("/healthz")).body, { status: "ok" });
  const ready = await client.get("/readyz");
  assert.deepEqual(
    [ready.status, ready.body],
    [
      503,
      {
        status: "no version published",
        reasons: [],
        version: null,
        ingest: null,
        freshness: null,
        lake: { files: 0, damages: 0 },
        serving: noServingFiles,
        response_cache: emptyCache,
      },
    ],
  );
  const found = await client.get("/v1/listings");
  assert.deepEqual([found.status, codeOf(found)], [503, "data_unavailable"]);
  assert.equal(messageOf(found), "No inventory has been published yet.");
  assert.equal(found.headers.get("Cache-Control"), "no-store");
  assert.equal((await client.get("/v1/listings?limit=0")).status, 400);
  assert.equal((await client.get("/v1/openapi.json")).status, 200);
});

test("a service with a published version is ready and names the version", async (context) => {
  const client = await startService(context, lake);
  const { status, body } = await client.get("/readyz");
  const { lake: counts, freshness, ...others } = body as Readonly<Record<string, Record<string, unknown>>>;
  assert.deepEqual([counts?.damages, freshness?.status, freshness?.day], [0, "fresh", "2026-11-19"]);
  const expected = { status: "ready", reasons: [], ingest: null, version: "2026-11-19.1", serving: allServingFiles };
  assert.deepEqual([status, others], [200, { ...expected, response_cache: emptyCache }]);
});

test("a defect is answered with 500 and the request id, and logged with its cause", async (context) => {
  const { lake: broken } = await createLake(context);
  const manifest = await currentManifest(broken);
  assert.ok(manifest);
  for (const { path } of manifest.tables.feeds)
    await writeFile(join(broken, path), "not a Parquet file, but the listed file");
  await listFilesAnew(broken);
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const client = await startService(context, broken, { logger, responseCacheBytes: 0 });
  const { data } = await client.getBody("searchListings", "/v1/listings?limit=1");
  // When it was last checked follows from the feeds.
  const failed = await client.get(`/v1/listings/${data[0]?.id}`);
  const requestId = failed.headers.get("X-Request-Id");
  assert.deepEqual([failed.status, codeOf(failed)], [500, "internal_error"]);
  assert.equal(messageOf(failed), `Internal error. Quote request id ${requestId} to the operator.`);
  assert.doesNotMatch(JSON.stringify(failed.body), /parquet|feeds|\/tmp|\.ts\b/i);

  const defects = parseLog(lines.join("")).filter(({ msg }) => msg === "internal error");
  assert.deepEqual(
    defects.map((line) => line.requestId),
    [requestId],
  );
  assert.match(JSON.stringify(defects[0]?.err), /parquet/);
  assert.equal((await client.get("/v1/openapi.json")).status, 200);
  assert.equal((await client.get("/healthz")).status, 200);
});

/** Counts answers by status and code. */
function tally(answers: readonly Answer[]): Readonly<Record<string, number>> {
  const kinds: Record<string, number> = {};
  for (const answer of answers) {
    const kind = `${answer.status} ${codeOf(answer) ?? "found"}`;
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return kinds;
}

const getConcurrently = (
  client: Client,
  count: number,
  path: string,
  { bearer }: Customer = client.customer,
): Promise<readonly Answer[]> => Promise.all(Array.from({ length: count }, () => client.get(path, bearer)));

test("requests beyond the limit of waiting queries are refused as overload, and the service recovers", async (context) => {
  const client = await startService(context, slowLake, { sessions: 1, waitingQueries: 1, responseCacheBytes: 0 });
  const kinds = tally(await getConcurrently(client, 20, slowRequest));
  assert.deepEqual(Object.keys(kinds).sort(), ["200 found", "503 overloaded"]);
  assert.ok((kinds["200 found"] ?? 0) >= 1);
  assert.ok((kinds["503 overloaded"] ?? 0) >= 10);
  for (let times = 0; times < 5; times += 1) assert.equal((await client.get(pastPage)).status, 200);
});

test("an account that fills the queue is refused itself, and another account is answered", async (context) => {
  const client = await startService(context, slowLake, { sessions: 1, waitingQueries: 8, responseCacheBytes: 0 });
  const quiet = await createCustomer(client.accounts);
  const attack = getConcurrently(client, 20, slowRequest);
  const answers = await getConcurrently(client, 4, pastPage, quiet);
  assert.deepEqual(tally(answers), { "200 found": 4 });
  assert.deepEqual(Object.keys(tally(await attack)).sort(), ["200 found", "503 overloaded"]);
});

test("light requests are answered while another account sends the most expensive ones and abandons some", async (context) => {
  const client = await startService(context, lake);
  const { attack } = await attackFairness({
    url: client.url,
    accounts: client.accounts,
    attacker: client.customer,
    quiet: await createCustomer(client.accounts),
    lightRequests: extentOf(8, 16),
    pauseMs: 20,
    connections: 8,
    seed: 1,
    pastDay: "2026-11-18",
  });
  assert.ok((attack[200] ?? 0) > 0, JSON.stringify(attack));
});

test("under mixed load with faults no answer is wrong and no charge is lost or doubled", {
  skip: skipInShortRun,
}, async (context) => {
  const seed = 1;
  const feeds = async (): Promise<string> => samplePath;
  const summary = await runMixedLoad(context, {
    prepared: await prepareLake(context, { feeds, name: "sample", versions: 2, lookedUp: 5, seed }),
    disk: await limitedDisk(context),
    seed,
    seconds: extentOf(8, 60),
    capacitySeconds: 1,
    swapSeconds: 2,
    damageSecondsMax: 2,
    fullSeconds: 1.5,
    checksMemory: false,
    onStatus: () => undefined,
  });
  assert.deepEqual(summary.problems, []);
  assert.equal(summary.outages, 2);
  assert.equal(Object.keys(summary.answersByVersion).length, 2);
  assert.ok(summary.damages > 0 && summary.published > 1, JSON.stringify(summary));
});

test("an account's requests in progress are limited; refused ones neither cost nor count", async (context) => {
  const client = await startService(context, slowLake, { concurrentRequests: 3, responseCacheBytes: 0 });
  const override = { per10s: 40, per60s: 40 };
  const busy = await createCustomer(client.accounts, { override });
  const quiet = await createCustomer(client.accounts);
  const attack = getConcurrently(client, 20, slowRequest, busy);
  assert.equal((await client.get("/v1/listings?limit=1", quiet.bearer)).status, 200);
  const answers = await attack;
  const answered = answers.filter(({ status }) => status === 200).length;
  assert.ok(answered >= 3 && answered < 20, String(answered));
  assert.deepEqual(tally(answers), { "200 found": answered, "429 concurrency_limit_exceeded": 20 - answered });
  const { headers } = await client.get("/v1/listings?limit=1", busy.bearer);
  assert.equal(headers.get("X-RateLimit-Remaining-60s"), String(40 - answered - 1));
});

test("of concurrent requests of an account exactly the limit are in progress, and the others are refused at once", async (context) => {
  const client = await startService(context, slowLake, { concurrentRequests: 3, responseCacheBytes: 0 });
  const answers: Answer[] = [];
  const requests = Array.from({ length: 8 }, async () => {
    answers.push(await client.get(slowRequest));
  });
  await Promise.all(requests);
  assert.ok(
    answers.slice(0, 5).every(({ status }) => status === 429),
    "before any of the others is answered",
  );
  assert.deepEqual(tally(answers), { "429 concurrency_limit_exceeded": 5, "200 found": 3 });
});

test("the time of an abandoned request counts against the rate limits, and its work stops", async (context) => {
  const client = await startService(context, slowLake, { sessions: 1, responseCacheBytes: 0, unchargedMs: 5 });
  const busy = await createCustomer(client.accounts, { override: { per10s: 1000, per60s: 1000 } });
  const remaining = async (): Promise<number> =>
    Number((await client.get("/v1/usage", busy.bearer)).headers.get("X-RateLimit-Remaining-60s"));
  const costs: number[] = [];
  // How long the request runs depends on the machine: one that ends before it is abandoned counts once, so the next one is left earlier.
  for (let waitMs = 400; waitMs > 20 && !costs.some((cost) => cost > 1); waitMs *= 0.8) {
    const before = await remaining();
    const leaving = get(`${client.url}${slowRequest}`, { headers: busy.bearer, agent: false }).on(
      "error",
      () => undefined,
    );
    await sleep(waitMs);
    leaving.destroy();
    const { headers } = await client.get(pastPage, (await createCustomer(client.accounts)).bearer);
    assert.equal(headers.get("X-Usage-Class"), "listing_search_historical");
    costs.push(before - (await remaining()) - 1);
  }
  assert.ok(
    costs.some((cost) => cost > 1),
    `each request counted ${costs.join(", ")} times`,
  );
});

test("the time of an answer that a condition withholds counts against the rate limits", async (context) => {
  const client = await startService(context, lake, { responseCacheBytes: 0, unchargedMs: 0.01 });
  for (const condition of [{ "If-None-Match": "*" }, { "If-Match": '"x"' }]) {
    const { bearer } = await createCustomer(client.accounts, { override: { per10s: 1000, per60s: 1000 } });
    const path = "/v1/trends?metric=price.median";
    const withheld = await fetch(`${client.url}${path}`, { headers: { ...bearer, ...condition } });
    assert.ok([304, 412].includes(withheld.status), String(withheld.status));
    const { headers } = await client.get("/v1/usage", bearer);
    assert.ok(Number(headers.get("X-RateLimit-Remaining-60s")) < 990);
  }
});

test("requests within the limit of waiting queries are all answered", { skip: skipInShortRun }, async (context) => {
  const client = await startService(context, lake, { sessions: 1, waitingQueries: 40, responseCacheBytes: 0 });
  assert.deepEqual(tally(await getConcurrently(client, 40, "/v1/listings?limit=5&snapshot_date=2026-11-18")), {
    "200 found": 40,
  });
});

test("a request that waits past its deadline is refused without running", async (context) => {
  const client = await startService(context, lake, { sessions: 1, deadlineMs: 0, responseCacheBytes: 0 });
  const refused = await client.get("/v1/listings");
  assert.deepEqual([refused.status, codeOf(refused)], [504, "deadline_exceeded"]);
  assert.deepEqual(tally(await getConcurrently(client, 10, "/v1/listings")), { "504 deadline_exceeded": 10 });
});

test("the deadline of a request counts from its arrival, not from its admission", async (context) => {
  let agoMs = 0;
  const client = await startService(context, lake, {
    deadlineMs: 60_000,
    mountSite: (app) =>
      app.use(async ({ state }, next) => {
        state.arrivedAtMs -= agoMs;
        await next();
      }),
  });
  assert.equal((await client.get("/v1/listings?limit=1")).status, 200);
  agoMs = 60_001;
  const late = await client.get("/v1/listings?limit=1");
  assert.deepEqual([late.status, codeOf(late)], [504, "deadline_exceeded"]);
});

for (const deadlineMs of sampled([1, 3], 2)) {
  test(`a request that exceeds its deadline of ${deadlineMs} ms is refused, never answered late`, async (context) => {
    const client = await startService(context, slowLake, { sessions: 1, deadlineMs });
    const refused = await client.get(slowRequest);
    assert.deepEqual([refused.status, codeOf(refused)], [504, "deadline_exceeded"]);
    assert.match(
      messageOf(refused),
      new RegExp(`^Deadline exceeded: the request took longer than ${deadlineMs / 1000} seconds\\. `),
    );
  });
}

test("a session whose query was cancelled at the deadline answers the next request", async (context) => {
  const client = await startService(context, slowLake, { sessions: 1, deadlineMs: 50, responseCacheBytes: 0 });
  for (let times = 0; times < 3; times += 1) {
    assert.equal((await client.get(slowRequest)).status, 504);
    // On a busy machine, the deadline can end this request too.
    await eventually("the session answers", async () => (await client.get(pastPage)).status === 200);
  }
});

test("a service without an accounts file creates an empty one", async (t) => {
  const accounts = join(await temporaryFolder(t), "new", "accounts.db");
  const service = await serve({ lake, accounts, host: "127.0.0.1", port: 0, logger: pino({ level: "silent" }) });
  onScopeEnd(t, () => service.stop());
  assert.equal(
    (await fetch(`${service.url}/v1/listings`, { headers: { Authorization: `Bearer ${generateApiKey().key}` } }))
      .status,
    401,
  );
  assert.deepEqual(await inAccountsFile(accounts, audit), { faults: [], accounts: 0, entries: 0, charges: 0 });
});
