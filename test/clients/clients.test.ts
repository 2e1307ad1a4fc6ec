/**
 * Clients that common generators create from the document: each is generated without a warning, compiled, and called against a service on the
 * sample delivery. Every client must get what plain requests get.
 */
import assert from "node:assert/strict";
import { delimiter } from "node:path";
import { test } from "node:test";
import { skipInShortRun } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import type { Scope } from "../support/scope.ts";
import { callWithOpenapiFetch } from "./call.ts";
import { callers, runnerIn } from "./callers.ts";
import { type GeneratedClient, type GeneratedLanguage, generatedClients } from "./generated-clients.ts";
import { pythonPath, unavailableReason } from "./tools.ts";

/** Serves the sample delivery; returns the URL, a key, and the answers that each client must get. */
async function serveSample(scope: Scope) {
  const { lake } = await createLake(scope);
  const client = await startService(scope, lake);
  const key = client.customer.bearer.Authorization.replace("Bearer ", "");
  return { client, key, expected: JSON.parse(JSON.stringify(await callWithOpenapiFetch(client.url, key))) };
}

test("a TypeScript client of openapi-fetch gets the answers of the service", {
  skip: skipInShortRun,
}, async (scope) => {
  const { client, expected } = await serveSample(scope);
  const search = (query: string) => client.getBody("searchListings", `/v1/listings?${query}`);
  const both = await search("make=Toyota,Honda&sort=-price&limit=5");
  const next = await search("make=Toyota,Honda&sort=-price&limit=5&offset=5");
  const located = await search("assembly_location=Georgetown,%20Kentucky|Dearborn,%20Michigan");
  const { data } = await client.getBody("getFacets", "/v1/facets?facets=make&metric=price.median");
  assert.deepEqual(expected.listings, [both.pagination.total, both.data.map(({ vin, price }) => [vin, price])]);
  assert.deepEqual(expected.next, [5, next.data.map(({ vin }) => vin)]);
  assert.equal(expected.located, located.pagination.total);
  assert.ok(expected.next[1].length > 0 && expected.located > 0 && expected.ranges.length > 1);
  assert.deepEqual(
    expected.facets,
    data.facets.make?.map(({ value, count, metric }) => [value, count, metric?.value]),
  );
  assert.deepEqual(expected.missing, [404, "not_found"]);
  assert.deepEqual(expected.refused, [400, "incompatible_parameters"]);
});

for (const [language, client] of Object.entries(generatedClients) as [GeneratedLanguage, GeneratedClient][]) {
  const skip = skipInShortRun || unavailableReason(client.generator, client);
  test(`a generated client in ${language} gets the answers of the service`, { skip }, async (scope) => {
    const { client: service, key, expected } = await serveSample(scope);
    const folder = await temporaryFolder(scope);
    const path = [pythonPath, process.env.PATH].join(delimiter);
    const run = runnerIn(folder, { CARQUET_URL: service.url, CARQUET_KEY: key, PATH: path });
    assert.deepEqual(JSON.parse(await callers[language](run, folder)), expected);
  });
}
