import assert from "node:assert/strict";
import { test } from "node:test";
import { Chance } from "../oracle/chance.ts";
import { hostileRequests, searching } from "../support/hostile.ts";
import { lakeOf } from "../support/lakes.ts";
import { outlast } from "../support/outlasted.ts";
import { wholeFile } from "../support/scope.ts";
import { serviceOf } from "../support/service.ts";

const { lake } = await lakeOf(wholeFile);
const client = await serviceOf(wholeFile, lake);
const valuesEach = 20;

for (const operation of searching) {
  test(`every parameter of ${operation} takes or refuses hostile values, and never breaks`, async () => {
    const requests = hostileRequests(new Chance(20261119), operation, valuesEach);
    const { answered, refused } = await outlast(client, requests);
    assert.equal(answered + refused, requests.length);
    assert.ok(answered > 0.05 * requests.length && refused > 0.3 * requests.length, `${answered}, ${refused}`);
  });
}

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
    const { status, code } = await client.refused(`/v1/listings?${name}=1`);
    assert.deepEqual([status, code], [400, "unknown_query_parameter"], name);
  }
});
