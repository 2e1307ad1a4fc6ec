/** The rate limiter and its sliding windows of 10 and 60 seconds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FailedAuthentications, SignInLimits } from "../../src/accounts/policy/failed-authentications.ts";
import { RateLimiter, type RateLimits } from "../../src/accounts/policy/rate-limiter.ts";
import { tierLimits, tiers } from "../../src/accounts/policy/tiers.ts";
import { clientNetwork } from "../../src/base/client-network.ts";
import { Chance } from "../support/chance.ts";

/** A rate limiter whose clock the test moves. */
class ClockedLimiter {
  ms = 1_000_000;
  readonly rates = new RateLimiter(() => this.ms);
}

for (const tier of tiers) {
  const { per10s, per60s } = tierLimits[tier];
  test(`tier ${tier} allows ${per10s} requests in 10 seconds and ${per60s} in 60, and no more`, () => {
    const clocked = new ClockedLimiter();
    const { rates } = clocked;
    const limits = tierLimits[tier];
    const burst = Math.min(per10s, per60s);
    for (let request = 0; request < burst; request += 1) assert.equal(rates.take("a", limits), undefined);
    const excess = rates.take("a", limits);
    const isLong = per60s <= per10s;
    assert.deepEqual(excess, {
      limit: isLong ? per60s : per10s,
      windowSeconds: isLong ? 60 : 10,
      retryAfterSeconds: isLong ? 60 : 10,
    });
    assert.equal(rates.take("another", limits), undefined);
    let granted = burst;
    for (const start = clocked.ms; clocked.ms < start + 60_000; clocked.ms += 50)
      while (rates.take("a", limits) === undefined) granted += 1;
    assert.equal(granted, per60s);
    while (rates.take("a", limits) === undefined) granted += 1;
    assert.equal(granted, per60s + burst, "the first burst has left the window after 60 seconds");
  });
}

test("the remaining requests decrease with each request and recover as requests leave the windows", () => {
  const clocked = new ClockedLimiter();
  const limits: RateLimits = { per10s: 3, per60s: 5 };
  const remaining = (): string => Object.values(clocked.rates.remaining("a", limits)).join();
  assert.equal(remaining(), "3,5");
  for (const expected of ["2,4", "1,3", "0,2"]) {
    assert.equal(clocked.rates.take("a", limits), undefined);
    assert.equal(remaining(), expected);
  }
  assert.equal(clocked.rates.take("a", limits)?.windowSeconds, 10);
  assert.equal(remaining(), "0,2", "a refused request does not count");
  clocked.ms += 9_999;
  assert.equal(remaining(), "0,2");
  clocked.ms += 1;
  assert.equal(remaining(), "3,2");
  clocked.ms += 50_000;
  assert.equal(remaining(), "3,5");
});

test("a request is accepted after the reported retry time, and refused a second earlier", () => {
  const chance = new Chance(4);
  for (let draw = 0; draw < 200; draw += 1) {
    const clocked = new ClockedLimiter();
    const limits: RateLimits = { per10s: chance.integer(1, 6), per60s: chance.integer(1, 12) };
    for (let request = 0; request < 40; request += 1) {
      const excess = clocked.rates.take("a", limits);
      if (excess === undefined) clocked.ms += chance.integer(0, 4000);
      else {
        assert.ok(Number.isInteger(excess.retryAfterSeconds) && excess.retryAfterSeconds >= 1);
        clocked.ms += excess.retryAfterSeconds * 1000 - 1000;
        if (excess.retryAfterSeconds > 1) assert.notEqual(clocked.rates.take("a", limits), undefined);
        clocked.ms += 1000;
        assert.equal(clocked.rates.take("a", limits), undefined, JSON.stringify({ limits, excess }));
      }
    }
  }
});

test("of two limits with the same wait, the longer window is named", () => {
  const clocked = new ClockedLimiter();
  const limits: RateLimits = { per10s: 1, per60s: 2 };
  assert.equal(clocked.rates.take("a", limits), undefined);
  clocked.ms += 50_000;
  assert.equal(clocked.rates.take("a", limits), undefined);
  assert.deepEqual(clocked.rates.take("a", limits), { limit: 2, windowSeconds: 60, retryAfterSeconds: 10 });
});

test("no 10 or 60 seconds exceed a limit, and no request within the limits is refused", () => {
  const chance = new Chance(9);
  for (let draw = 0; draw < 60; draw += 1) {
    const clocked = new ClockedLimiter();
    let limits: RateLimits = { per10s: chance.integer(0, 40), per60s: chance.integer(0, 120) };
    const granted: number[] = [];
    for (let request = 0; request < 1500; request += 1) {
      clocked.ms += chance.happens(0.02) ? chance.integer(0, 90_000) : chance.integer(0, 300) / 7;
      if (chance.happens(0.005)) limits = { per10s: chance.integer(0, 40), per60s: chance.integer(0, 120) };
      const within = (ms: number) => granted.filter((at) => at > clocked.ms - ms).length;
      const isFree = within(10_000) < limits.per10s && within(60_000) < limits.per60s;
      const excess = clocked.rates.take("a", limits);
      assert.equal(excess === undefined, isFree, JSON.stringify({ draw, request, limits, excess }));
      if (excess === undefined) granted.push(clocked.ms);
    }
  }
});

test("each of many accounts has its own limits", () => {
  const clocked = new ClockedLimiter();
  const limits: RateLimits = { per10s: 1, per60s: 1 };
  for (let account = 0; account < 25_000; account += 1) {
    assert.equal(clocked.rates.take(`a${account}`, limits), undefined);
    if (account % 9_999 === 0) clocked.ms += 61_000;
  }
  for (const account of [24_999, 24_000, 20_000])
    assert.notEqual(clocked.rates.take(`a${account}`, limits), undefined, `a${account}`);
});

test("failed authentications are limited per network until a window ends, and valid attempts do not count", () => {
  const clock = { ms: 0 };
  const failed = new FailedAuthentications({ failuresMax: 2, windowMs: 60_000, networksMax: 2 }, () => clock.ms);
  assert.deepEqual([failed.count("a"), failed.count("a"), failed.count("b")], [undefined, undefined, undefined]);
  clock.ms = 15_500;
  assert.equal(failed.count("a"), 45);
  failed.uncount("a");
  assert.deepEqual([failed.count("a"), failed.count("a")], [undefined, 45]);
  clock.ms = 60_000;
  assert.equal(failed.count("a"), undefined);
  failed.count("c");
  failed.count("d");
  assert.equal(failed.count("a"), undefined, "the network that failed longest ago is forgotten");
});

test("failed sign-ins to an account are limited from each network, and higher from all networks", () => {
  const clock = { ms: 0 };
  const limits = new SignInLimits(() => clock.ms);
  const allowed = (account: string, network: string): number =>
    Array.from({ length: 60 }, () => limits.count(account, network)).filter((seconds) => seconds === undefined).length;
  const networks = Array.from({ length: 12 }, (_, number) => `192.0.2.${number}`);
  assert.deepEqual(
    networks.map((network) => allowed("a", network)),
    [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 0, 0],
  );
  assert.equal(allowed("b", "192.0.2.0"), 0, "each network has a separate limit");
  assert.equal(allowed("b", "192.0.2.77"), 10);
  clock.ms = 900_000;
  for (let successes = 0; successes < 101; successes += 1) {
    assert.equal(limits.count("a", "192.0.2.0"), undefined);
    limits.uncount("a", "192.0.2.0");
  }
  assert.equal(allowed("a", "192.0.2.0"), 10);
});

test("the network of a client is its IPv4 address, or the /64 prefix of its IPv6 address", () => {
  assert.deepEqual(
    [
      "192.0.2.7",
      "::ffff:192.0.2.7",
      "2001:db8:1:2:3:4:5:6",
      "2001:DB8:1:2::9",
      "2001:db8::1",
      "::1",
      "fe80::1%eth0",
    ].map(clientNetwork),
    [
      "192.0.2.7",
      "192.0.2.7",
      "2001:db8:1:2::/64",
      "2001:db8:1:2::/64",
      "2001:db8:0:0::/64",
      "0:0:0:0::/64",
      "fe80:0:0:0::/64",
    ],
  );
});
