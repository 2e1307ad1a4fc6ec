/** A first search of the sample over HTTP. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

test("the sample's listings are served newest first, with their total", async () => {
  const { lake } = await createLake(fileScope);
  const client = await startService(fileScope, lake);
  const { data, pagination, meta } = await client.getBody("searchListings", "/v1/listings?limit=3");
  assert.equal(data.length, 3);
  assert.deepEqual(pagination, { limit: 3, offset: 0, total: 206, next_offset: 3 });
  assert.deepEqual(meta, { as_of: "2026-11-19", version: "2026-11-19.1" });
  assert.equal((await client.getError("/v1/listings?limit=101")).code, "invalid_parameter_value");
});
