/** Amounts in USD, billing states, and the refusal of charges that an account cannot pay. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatUsd, parseUsd } from "../../src/accounts/money.ts";
import { billingState, refuseForBilling, shortfall, shownState } from "../../src/accounts/policy/billing-state.ts";
import { parseCaseTable } from "../support/case-table.ts";
import { Chance } from "../support/chance.ts";

const amounts: readonly (readonly [usd: string, micros: number | undefined, formatted?: string])[] = [
  ["25", 25_000_000, "25.00"],
  ["0.002", 2_000, "0.002"],
  ["0.000001", 1, "0.000001"],
  ["0.1", 100_000, "0.10"],
  ["-3.50", -3_500_000, "-3.50"],
  ["-0.000001", -1, "-0.000001"],
  ["0", 0, "0.00"],
  ["-0", 0, "0.00"],
  ["999999.999999", 999_999_999_999, "999999.999999"],
  ["007", 7_000_000, "7.00"],
  ["1000000", undefined],
  ["0.0000001", undefined],
  ["1e3", undefined],
  ["1,000", undefined],
  ["$5", undefined],
  ["+5", undefined],
  [".5", undefined],
  ["5.", undefined],
  ["", undefined],
  [" 5", undefined],
  ["NaN", undefined],
  ["0x10", undefined],
];

for (const [usd, micros, formatted] of amounts) {
  test(`${JSON.stringify(usd)} USD is ${micros ?? "not an amount"}`, () => {
    assert.equal(parseUsd(usd), micros);
    if (micros !== undefined) assert.equal(formatUsd(micros), formatted);
  });
}

test("a formatted amount parses back to the same micros", () => {
  const chance = new Chance(1);
  for (let draw = 0; draw < 5000; draw += 1) {
    const micros = chance.integer(-999_999_999_999, 999_999_999_999);
    assert.equal(parseUsd(formatUsd(micros)), micros);
  }
});

const micros = (usd: string): number => parseUsd(usd) ?? Number.NaN;

const states = parseCaseTable(
  ["state", "balance", "low below", "billing state"],
  `
  state     | balance   | low below | billing state
  active    | 100       | 5         | active
  active    | 5         | 5         | active
  active    | 4.999999  | 5         | low_balance
  active    | 0.000001  | 5         | low_balance
  active    | 0         | 5         | exhausted
  active    | -0.000001 | 5         | exhausted
  active    | -20       | 5         | exhausted
  active    | 4         | 0         | active
  active    | 0         | 0         | exhausted
  active    | 99        | 100       | low_balance
  suspended | 100       | 5         | suspended
  suspended | 1         | 5         | suspended
  suspended | -1        | 5         | suspended
`,
);

for (const { state, balance, "low below": low, "billing state": expected } of states) {
  test(`an account that is ${state} with ${balance} USD and a low balance below ${low} USD is ${expected}`, () => {
    assert.ok(state === "active" || state === "suspended");
    assert.equal(billingState({ state, balanceMicros: micros(balance), lowBalanceMicros: micros(low) }), expected);
  });
}

const shown = parseCaseTable(
  ["state", "balance", "charged", "is shown as"],
  `
  state     | balance | charged | is shown as
  active    | 5       | never   | new
  active    | 0       | never   | new
  suspended | 5       | never   | suspended
  active    | 4.998   | once    | low_balance
  active    | 0       | once    | exhausted
`,
);

for (const { state, balance, charged, "is shown as": expected } of shown)
  test(`an account that is ${state} with ${balance} USD and was charged ${charged} is shown as ${expected}`, () => {
    assert.ok(state === "active" || state === "suspended");
    const isNew = charged === "never";
    assert.equal(shownState({ state, balanceMicros: micros(balance), lowBalanceMicros: 5_000_000, isNew }), expected);
  });

const payments = parseCaseTable(
  ["state", "balance", "spent", "cap", "price", "comes to"],
  `
  state     | balance  | spent  | cap  | price | comes to
  active    | 1        | 0      | none | 0.002 | paid
  active    | 0.002    | 0      | none | 0.002 | paid
  active    | 0.001999 | 0      | none | 0.002 | billing_state_blocked low_balance: the request costs 0.002 USD, the balance is 0.001999 USD. Ask the operator of this service for credit.
  active    | 0        | 0      | none | 0.002 | billing_state_blocked exhausted: the request costs 0.002 USD, the balance is 0.00 USD. Ask the operator of this service for credit.
  active    | -3       | 0      | none | 0.002 | billing_state_blocked exhausted: the request costs 0.002 USD, the balance is -3.00 USD. Ask the operator of this service for credit.
  suspended | 1        | 0      | none | 0.002 | billing_state_blocked suspended. Ask the operator of this service to reactivate the account.
  suspended | 1        | 9      | 1    | 0.002 | billing_state_blocked suspended. Ask the operator of this service to reactivate the account.
  active    | 1        | 9.998  | 10   | 0.002 | paid
  active    | 1        | 9.9981 | 10   | 0.002 | monthly_spend_cap_exceeded 10.00
  active    | 1        | 10     | 10   | 0.002 | monthly_spend_cap_exceeded 10.00
  active    | 1        | 0      | 0    | 0.002 | monthly_spend_cap_exceeded 0.00
  active    | 0.001    | 10     | 10   | 0.002 | billing_state_blocked low_balance: the request costs 0.002 USD, the balance is 0.001 USD. Ask the operator of this service for credit.
`,
);

for (const { state, balance, spent, cap, price, "comes to": expected } of payments) {
  test(`a charge of ${price} USD to ${balance} USD, ${spent} spent of a cap of ${cap}, ${state}: ${expected}`, () => {
    assert.ok(state === "active" || state === "suspended");
    const funds = {
      state,
      balanceMicros: micros(balance),
      lowBalanceMicros: 5_000_000,
      spentMicros: micros(spent),
      capMicros: cap === "none" ? null : micros(cap),
    } as const;
    const short = shortfall(funds, micros(price));
    if (expected === "paid") return assert.equal(short, undefined);
    assert.ok(short);
    const { code, message } = refuseForBilling(short);
    const reason = message
      .replace("The account's billing state, ", "")
      .replace(" blocks paid requests", "")
      .replace(",", "")
      .replace("This request would exceed the account's monthly spend cap of ", "")
      .replace(/ USD\.$/, (end) => (code === "monthly_spend_cap_exceeded" ? "" : end));
    assert.equal(`${code} ${reason}`, expected);
  });
}
