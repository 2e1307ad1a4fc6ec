import assert from "node:assert/strict";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { document } from "../../../src/contract/document.ts";
import { lakeOf } from "../../support/lakes/lakes.ts";
import { wholeFile } from "../../support/scope.ts";
import { serviceOf } from "../../support/service.ts";

const { lake } = await lakeOf(wholeFile);
const client = await serviceOf(wholeFile, lake);
const path = "/v1/openapi.json";

test("the document is served as it is, as JSON, to anybody", async () => {
  const { status, headers, body } = await client.get(path);
  assert.equal(status, 200);
  assert.match(headers.get("Content-Type") ?? "", /^application\/json\b/);
  assert.deepEqual(body, structuredClone(document));
});

test("the document may be kept, and is the same until it changes", async () => {
  const [one, other] = [await client.get(path), await client.get(path)];
  assert.match(one.headers.get("ETag") ?? "", /^"[\w-]{16,}"$/);
  assert.equal(other.headers.get("ETag"), one.headers.get("ETag"));
  assert.match(one.headers.get("Cache-Control") ?? "", /^public, max-age=\d+$/);
});

interface Told {
  readonly status: number | undefined;
  readonly etag: string | undefined;
  readonly caching: string | undefined;
  readonly isEmpty: boolean;
}

/** What a client that knows some state of the document is told, given the headers it sends. */
function told(headers: Readonly<Record<string, string>>): Promise<Told> {
  return new Promise((answered, failed) => {
    get(`${client.url}${path}`, { headers, agent: false }, async (response) => {
      const { etag, "cache-control": caching } = response.headers;
      answered({ status: response.statusCode, etag, caching, isEmpty: (await text(response)) === "" });
    }).on("error", failed);
  });
}

test("who has the document already is told so with a 304 and nothing else", async () => {
  const tag = (await client.get(path)).headers.get("ETag") ?? "";
  for (const known of [tag, `W/${tag}`, `"another", ${tag}`, "*"]) {
    const { status, etag, caching, isEmpty } = await told({ "If-None-Match": known });
    assert.deepEqual([status, etag, isEmpty], [304, tag, true], known);
    assert.match(caching ?? "", /^public, max-age=\d+$/);
  }
});

test("a client that keeps no copies but knows the tag is told so too: fetch asks in this way", async () => {
  const tag = (await client.get(path)).headers.get("ETag") ?? "";
  assert.equal((await told({ "If-None-Match": tag, "Cache-Control": "no-cache", Pragma: "no-cache" })).status, 304);
  assert.equal((await client.get(path, { "If-None-Match": tag })).status, 304);
});

test("who has another document gets this one", async () => {
  for (const known of [`"another"`, `""`, "nonsense"]) {
    const { status, isEmpty } = await told({ "If-None-Match": known });
    assert.deepEqual([status, isEmpty], [200, false], known);
  }
});

test("the document takes no parameters", async () => {
  assert.equal((await client.get(`${path}?pretty=true`)).status, 400);
  assert.equal((await client.refused(`${path}?pretty=true`)).code, "unknown_query_parameter");
});

test("the document's server is where the document came from", () => {
  const { servers } = document as unknown as { readonly servers: readonly { readonly url: string }[] };
  assert.deepEqual(servers, [{ url: "/" }]);
});
