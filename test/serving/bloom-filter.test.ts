import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { BloomFilter } from "../../src/serving/rows/bloom-filter.ts";

const idOf = (n: number): string => createHash("md5").update(String(n)).digest("hex");
const vinOf = (n: number): string => `1HGCM82633A${String(n).padStart(6, "0")}`;

for (const [what, keyOf] of [
  ["ids", idOf],
  ["VINs that differ in their last digits", vinOf],
] as const) {
  test(`a filter of ${what} holds each that was added, and hardly any other, also when it was written and read`, () => {
    const keys = Array.from({ length: 20_000 }, (_, n) => keyOf(n));
    const filter = BloomFilter.withCapacity(keys.length);
    for (const key of keys) filter.add(key);
    const again = BloomFilter.read(filter.toString());
    for (const one of [filter, again]) {
      assert.equal(
        keys.every((key) => one.mightContain(key)),
        true,
      );
      const mistaken = Array.from({ length: 20_000 }, (_, n) => keyOf(n + 500_000)).filter((key) =>
        one.mightContain(key),
      );
      assert.ok(mistaken.length < 400, `${mistaken.length} of 20000 seem to be there`);
    }
  });
}

test("a filter of nothing holds nothing", () => {
  assert.equal(BloomFilter.withCapacity(0).mightContain(idOf(1)), false);
});
