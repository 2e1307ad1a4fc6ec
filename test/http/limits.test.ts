/** Rate limits over HTTP, and their headers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeAccount } from "../../src/accounts/account.ts";
import type { Clock } from "../../src/accounts/clock.ts";
import { createKey, scopes } from "../../src/accounts/keys/keys.ts";
import { type Tier, tierLimits, tiers } from "../../src/accounts/policy/tiers.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { type Answer, startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);

/** A clock whose wall time jumps and whose monotonic time the test sets. */
class JumpingClock implements Clock {
  nowMs = 5_000_000;
  #reads = 0;

  wallMs(): number {
    this.#reads += 1;
    return Date.parse("2026-11-19T12:00:00Z") + ((this.#reads * 7_919) % 11) * 86_400_000 - 5 * 86_400_000;
  }

  monotonicMs(): number {
    return this.nowMs;
  }
}

const clock = new JumpingClock();
const client = await startService(fileScope, lake, { clock });

/** A path that counts against the rate limit and reads no listings. */
const path = "/v1/usage";

const rate = ({ headers }: Answer): readonly (string | null)[] =>
  ["Tier", "Limit-10s", "Remaining-10s", "Limit-60s", "Remaining-60s"].map((name) =>
    headers.get(`X-RateLimit-${name}`),
  );

for (const tier of tiers) {
  const { per10s, per60s } = tierLimits[tier];
  test(`three keys of a tier ${tier} account share ${Math.min(per10s, per60s)} requests at once, and no more`, async () => {
    const customer = await createCustomer(client.accounts, { tier, override: null });
    const keys = await inAccountsFile(
      client.accounts,
      async (database) =>
        await Promise.all(
          [1, 2].map(async () => (await createKey(database, { accountId: customer.accountId, scopes, atMs: 0 })).key),
        ),
    );
    const bearers = [customer.key, ...keys].map((key) => ({ Authorization: `Bearer ${key}` }));
    const burst = Math.min(per10s, per60s);
    const getConcurrently = async (count: number): Promise<readonly Answer[]> =>
      Promise.all(Array.from({ length: count }, (_, index) => client.get(path, bearers[index % 3])));
    const answers = await getConcurrently(burst + 12);
    assert.equal(answers.filter(({ status }) => status === 200).length, burst);
    for (const { status, headers, body } of answers) {
      assert.equal(headers.get("X-RateLimit-Tier"), `tier_${tier}`);
      if (status === 200) continue;
      const { error } = body as { error: { code: string; retryAfter: number } };
      assert.deepEqual([status, error.code], [429, "rate_limit_exceeded"]);
      assert.equal(headers.get("Retry-After"), String(error.retryAfter));
      assert.ok(error.retryAfter >= 1 && error.retryAfter <= 60);
      assert.equal(headers.get(`X-RateLimit-Remaining-${per60s <= per10s ? 60 : 10}s`), "0");
      assert.equal(headers.get("X-Usage-Class"), null);
    }
    const wait = Math.max(...answers.map(({ headers }) => Number(headers.get("Retry-After") ?? 0)));
    clock.nowMs += wait * 1000 - 1;
    assert.deepEqual(
      (await getConcurrently(6)).map(({ status }) => status),
      Array(6).fill(429),
      "the windows slide",
    );
    clock.nowMs += 1;
    assert.equal((await getConcurrently(3)).filter(({ status }) => status === 200).length, 3);
    clock.nowMs += 61_000;
  });
}

test("every answer to an identified account has its rate limits, with any status", async () => {
  const customer = await createCustomer(client.accounts, {
    tier: 2,
    override: null,
    scopes: ["inventory.read"],
    usd: "0.002",
  });
  const requests: readonly (readonly [path: string, status: number, remaining10s: number, remaining60s: number])[] = [
    ["/v1/listings?limit=1", 200, 99, 99],
    ["/v1/listings?limit=1", 402, 98, 98],
    ["/v1/listings?limit=0", 400, 97, 97],
    ["/v1/usage", 403, 97, 97],
    ["/v1/listings?api_key=1", 400, Number.NaN, Number.NaN],
  ];
  for (const [requested, status, remaining10s, remaining60s] of requests) {
    const answer = await client.get(requested, customer.bearer);
    assert.equal(answer.status, status, requested);
    const expected = Number.isNaN(remaining10s)
      ? Array(5).fill(null)
      : ["tier_2", "100", String(remaining10s), "100", String(remaining60s)];
    assert.deepEqual(rate(answer), expected, requested);
  }
});

test("an account's own limits override its tier's, and are reported", async () => {
  const customer = await createCustomer(client.accounts, { tier: 3 as Tier, override: { per10s: 2, per60s: 3 } });
  const statuses: number[] = [];
  for (let times = 0; times < 3; times += 1) statuses.push((await client.get(path, customer.bearer)).status);
  assert.deepEqual(statuses, [200, 200, 429]);
  assert.deepEqual(rate(await client.get(path, customer.bearer)), ["tier_3", "2", "0", "3", "1"]);
  await inAccountsFile(client.accounts, (database) =>
    changeAccount(database, customer.accountId, { rateLimitOverride: null }),
  );
  clock.nowMs += 1_000;
  assert.deepEqual(rate(await client.get(path, customer.bearer)), ["tier_3", "200", "197", "600", "597"]);
});
