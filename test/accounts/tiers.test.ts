/** The rules that raise an account to a higher tier. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decideTier, type PaidCredit, type Tier, tierLimits } from "../../src/accounts/policy/tiers.ts";
import { plusDays } from "../../src/base/day.ts";
import { projectText } from "../../src/base/project-files.ts";
import { parseCaseTable } from "../support/case-table.ts";

const today = "2026-11-19";

/**
 * Parses `25 7 days ago reversed 3`: USD, days since the confirmation (none if unconfirmed), days since the reversal.
 */
function parseCredit(text: string): PaidCredit {
  const [, usd, ago, reversed] = /^(\d+)(?: (\d+) days ago)?(?: reversed (\d+))?$/.exec(text) ?? [];
  assert.ok(usd !== undefined, text);
  return {
    micros: Number(usd) * 1_000_000,
    confirmed: ago === undefined ? null : plusDays(today, -Number(ago)),
    reversed: reversed === undefined ? null : plusDays(today, -Number(reversed)),
  };
}

const cases = parseCaseTable(
  ["tier", "paid credits", "account", "balance", "becomes"],
  `
  tier | paid credits                                   | account   | balance | becomes
  1    | 25 7 days ago                                  | active    | 20      | 2
  1    | 25 400 days ago                                | active    | 0.01    | 2
  1    | 25 6 days ago                                  | active    | 20      | 1, 7 days since the first paid credit
  1    | 24 7 days ago                                  | active    | 20      | 1, 25 USD of verified paid credits
  1    | 10 7 days ago; 15 0 days ago                   | active    | 20      | 2
  1    | 25                                             | active    | 20      | 1, 25 USD of verified paid credits, 7 days since the first paid credit
  1    | 10 9 days ago; 15                              | active    | 20      | 1, 25 USD of verified paid credits
  1    | 25 ; 25 8 days ago                             | active    | 20      | 2
  1    | none                                           | active    | 1000    | 1, 25 USD of verified paid credits, 7 days since the first paid credit
  1    | 25 7 days ago                                  | suspended | 20      | 1, an active account
  1    | 25 7 days ago                                  | active    | 0       | 1, a positive balance
  1    | 25 7 days ago                                  | active    | -1      | 1, a positive balance
  1    | 25 200 days ago reversed 90                    | active    | 5       | 1, 25 USD of verified paid credits, 7 days since the first paid credit
  1    | 25 200 days ago reversed 89; 25 100 days ago   | active    | 5       | 1, 90 days since the last chargeback reversal
  1    | 25 200 days ago reversed 90; 25 100 days ago   | active    | 5       | 2
  1    | 25 200 days ago reversed 95; 25 6 days ago     | active    | 5       | 1, 7 days since the first paid credit
  1    | 5 8 days ago reversed 0; 25 8 days ago         | active    | 5       | 1, 90 days since the last chargeback reversal
  1    | 500 30 days ago                                | active    | 20      | 2
  2    | 150 14 days ago                                | active    | 20      | 3
  2    | 150 13 days ago                                | active    | 20      | 2, 14 days since the first paid credit
  2    | 149 14 days ago                                | active    | 20      | 2, 150 USD of verified paid credits
  2    | 25 14 days ago; 125 1 days ago                 | active    | 4       | 3
  2    | 150 14 days ago                                | suspended | 20      | 2, an active account
  2    | 150 14 days ago                                | active    | 0       | 2, a positive balance
  3    | 500 30 days ago                                | active    | 20      | 4 by hand
  3    | 500 29 days ago                                | active    | 20      | 3, 30 days since the first paid credit
  3    | 499 30 days ago                                | active    | 20      | 3, 500 USD of verified paid credits
  3    | 500 30 days ago                                | active    | 0       | 4 by hand
  4    | 5000 300 days ago                              | active    | 20      | 4, a higher tier
`,
);

for (const { tier, "paid credits": paid, account, balance, becomes } of cases) {
  test(`tier ${tier}, ${paid}, ${account}, ${balance} USD: ${becomes}`, () => {
    assert.ok(account === "active" || account === "suspended");
    const from = Number(tier) as Tier;
    const credits = paid === "none" ? [] : paid.split(";").map((text) => parseCredit(text.trim()));
    const balanceMicros = Math.round(Number(balance) * 1_000_000);
    const history = {
      tier: from,
      state: account,
      balanceMicros,
      lowBalanceMicros: 5_000_000,
      credits,
      declined: null,
    } as const;
    const verdict = decideTier(history, today);
    const outcome = [
      `${verdict.to ?? from}${verdict.reviewKind === "manual" ? " by hand" : ""}`,
      ...verdict.missing,
    ].join(", ");
    assert.equal(outcome, becomes);
  });
}

for (const [ago, becomes] of [
  [0, null],
  [29, null],
  [30, 4],
] as const) {
  test(`a manual review declined ${ago} days ago is ${becomes === null ? "not " : ""}queued again`, () => {
    const credits = [parseCredit("500 60 days ago")];
    const declined = plusDays(today, -ago);
    const history = {
      tier: 3,
      state: "active",
      balanceMicros: 1,
      lowBalanceMicros: 5_000_000,
      credits,
      declined,
    } as const;
    assert.equal(decideTier(history, today).to, becomes);
  });
}

test("the document lists the same rate limits", () => {
  const rows = [...projectText("schemas/openapi.yaml").matchAll(/^ +\| Tier (\d) \| (\d+) \| (\d+) \|$/gm)];
  assert.deepEqual(
    Object.fromEntries(
      rows.map(([, tier, per10s, per60s]) => [tier, { per10s: Number(per10s), per60s: Number(per60s) }]),
    ),
    tierLimits,
  );
});
