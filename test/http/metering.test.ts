import assert from "node:assert/strict";
import { get } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import pino from "pino";
import { changeAccount } from "../../src/accounts/account.ts";
import { openAccountsFile } from "../../src/accounts/file/schema.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { prices, pricingVersion, type UsageClass } from "../../src/accounts/policy/prices.ts";
import type { Row } from "../../src/base/json.ts";
import { operations } from "../../src/contract/document.ts";
import { sql } from "../../src/db/sql.ts";
import { serve } from "../../src/http/server.ts";
import { type Customer, customerIn, onFile } from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { leastRequest } from "../support/examples.ts";
import { lakeOf, temporaryFolder } from "../support/lakes/lakes.ts";
import { atEndOf, wholeFile } from "../support/scope.ts";
import { type Answer, type Client, serviceOf } from "../support/service.ts";
import { slow } from "../support/slow.ts";

const { lake } = await lakeOf(wholeFile);
const client = await serviceOf(wholeFile, lake);

/** The charges of an account, the oldest first. */
const chargesOf = ({ accounts }: Client, { accountId }: Customer): readonly Row[] =>
  onFile(accounts, (database) =>
    database.all(sql`
      SELECT   entry_id, entries.micros, usage_class, pricing_version, key_id
      FROM     entries JOIN prices USING (price)
      WHERE    account_id = ${accountId} ORDER BY entry`),
  );

/** Asks as a customer, and gives the answer with what was charged meanwhile. */
async function ask(path: string, customer: Customer, headers: Record<string, string> = customer.bearer) {
  const before = chargesOf(client, customer).length;
  const answer = await client.get(path, headers);
  return { answer, charged: chargesOf(client, customer).slice(before) };
}

const header = ({ headers }: Answer, name: string): string | null => headers.get(name);

/** Fails unless an answer was charged once, as what, and says so. */
function checkCharged(
  { answer, charged }: Awaited<ReturnType<typeof ask>>,
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

function checkFree({ answer, charged }: Awaited<ReturnType<typeof ask>>): void {
  assert.deepEqual(charged, []);
  for (const name of ["X-Usage-Class", "X-Usage-Cost-Micros", "X-Pricing-Version"])
    assert.equal(header(answer, name), null);
}

const dealer = "0b8f6c1e-5d0a-5c3e-9a57-2f6d3b1c7e40";

const searches: readonly (readonly [query: string, usageClass: UsageClass])[] = [
  ["limit=1", "listing_search"],
  ["make=nobody-makes-this", "listing_search"],
  ["offset=100000", "listing_search"],
  ["limit=1&inventory_status=sold", "listing_search_historical"],
  ["sold_within_days=5", "listing_search_historical"],
  ["limit=1&snapshot_date=2026-11-18", "listing_search_historical"],
  [`dealer_id=${dealer}`, "listing_search_dealer_filtered"],
  [`dealer_id=${dealer}&snapshot_date=2026-11-18`, "listing_search_dealer_filtered_historical"],
];

for (const [query, usageClass] of searches) {
  test(`a search with ${query} is charged as ${usageClass}, whatever it finds`, async () => {
    const customer = customerIn(client.accounts);
    const asked = await ask(`/v1/listings?${query}`, customer);
    assert.equal(asked.answer.status, 200);
    checkCharged(asked, usageClass, customer);
  });
}

for (const operation of operations.values()) {
  test(`${operation.id} is charged when it answers, and when it does not it is not`, async () => {
    const customer = customerIn(client.accounts);
    const isFree = operation.id === "getUsage" || operation.id === "getDocument";
    const plain = leastRequest(operation);
    const include = `${plain}${plain.includes("?") ? "&" : "?"}include=options`;
    for (const path of [plain, include]) {
      const asked = await ask(path, customer);
      if (asked.answer.status !== 200 || isFree) checkFree(asked);
      else {
        const usageClass = header(asked.answer, "X-Usage-Class") as UsageClass;
        assert.ok(usageClass in prices, path);
        checkCharged(asked, usageClass, customer);
      }
    }
  });
}

const refused: readonly (readonly [what: string, path: string, status: number])[] = [
  ["an unknown parameter", "/v1/listings?mak=Kia", 400],
  ["a value that is not allowed", "/v1/listings?limit=101", 400],
  ["a snapshot that is not there", "/v1/listings?snapshot_date=2020-01-01", 400],
  ["parameters that do not go together", "/v1/listings?min_price=2&max_price=1", 400],
  ["a key in the query", "/v1/listings?api_key=1", 400],
  ["a listing that nobody knows", "/v1/listings/ffffffffffffffffffffffffffffffff", 404],
  ["a VIN that nobody knows", "/v1/vins/1HGCM82633A999999", 404],
  ["a VIN that is none", "/v1/vins/NOT-A-VIN", 400],
  ["a dealer whom nobody knows", "/v1/dealers/ffffffff-ffff-4fff-8fff-ffffffffffff", 404],
  ["the inventory of nobody", "/v1/dealers/ffffffff-ffff-4fff-8fff-ffffffffffff/listings", 404],
  ["a path that is nowhere", "/v1/nowhere", 404],
  ["the account's usage", "/v1/usage", 200],
  ["the description", "/v1/openapi.json", 200],
  ["the health of the service", "/healthz", 200],
];

for (const [what, path, status] of refused) {
  test(`${what} costs nothing`, async () => {
    const asked = await ask(path, customerIn(client.accounts));
    assert.equal(asked.answer.status, status);
    checkFree(asked);
  });
}

test("who may not ask pays nothing: no key, a wrong key, a key without the scope", async () => {
  const customer = customerIn(client.accounts, { scopes: ["usage.read"] });
  for (const [authorization, code] of [
    ["", "missing_api_key"],
    ["Basic dXNlcjpwYXNz", "missing_api_key"],
    ["Bearer", "missing_api_key"],
    ["Bearer nonsense", "invalid_api_key"],
    [`Bearer ${customer.key.slice(0, -1)}`, "invalid_api_key"],
    [customer.bearer.Authorization, "missing_scope"],
    [customer.bearer.Authorization.replace("Bearer", "bearer"), "missing_scope"],
  ] as const) {
    const asked = await ask("/v1/listings?limit=1", customer, { Authorization: authorization });
    assert.equal((asked.answer.body as { error: { code: string } }).error.code, code, authorization);
    checkFree(asked);
  }
});

test("who cannot pay is told so with 402, and pays nothing; usage needs no money", async () => {
  const poor = customerIn(client.accounts, { usd: "0.003" });
  const change = (by: Parameters<typeof changeAccount>[2]) =>
    onFile(client.accounts, (database) => changeAccount(database, poor.accountId, by));
  const codeOf = async (path: string): Promise<string> => {
    const { answer, charged } = await ask(path, poor);
    if (answer.status === 402) assert.deepEqual(charged, []);
    return answer.status === 200 ? "found" : (answer.body as { error: { code: string } }).error.code;
  };
  assert.equal(await codeOf("/v1/listings?snapshot_date=2026-11-18"), "billing_state_blocked");
  assert.equal(await codeOf("/v1/listings?limit=1"), "found");
  assert.equal(await codeOf("/v1/listings?limit=1"), "billing_state_blocked");
  assert.equal(await codeOf("/v1/listings?limit=0"), "invalid_parameter_value", "what is wrong is told first");
  change({ state: "suspended" });
  assert.equal(await codeOf("/v1/usage"), "found");
  const capped = customerIn(client.accounts);
  onFile(client.accounts, (database) => changeAccount(database, capped.accountId, { capMicros: 3_000 }));
  const statuses: number[] = [];
  for (let times = 0; times < 3; times += 1) statuses.push((await ask("/v1/listings?limit=1", capped)).answer.status);
  assert.deepEqual(statuses, [200, 402, 402]);
  const { answer } = await ask("/v1/listings?limit=1", capped);
  assert.equal((answer.body as { error: { code: string } }).error.code, "monthly_spend_cap_exceeded");
});

test("what was held for a request that failed can be spent by the next one", async () => {
  const poor = customerIn(client.accounts, { usd: "0.004" });
  for (let times = 0; times < 3; times += 1)
    assert.equal((await client.get("/v1/listings?snapshot_date=2020-01-01", poor.bearer)).status, 400);
  assert.equal((await client.get("/v1/listings?snapshot_date=2026-11-18", poor.bearer)).status, 200);
});

test("who leaves before the charge is not charged", async (t) => {
  const narrow = await serviceOf(t, lake, { sessions: 1 });
  const customer = customerIn(narrow.accounts);
  const staying = Array.from({ length: 4 }, () => narrow.get(slow, customer.bearer));
  const leaving = Array.from({ length: 4 }, () =>
    get(`${narrow.url}/v1/listings?limit=1`, { headers: customer.bearer, agent: false }),
  );
  for (const one of leaving) one.on("error", () => undefined).once("finish", () => setTimeout(() => one.destroy(), 20));
  await Promise.all(staying);
  await eventually("all who left are done with", async () => {
    const { status } = await narrow.get("/v1/listings?limit=1", customer.bearer);
    return status === 200;
  });
  assert.equal(chargesOf(narrow, customer).length, 4 + 1);
  assert.deepEqual(onFile(narrow.accounts, audit).faults, []);
});

test("a ledger that is locked answers nothing that has a price: 503, and then again as before", async (t) => {
  const locked = await serviceOf(t, lake);
  const other = openAccountsFile(locked.accounts, { busyMs: 1000 });
  try {
    other.run(sql`BEGIN IMMEDIATE`);
    const answers = await Promise.all(Array.from({ length: 5 }, () => locked.get("/v1/listings?limit=1")));
    for (const { status, body, headers } of answers) {
      assert.equal(status, 503);
      assert.equal((body as { error: { code: string } }).error.code, "metering_unavailable");
      assert.equal(headers.get("X-Usage-Class"), null);
    }
    assert.equal((await locked.get("/v1/openapi.json")).status, 200);
  } finally {
    other.close();
  }
  assert.equal((await locked.get("/v1/listings?limit=1")).status, 200);
  assert.equal(chargesOf(locked, locked.customer).length, 1);
});

test("a service that starts without an accounts file makes one, in which nobody has a key", async (t) => {
  const accounts = join(await temporaryFolder(t), "new", "accounts.db");
  const service = await serve({ lake, accounts, host: "127.0.0.1", port: 0, logger: pino({ level: "silent" }) });
  atEndOf(t, () => service.stop());
  assert.equal((await fetch(`${service.url}/v1/listings`, { headers: client.customer.bearer })).status, 401);
  assert.deepEqual(onFile(accounts, audit), { faults: [], accounts: 0, entries: 0, charges: 0 });
});
