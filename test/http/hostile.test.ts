/** Hostile values for each parameter; the campaign `hostile` is longer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sendHostileRequests } from "../support/campaigns/hostile-answers.ts";
import { hostileRequests, searchOperations } from "../support/campaigns/hostile-requests.ts";
import { Chance } from "../support/chance.ts";
import { extentOf } from "../support/extent.ts";
import { sampleService } from "../support/http/service.ts";

const { client } = await sampleService();
const valuesEach = extentOf(12, 20);

for (const operation of searchOperations) {
  test(`every parameter of ${operation} answers or refuses hostile values, and never fails`, async () => {
    const requests = hostileRequests(new Chance(20261119), operation, valuesEach);
    const { answered, refused } = await sendHostileRequests(client, requests);
    assert.equal(answered + refused, requests.length);
    assert.ok(answered > 0.05 * requests.length && refused > 0.3 * requests.length, `${answered}, ${refused}`);
  });
}

test("lists of 100 values are answered, longer ones are refused, and a path of NULs is not found", async () => {
  for (const parameter of ["features", "exclude_features", "make", "exclude_assembly_location"]) {
    const separator = parameter === "exclude_assembly_location" ? "%2B" : ",";
    for (const [length, expected] of [
      [100, 200],
      [101, 400],
      [1500, 400],
    ]) {
      const values = Array.from({ length: length ?? 0 }, (_, n) => `v${n}`).join(separator);
      const { status } = await client.get(`/v1/listings?limit=1&${parameter}=${values}`);
      assert.equal(status, expected, `${parameter}: ${length} values`);
    }
  }
  assert.equal((await client.get(`/v1/dealers/${"%00".repeat(2000)}`)).status, 404);
});

test("a hostile name is an unknown parameter", async () => {
  for (const name of [
    "__proto__",
    "constructor",
    "toString",
    "make%00",
    "%27",
    "%2527",
    "ma%6be%20",
    "MAKE",
    "make[]",
    "make.x",
  ]) {
    const { status, code } = await client.getError(`/v1/listings?${name}=1`);
    assert.deepEqual([status, code], [400, "unknown_query_parameter"], name);
  }
});
