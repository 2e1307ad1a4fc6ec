/** Requests with every parameter's example, sent to a service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { exemplaryRequest, getOperations, minimalRequest } from "../support/examples.ts";
import { sampleService } from "../support/http/service.ts";

const { client } = await sampleService();

for (const operation of getOperations) {
  test(`${operation.id} answers its minimal request`, async () => {
    const path = minimalRequest(operation);
    const { status } = await client.get(path);
    assert.ok([200, 404].includes(status), `${path}: ${status}`);
  });

  test(`${operation.id} answers the examples of its parameters together`, async () => {
    const path = exemplaryRequest(operation);
    const { status, body } = await client.get(path);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  });
}
