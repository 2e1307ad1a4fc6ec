import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "../../src/contract/document.ts";
import { encodedParameter, leastRequest } from "../support/examples.ts";
import { lakeOf } from "../support/lakes/lakes.ts";
import { wholeFile } from "../support/scope.ts";
import { serviceOf } from "../support/service.ts";

const { lake } = await lakeOf(wholeFile);
const client = await serviceOf(wholeFile, lake);

/** Parameters that are asked for together with others, or with a value that the sample has. */
const together: Readonly<Record<string, string>> = {
  latitude: "latitude=37.5483&longitude=-121.9886",
  longitude: "latitude=37.5483&longitude=-121.9886",
  radius: "postal_code=94538&radius=50",
  snapshot_date: "snapshot_date=2026-11-18",
};

/** Vocabularies of which each word does something else. */
const choices = ["sort", "include", "inventory_status"];

/** Every parameter of the listing search with its example, and each word of what chooses what is done. */
const queries: readonly string[] = (operations.get("searchListings")?.parameters ?? []).flatMap((parameter) => {
  const { name, schema } = parameter;
  if (!choices.includes(name)) return [together[name] ?? `${name}=${encodedParameter(parameter)}`];
  const words: readonly unknown[] = schema.items?.enum ?? schema.enum ?? [];
  return words.map((word) => (word === "distance" ? `postal_code=94538&${name}=${word}` : `${name}=${word}`));
});

for (const operation of operations.values()) {
  test(`${operation.id} is answered`, async () => {
    const path = leastRequest(operation);
    const { status } = await client.get(path);
    assert.ok([200, 404].includes(status), `${path}: ${status}`);
  });
}

for (const query of queries) {
  test(`a listing search with ${query} is answered`, async () => {
    const { status, body } = await client.get(`/v1/listings?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
  });
}
