/** Requests with every parameter's example, sent to a service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "../../src/contract/document.ts";
import { encodeExample, exemplaryRequest, minimalRequest } from "../support/examples.ts";
import { sampleService } from "../support/http/service.ts";

const { client } = await sampleService();

/** Examples that need other parameters, or a value that the sample has. */
const companions: Readonly<Record<string, string>> = {
  latitude: "latitude=37.5483&longitude=-121.9886",
  longitude: "latitude=37.5483&longitude=-121.9886",
  radius: "postal_code=94538&radius=50",
  snapshot_date: "snapshot_date=2026-11-18",
};

/** Parameters of which each allowed value is requested. */
const choices = ["sort", "include", "inventory_status"];

/** Each parameter of the listing search with its example, or with each of its values. */
const queries: readonly string[] = (operations.get("searchListings")?.parameters ?? []).flatMap((parameter) => {
  const { name, schema } = parameter;
  if (!choices.includes(name)) return [companions[name] ?? `${name}=${encodeExample(parameter)}`];
  const words: readonly unknown[] = schema.items?.enum ?? schema.enum ?? [];
  return words.map((word) => (word === "distance" ? `postal_code=94538&${name}=${word}` : `${name}=${word}`));
});

for (const operation of operations.values()) {
  test(`${operation.id} answers its minimal request`, async () => {
    const path = minimalRequest(operation);
    const { status } = await client.get(path);
    assert.ok([200, 404].includes(status), `${path}: ${status}`);
  });
}

for (const operation of operations.values()) {
  test(`${operation.id} answers the examples of its parameters together`, async () => {
    const path = exemplaryRequest(operation);
    const { status, body } = await client.get(path);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  });
}

for (const query of queries) {
  test(`a listing search with ${query} is answered`, async () => {
    const { status, body } = await client.get(`/v1/listings?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
  });
}
