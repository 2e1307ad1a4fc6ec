/** Bloom filters of ids and VINs. */
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
  test(`a filter of ${what} holds every added key and few others, also after it is written and read`, () => {
    const keys = Array.from({ length: 20_000 }, (_, n) => keyOf(n));
    const filter = BloomFilter.withCapacity(keys.length);
    for (const key of keys) filter.add(key);
    const restored = BloomFilter.read(filter.toString());
    for (const bloomFilter of [filter, restored]) {
      assert.equal(
        keys.every((key) => bloomFilter.mightContain(key)),
        true,
      );
      const falsePositives = Array.from({ length: 20_000 }, (_, n) => keyOf(n + 500_000)).filter((key) =>
        bloomFilter.mightContain(key),
      );
      assert.ok(falsePositives.length < 400, `${falsePositives.length} of 20000 seem to be there`);
    }
  });
}

test("an empty filter holds nothing", () => {
  assert.equal(BloomFilter.withCapacity(0).mightContain(idOf(1)), false);
});
