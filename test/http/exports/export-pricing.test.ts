/** Operation `exportListings`: price breakdowns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject, type Row } from "../../../src/base/json.ts";
import { startService } from "../../support/http/service.ts";
import { createLake } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const { lake } = await createLake(fileScope);
const client = await startService(fileScope, lake);

test("an export has the price breakdowns of listings if they are requested", async () => {
  const { bearer } = client.customer;
  const exported = await fetch(`${client.url}/v1/exports?format=ndjson&fields=pricing`, { headers: bearer });
  const rows = (await exported.text())
    .trim()
    .split("\n")
    .map((line): Row => JSON.parse(line))
    .filter(({ pricing }) => pricing !== null);
  assert.ok(rows.length > 0);
  for (const { id, pricing } of rows) {
    const response = await fetch(`${client.url}/v1/listings/${id}`, { headers: bearer });
    const answer: unknown = await response.json();
    assert.ok(isObject(answer) && isObject(answer.data));
    assert.deepEqual(pricing, answer.data.pricing);
  }
});
