/** Operation `getDocument`: the OpenAPI document and its caching. */
import assert from "node:assert/strict";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { document } from "../../../src/contract/document.ts";
import { startService } from "../../support/http/service.ts";
import { createLake } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const { lake } = await createLake(fileScope);
const client = await startService(fileScope, lake);
const path = "/v1/openapi.json";

test("the document is served as JSON", async () => {
  const { status, headers, body } = await client.get(path);
  assert.equal(status, 200);
  assert.match(headers.get("Content-Type") ?? "", /^application\/json\b/);
  assert.deepEqual(body, structuredClone(document));
});

test("the document has a stable ETag and may be cached", async () => {
  const [first, second] = [await client.get(path), await client.get(path)];
  assert.match(first.headers.get("ETag") ?? "", /^"[\w-]{16,}"$/);
  assert.equal(second.headers.get("ETag"), first.headers.get("ETag"));
  assert.match(first.headers.get("Cache-Control") ?? "", /^public, max-age=\d+$/);
});

interface ConditionalAnswer {
  readonly status: number | undefined;
  readonly etag: string | undefined;
  readonly caching: string | undefined;
  readonly isEmpty: boolean;
}

/** Sends conditional headers; returns the status and the caching headers. */
function getConditionally(headers: Readonly<Record<string, string>>): Promise<ConditionalAnswer> {
  return new Promise((answered, failed) => {
    get(`${client.url}${path}`, { headers, agent: false }, async (response) => {
      const { etag, "cache-control": caching } = response.headers;
      answered({ status: response.statusCode, etag, caching, isEmpty: (await text(response)) === "" });
    }).on("error", failed);
  });
}

test("a matching If-None-Match is answered with an empty 304", async () => {
  const tag = (await client.get(path)).headers.get("ETag") ?? "";
  for (const known of [tag, `W/${tag}`, `"another", ${tag}`, "*"]) {
    const { status, etag, caching, isEmpty } = await getConditionally({ "If-None-Match": known });
    assert.deepEqual([status, etag, isEmpty], [304, tag, true], known);
    assert.match(caching ?? "", /^public, max-age=\d+$/);
  }
});

test("a request with Cache-Control: no-cache is answered with 304 too, as fetch sends it", async () => {
  const tag = (await client.get(path)).headers.get("ETag") ?? "";
  assert.equal(
    (await getConditionally({ "If-None-Match": tag, "Cache-Control": "no-cache", Pragma: "no-cache" })).status,
    304,
  );
  assert.equal((await client.get(path, { "If-None-Match": tag })).status, 304);
});

test("another If-None-Match gets the document", async () => {
  for (const known of [`"another"`, `""`, "nonsense"]) {
    const { status, isEmpty } = await getConditionally({ "If-None-Match": known });
    assert.deepEqual([status, isEmpty], [200, false], known);
  }
});

test("the document takes no parameters", async () => {
  assert.equal((await client.get(`${path}?pretty=true`)).status, 400);
  assert.equal((await client.getError(`${path}?pretty=true`)).code, "unknown_query_parameter");
});

test("the document's server is relative to its own URL", () => {
  const { servers } = document as unknown as { readonly servers: readonly { readonly url: string }[] };
  assert.deepEqual(servers, [{ url: "/" }]);
});
