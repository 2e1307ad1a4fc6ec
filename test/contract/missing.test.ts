import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "../../src/contract/document.ts";
import { encoded, leastRequest } from "../support/examples.ts";
import { lakeOf } from "../support/lakes.ts";
import { wholeFile } from "../support/scope.ts";
import { serviceOf } from "../support/service.ts";

/** What the document promises and the service does not do yet. Whoever builds one of them takes it off the list. */
const missing = {
  operations: [] as readonly string[],
  requests: [] as readonly string[],
} as const;

const { lake } = await lakeOf(wholeFile);
const client = await serviceOf(wholeFile, lake);

/** Whether a request is answered as one that cannot be answered yet. */
async function isMissing(path: string): Promise<boolean> {
  const { status, body } = await client.get(path);
  const error = (body as { readonly error?: { readonly code: string } }).error;
  assert.equal(status === 501, error?.code === "not_implemented", path);
  return status === 501;
}

test("the operations that are not built are exactly those of the list", async () => {
  const found: string[] = [];
  for (const operation of operations.values()) if (await isMissing(leastRequest(operation))) found.push(operation.id);
  assert.deepEqual(found, missing.operations);
});

/** Parameters that are only asked for together with others. */
const together: Readonly<Record<string, string>> = {
  latitude: "latitude=37.5483&longitude=-121.9886",
  longitude: "latitude=37.5483&longitude=-121.9886",
  radius: "postal_code=94538&radius=50",
};

/** Every parameter with its example, and each value of the vocabularies that choose what is done. */
const asked: readonly string[] = (operations.get("searchListings")?.parameters ?? []).flatMap((parameter) => {
  const { name, schema } = parameter;
  const choices = ["sort", "include", "inventory_status"].includes(name);
  if (!choices) return [together[name] ?? `${name}=${encoded(parameter)}`];
  return (schema.items?.enum ?? schema.enum ?? []).map((word) => `${name}=${word}`);
});

test("the parameters of the listing search that are not built are exactly those of the list", async () => {
  const found = new Set<string>();
  for (const query of [...asked, "postal_code=94538&sort=distance"]) {
    if (await isMissing(`/v1/listings?limit=1&${query}`)) found.add(query);
  }
  assert.deepEqual([...found].sort(), [...missing.requests].sort());
});
