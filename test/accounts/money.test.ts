/** Parsing and formatting of amounts in USD. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatUsd, parseUsd } from "../../src/accounts/money.ts";
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
