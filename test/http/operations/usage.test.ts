/** Operation `getUsage`: days, usage classes and totals. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../../../src/accounts/clock.ts";
import type { UsageClass } from "../../../src/accounts/policy/prices.ts";
import { type Customer, createCustomer, inAccountsFile } from "../../support/accounts.ts";
import { startService } from "../../support/http/service.ts";
import { createLake } from "../../support/lakes/lakes.ts";
import { postPlainCharge } from "../../support/ledger.ts";
import { fileScope } from "../../support/scope.ts";

/** The clock stands at 1 second before midnight UTC of 2026-11-19, which is another day in most time zones. */
const clock: Clock = { wallMs: () => Date.parse("2026-11-19T23:59:59Z"), monotonicMs: () => performance.now() };
const { lake } = await createLake(fileScope);
const client = await startService(fileScope, lake, { clock });

let charges = 0;
async function postUsage(customer: Customer, at: string, usageClass: UsageClass, times = 1): Promise<void> {
  await inAccountsFile(client.accounts, async (database) => {
    for (let time = 0; time < times; time += 1) {
      charges += 1;
      const { accountId, keyId } = customer;
      await postPlainCharge(database, { chargeId: `c${charges}`, accountId, keyId, usageClass, atMs: Date.parse(at) });
    }
  });
}

const mainCustomer = await createCustomer(client.accounts);
await postUsage(mainCustomer, "2025-11-18T12:00:00Z", "listing_search");
await postUsage(mainCustomer, "2025-11-19T00:00:00Z", "facet_counts");
await postUsage(mainCustomer, "2026-10-20T23:59:59.999Z", "listing_search", 3);
await postUsage(mainCustomer, "2026-10-21T00:00:00Z", "vehicle_detail", 2);
await postUsage(mainCustomer, "2026-10-21T23:59:59.999Z", "listing_search");
await postUsage(mainCustomer, "2026-11-19T00:00:00Z", "listing_search_enriched");
await postUsage(mainCustomer, "2026-11-20T00:00:00Z", "dealer_lookup");
const otherCustomer = await createCustomer(client.accounts);
await postUsage(otherCustomer, "2026-11-01T00:00:00Z", "listing_search", 50);

const rows = {
  before: { date: "2026-10-20", metering_class: "listing_search", requests: 3, charged_micros: 6_000 },
  search: { date: "2026-10-21", metering_class: "listing_search", requests: 1, charged_micros: 2_000 },
  detail: { date: "2026-10-21", metering_class: "vehicle_detail", requests: 2, charged_micros: 6_000 },
  today: { date: "2026-11-19", metering_class: "listing_search_enriched", requests: 1, charged_micros: 40_000 },
  tomorrow: { date: "2026-11-20", metering_class: "dealer_lookup", requests: 1, charged_micros: 1_000 },
  lastYear: { date: "2025-11-19", metering_class: "facet_counts", requests: 1, charged_micros: 3_000 },
} as const;

const ranges: readonly (readonly [
  query: string,
  from: string,
  to: string,
  expected: readonly (keyof typeof rows)[],
])[] = [
  ["", "2026-10-21", "2026-11-19", ["search", "detail", "today"]],
  ["?start_date=2026-10-20", "2026-10-20", "2026-11-19", ["before", "search", "detail", "today"]],
  ["?end_date=2026-11-18", "2026-10-20", "2026-11-18", ["before", "search", "detail"]],
  ["?start_date=2026-10-21&end_date=2026-10-21", "2026-10-21", "2026-10-21", ["search", "detail"]],
  ["?end_date=2026-11-30", "2026-11-01", "2026-11-30", ["today", "tomorrow"]],
  ["?metering_class=vehicle_detail", "2026-10-21", "2026-11-19", ["detail"]],
  ["?metering_class=VEHICLE_DETAIL,listing_search", "2026-10-21", "2026-11-19", ["search", "detail"]],
  ["?metering_class=facet_counts", "2026-10-21", "2026-11-19", []],
  ["?start_date=2025-11-19&end_date=2025-11-20", "2025-11-19", "2025-11-20", ["lastYear"]],
  ["?start_date=2025-11-19", "2025-11-19", "2026-11-19", ["lastYear", "before", "search", "detail", "today"]],
];

for (const [query, start_date, end_date, expected] of ranges) {
  test(`usage${query} covers ${start_date} to ${end_date}, of this account only`, async () => {
    const { status, body } = await client.get(`/v1/usage${query}`, mainCustomer.bearer);
    assert.equal(status, 200);
    const data = expected.map((name) => rows[name]);
    assert.deepEqual(body, {
      data,
      totals: {
        requests: data.reduce((sum, { requests }) => sum + requests, 0),
        charged_micros: data.reduce((sum, { charged_micros }) => sum + charged_micros, 0),
      },
      meta: {
        start_date,
        end_date,
        interval: "day",
        currency: "USD",
        source: "ledger",
        freshness: "eventually consistent, at most 2 seconds behind the ledger",
      },
    });
  });
}

const refused: readonly (readonly [query: string, code: string, message: RegExp])[] = [
  [
    "start_date=2025-11-18",
    "incompatible_parameters",
    /the range from 2025-11-18 to 2026-11-19 is longer than 366 days\.$/,
  ],
  ["start_date=2026-11-19&end_date=2026-11-18", "incompatible_parameters", /2026-11-19 is after 2026-11-18\.$/],
  ["start_date=2026-11-20", "incompatible_parameters", /2026-11-20 is after 2026-11-19\.$/],
];

for (const [query, code, message] of refused) {
  test(`usage?${query} is refused`, async () => {
    const refusal = await client.getError(`/v1/usage?${query}`);
    assert.equal(refusal.code, code);
    assert.match(refusal.message, message);
  });
}

test("a charge is in the usage at once", async () => {
  const fresh = await createCustomer(client.accounts);
  for (let times = 1; times <= 3; times += 1) {
    assert.equal((await client.get("/v1/listings?limit=1", fresh.bearer)).status, 200);
    const { body } = await client.get("/v1/usage", fresh.bearer);
    assert.deepEqual((body as { totals: object }).totals, { requests: times, charged_micros: times * 2_000 });
  }
});
