/** The charge of each request, and the headers that report it. */
import assert from "node:assert/strict";
import { closeSync, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { get } from "node:http";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { changeAccount } from "../../src/accounts/account.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { isMetered, prices, pricingVersion, type UsageClass } from "../../src/accounts/policy/prices.ts";
import { openAccounts } from "../../src/accounts/storage/open-accounts.ts";
import type { Row } from "../../src/base/json.ts";
import { sql } from "../../src/db/sql.ts";
import { type Customer, createCustomer, inAccountsFile } from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { getOperations, minimalRequest } from "../support/examples.ts";
import { type Answer, type Client, sampleService, startService } from "../support/http/service.ts";
import { createSlowLake, slowRequest, untilBusy } from "../support/http/slow-request.ts";

const { lake, client } = await sampleService();

/** The charges of an account, oldest first. */
const chargesOf = ({ accounts }: Client, { accountId }: Customer): Promise<readonly Row[]> =>
  inAccountsFile(accounts, async (database) =>
    (
      await database.all(sql`
        SELECT   entry_id, entries.micros, usage_class, pricing_version, key_id
        FROM     entries JOIN prices USING (price)
        WHERE    account_id = ${accountId} ORDER BY entry`)
    ).map((row) => ({ ...row })),
  );

/** Sends a request as a customer; returns the answer and the charges posted meanwhile. */
async function requestAs(path: string, customer: Customer, headers: Record<string, string> = customer.bearer) {
  const before = (await chargesOf(client, customer)).length;
  const answer = await client.get(path, headers);
  return { answer, charged: (await chargesOf(client, customer)).slice(before) };
}

const header = ({ headers }: Answer, name: string): string | null => headers.get(name);

/** Fails unless an answer was charged once as this usage class, and its headers say so. */
function assertCharged(
  { answer, charged }: Awaited<ReturnType<typeof requestAs>>,
  usageClass: UsageClass,
  key: Customer,
): void {
  const micros = prices[usageClass];
  assert.deepEqual(charged, [
    {
      entry_id: header(answer, "X-Request-Id"),
      micros: -micros,
      usage_class: usageClass,
      pricing_version: pricingVersion,
      key_id: key.keyId,
    },
  ]);
  assert.equal(header(answer, "X-Usage-Class"), usageClass);
  assert.equal(header(answer, "X-Usage-Cost-Micros"), String(micros));
  assert.equal(header(answer, "X-Pricing-Version"), pricingVersion);
}

function assertFree({ answer, charged }: Awaited<ReturnType<typeof requestAs>>): void {
  assert.deepEqual(charged, []);
  for (const name of ["X-Usage-Class", "X-Usage-Cost-Micros", "X-Pricing-Version"])
    assert.equal(header(answer, name), null);
}

const dealer = "0b8f6c1e-5d0a-5c3e-9a57-2f6d3b1c7e40";

const searches: readonly (readonly [query: string, usageClass: UsageClass])[] = [
  ["limit=1", "listing_search"],
  ["make=no-such-make", "listing_search"],
  ["offset=100000", "listing_search"],
  ["limit=1&inventory_status=sold", "listing_search_historical"],
  ["sold_within_days=5", "listing_search_historical"],
  ["limit=1&snapshot_date=2026-11-18", "listing_search_historical"],
  [`dealer_id=${dealer}`, "listing_search_dealer_filtered"],
  [`dealer_id=${dealer}&snapshot_date=2026-11-18`, "listing_search_dealer_filtered_historical"],
];

for (const [query, usageClass] of searches) {
  test(`a search with ${query} is charged as ${usageClass}, with or without matches`, async () => {
    const customer = await createCustomer(client.accounts);
    const result = await requestAs(`/v1/listings?${query}`, customer);
    assert.equal(result.answer.status, 200);
    assertCharged(result, usageClass, customer);
  });
}

for (const operation of getOperations) {
  test(`${operation.id} is charged if it answers, and only then`, async () => {
    const customer = await createCustomer(client.accounts);
    const isFree = !isMetered(operation.id);
    const plain = minimalRequest(operation);
    const include = `${plain}${plain.includes("?") ? "&" : "?"}include=options`;
    for (const path of [plain, include]) {
      const result = await requestAs(path, customer);
      if (result.answer.status !== 200 || isFree) assertFree(result);
      else {
        const usageClass = header(result.answer, "X-Usage-Class") as UsageClass;
        assert.ok(usageClass in prices, path);
        assertCharged(result, usageClass, customer);
      }
    }
  });
}

const refused: readonly (readonly [what: string, path: string, status: number])[] = [
  ["an unknown parameter", "/v1/listings?mak=Kia", 400],
  ["an invalid value", "/v1/listings?limit=101", 400],
  ["a missing snapshot", "/v1/listings?snapshot_date=2020-01-01", 400],
  ["incompatible parameters", "/v1/listings?min_price=2&max_price=1", 400],
  ["a key in the query", "/v1/listings?api_key=1", 400],
  ["an unknown listing", "/v1/listings/ffffffffffffffffffffffffffffffff", 404],
  ["an unknown VIN", "/v1/vins/1HGCM8263UA999999", 404],
  ["a malformed VIN", "/v1/vins/NOT-A-VIN", 400],
  ["an unknown dealer", "/v1/dealers/ffffffff-ffff-4fff-8fff-ffffffffffff", 404],
  ["the inventory of an unknown dealer", "/v1/dealers/ffffffff-ffff-4fff-8fff-ffffffffffff/listings", 404],
  ["an unknown path", "/v1/nowhere", 404],
  ["the account's usage", "/v1/usage", 200],
  ["the document", "/v1/openapi.json", 200],
  ["the health of the service", "/healthz", 200],
];

for (const [what, path, status] of refused) {
  test(`${what} costs nothing`, async () => {
    const result = await requestAs(path, await createCustomer(client.accounts));
    assert.equal(result.answer.status, status);
    assertFree(result);
  });
}

test("unauthorized requests are not charged: no key, a wrong key, a missing scope", async () => {
  const customer = await createCustomer(client.accounts, { scopes: ["usage.read"] });
  for (const [authorization, code] of [
    ["", "missing_api_key"],
    ["Basic dXNlcjpwYXNz", "invalid_api_key"],
    ["Bearer", "invalid_api_key"],
    ["Bearer nonsense", "invalid_api_key"],
    [`Bearer ${customer.key.slice(0, -1)}`, "invalid_api_key"],
    [customer.bearer.Authorization, "missing_scope"],
    [customer.bearer.Authorization.replace("Bearer", "bearer"), "missing_scope"],
  ] as const) {
    const result = await requestAs("/v1/listings?limit=1", customer, { Authorization: authorization });
    assert.equal((result.answer.body as { error: { code: string } }).error.code, code, authorization);
    assertFree(result);
  }
});

test("an account that cannot pay gets 402 and no charge; usage stays free", async () => {
  const customer = await createCustomer(client.accounts, { usd: "0.003" });
  const change = (by: Parameters<typeof changeAccount>[2]) =>
    inAccountsFile(client.accounts, (database) => changeAccount(database, customer.accountId, by));
  const codeOf = async (path: string): Promise<string> => {
    const { answer, charged } = await requestAs(path, customer);
    if (answer.status === 402) assert.deepEqual(charged, []);
    return answer.status === 200 ? "found" : (answer.body as { error: { code: string } }).error.code;
  };
  assert.equal(await codeOf("/v1/listings?snapshot_date=2026-11-18"), "billing_state_blocked");
  assert.equal(await codeOf("/v1/listings?limit=1"), "found");
  assert.equal(await codeOf("/v1/listings?limit=1"), "billing_state_blocked");
  assert.equal(await codeOf("/v1/listings?limit=0"), "invalid_parameter_value", "validation comes before billing");
  await change({ state: "suspended" });
  assert.equal(await codeOf("/v1/usage"), "found");
  const capped = await createCustomer(client.accounts);
  await inAccountsFile(client.accounts, (database) => changeAccount(database, capped.accountId, { capMicros: 3_000 }));
  const statuses: number[] = [];
  for (let times = 0; times < 3; times += 1)
    statuses.push((await requestAs("/v1/listings?limit=1", capped)).answer.status);
  assert.deepEqual(statuses, [200, 402, 402]);
  const { answer } = await requestAs("/v1/listings?limit=1", capped);
  assert.equal((answer.body as { error: { code: string } }).error.code, "monthly_spend_cap_exceeded");
});

test("a failed request releases its hold for the next one", async () => {
  const customer = await createCustomer(client.accounts, { usd: "0.004" });
  for (let times = 0; times < 3; times += 1)
    assert.equal((await client.get("/v1/listings?snapshot_date=2020-01-01", customer.bearer)).status, 400);
  assert.equal((await client.get("/v1/listings?snapshot_date=2026-11-18", customer.bearer)).status, 200);
});

test("a client that disconnects before the charge is not charged", async (t) => {
  const narrow = await startService(t, await createSlowLake(t), { sessions: 1, responseCacheBytes: 0, metricsPort: 0 });
  const customer = await createCustomer(narrow.accounts);
  const staying = Array.from({ length: 4 }, () => narrow.get(slowRequest, customer.bearer));
  await untilBusy(narrow);
  const leaving = Array.from({ length: 4 }, () =>
    get(`${narrow.url}${slowRequest}`, { headers: customer.bearer, agent: false }),
  );
  for (const leavingRequest of leaving)
    leavingRequest.on("error", () => undefined).once("finish", () => setTimeout(() => leavingRequest.destroy(), 20));
  const answered = (await Promise.all(staying)).filter(({ status }) => status === 200).length;
  assert.equal((await narrow.get("/v1/listings?limit=1", customer.bearer)).status, 200);
  const usage = sql`SELECT sum(requests) AS n FROM usage_days WHERE account_id = ${customer.accountId}`;
  const paid = (): Promise<unknown> =>
    inAccountsFile(narrow.accounts, async (database) => (await database.one(usage))?.n);
  await eventually("only the answered requests are paid", async () => Number(await paid()) === answered + 1);
  assert.deepEqual((await inAccountsFile(narrow.accounts, audit)).faults, []);
});

test("a locked ledger refuses priced requests with 503 while it is locked, and the service is alive", async (t) => {
  const locked = await startService(t, lake);
  const other = await openAccounts(locked.accounts, { busyMs: 1000 });
  try {
    await other.run(sql`BEGIN IMMEDIATE`);
    // All are answered before the lock is released.
    const asked = Promise.all(Array.from({ length: 5 }, () => locked.get("/v1/listings?limit=1")));
    assert.equal((await locked.get("/healthz")).status, 200);
    const answers = await asked;
    for (const { status, body, headers } of answers) {
      assert.equal(status, 503);
      assert.equal((body as { error: { code: string } }).error.code, "metering_unavailable");
      assert.equal(headers.get("X-Usage-Class"), null);
    }
    assert.equal((await locked.get("/v1/openapi.json")).status, 200);
    const ready = await locked.get("/readyz");
    assert.deepEqual([ready.status, (ready.body as { status: string }).status], [503, "ledger unavailable"]);
  } finally {
    await other.close();
  }
  assert.equal((await locked.get("/v1/listings?limit=1")).status, 200);
  assert.equal((await chargesOf(locked, locked.customer)).length, 1);
});

const systemLocks = "/proc/locks";

test("a service keeps its locks of the accounts file: it never opens the file beside SQLite", {
  skip: existsSync(systemLocks) ? false : "the system does not list its locks",
}, async (t) => {
  const service = await startService(t, lake);
  /** The locks of this process on a file: a system releases all of them when any descriptor of the file is closed. */
  const locksOf = (path: string): readonly string[] =>
    readFileSync(systemLocks, "utf8")
      .split("\n")
      .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${statSync(path).ino} `));
  assert.equal((await service.get("/v1/listings?limit=1")).status, 200);
  assert.equal((await service.get("/v1/usage")).status, 200);
  await createCustomer(service.accounts);
  await pause(150);
  for (const path of [service.accounts, `${service.accounts}-shm`]) assert.notEqual(locksOf(path).length, 0, path);
  closeSync(openSync(service.accounts, "r"));
  assert.deepEqual(locksOf(service.accounts), [], "another descriptor releases them");
});

const repeat = (idempotencyKey: string, { bearer }: Customer): Record<string, string> => ({
  ...bearer,
  "Idempotency-Key": idempotencyKey,
});

test("a request that is repeated with the same Idempotency-Key is charged once, also at the same time", async () => {
  const customer = await createCustomer(client.accounts, { usd: "0.002" });
  const other = await createCustomer(client.accounts);
  const path = "/v1/listings?limit=1&make=kia";
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.get(path, repeat("order-1", other))));
  assert.deepEqual(answers.map((answer) => `${answer.status} ${header(answer, "X-Usage-Cost-Micros")}`).sort(), [
    ...Array(7).fill("200 0"),
    "200 2000",
  ]);
  assertCharged(await requestAs(path, customer, repeat("order-1", customer)), "listing_search", customer);
  // The balance is spent. The order of parameters does not matter.
  const repeated = await requestAs("/v1/listings?make=kia&limit=1", customer, repeat("order-1", customer));
  assert.deepEqual([repeated.answer.status, repeated.charged], [200, []]);
  assert.deepEqual(
    ["Idempotent-Replayed", "X-Usage-Cost-Micros", "X-Usage-Class"].map((name) => header(repeated.answer, name)),
    ["true", "0", "listing_search"],
  );
  assert.equal((await requestAs(path, customer, repeat("order-2", customer))).answer.status, 402);
  await inAccountsFile(client.accounts, (database) =>
    changeAccount(database, customer.accountId, { state: "suspended" }),
  );
  const again = async () => (await requestAs(path, customer, repeat("order-1", customer))).answer.status;
  await eventually("a suspended account gets no repetition", async () => (await again()) === 402);
  assert.equal((await chargesOf(client, other)).length, 1);
});

test("an Idempotency-Key stands for one request: another one is refused, and an error does not use up the key", async () => {
  const customer = await createCustomer(client.accounts);
  const headers = repeat("retry-7", customer);
  const refusals = [
    ["/v1/listings/ffffffffffffffffffffffffffffffff", 404, "not_found"],
    ["/v1/listings?limit=1", 200, undefined],
    ["/v1/listings?limit=2", 422, "idempotency_key_reused"],
    ["/v1/dealers?limit=1", 422, "idempotency_key_reused"],
    ["/v1/listings?limit=1", 200, undefined],
  ] as const;
  for (const [path, status, code] of refusals) {
    const { answer } = await requestAs(path, customer, headers);
    const { error } = answer.body as { error?: { code: string } };
    assert.deepEqual([answer.status, error?.code], [status, code], path);
  }
  assert.equal((await chargesOf(client, customer)).length, 1);
  for (const invalid of ["", "two words", "x".repeat(256)]) {
    const result = await requestAs("/v1/listings?limit=1", customer, repeat(invalid, customer));
    assert.equal(result.answer.status, 400, invalid);
    assertFree(result);
  }
});

test("an Idempotency-Key is forgotten after 24 hours", async (t) => {
  const clock = { nowMs: Date.now(), wallMs: () => clock.nowMs, monotonicMs: () => performance.now() };
  const timed = await startService(t, lake, { clock });
  const get = () => timed.get("/v1/listings?limit=1", repeat("daily", timed.customer));
  await get();
  clock.nowMs += 24 * 3_600_000 - 1;
  assert.equal(header(await get(), "X-Usage-Cost-Micros"), "0");
  clock.nowMs += 1;
  assert.equal(header(await get(), "X-Usage-Cost-Micros"), "2000");
  assert.equal((await chargesOf(timed, timed.customer)).length, 2);
});

test("a response that the client has is not charged again", async () => {
  const customer = await createCustomer(client.accounts);
  const path = "/v1/listings?limit=1&sort=price";
  const { answer } = await requestAs(path, customer);
  const tag = header(answer, "ETag") ?? "";
  assert.match(tag, /^W\/"[\w-]{22}"$/);
  const known = { ...customer.bearer, "If-None-Match": tag };
  for (const same of [path, "/v1/listings?sort=price&limit=1"]) {
    const result = await requestAs(same, customer, known);
    assert.deepEqual([result.answer.status, result.answer.body, header(result.answer, "ETag")], [304, undefined, tag]);
    assertFree(result);
  }
  assertCharged(await requestAs("/v1/listings?limit=2&sort=price", customer, known), "listing_search", customer);
  const missing = await client.get("/v1/listings/ffffffffffffffffffffffffffffffff");
  assert.deepEqual([missing.status, header(missing, "ETag")], [404, null]);
  const any = await client.get("/v1/listings/ffffffffffffffffffffffffffffffff", { "If-None-Match": "*" });
  assert.equal(any.status, 404);
});
