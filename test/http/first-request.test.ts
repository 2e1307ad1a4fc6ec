import assert from "node:assert/strict";
import { test } from "node:test";
import { lakeOf } from "../support/lakes/lakes.ts";
import { wholeFile } from "../support/scope.ts";
import { serviceOf } from "../support/service.ts";

test("the sample's listings are served, newest first, with the total", async () => {
  const { lake } = await lakeOf(wholeFile);
  const client = await serviceOf(wholeFile, lake);
  const { data, pagination, meta } = await client.found("searchListings", "/v1/listings?limit=3");
  assert.equal(data.length, 3);
  assert.deepEqual(pagination, { limit: 3, offset: 0, total: 206, next_offset: 3 });
  assert.deepEqual(meta, { as_of: "2026-11-19", version: "2026-11-19.1" });
  assert.equal((await client.refused("/v1/listings?limit=101")).code, "invalid_parameter_value");
});
