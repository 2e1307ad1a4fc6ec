/** Operation `getDocument`: the OpenAPI document, its caching and its compression. */
import assert from "node:assert/strict";
import { get, type IncomingHttpHeaders } from "node:http";
import { buffer, text } from "node:stream/consumers";
import { test } from "node:test";
import * as zlib from "node:zlib";
import { document, operation } from "../../../src/contract/document.ts";
import { compressedBytesMin } from "../../../src/http/middleware/compress-responses.ts";
import { sampleService } from "../../support/http/service.ts";

const { client } = await sampleService();
const path = "/v1/openapi.json";

test("the document is served as JSON", async () => {
  const { status, headers, body } = await client.get(path);
  assert.equal(status, 200);
  assert.match(headers.get("Content-Type") ?? "", /^application\/json\b/);
  assert.deepEqual(body, structuredClone(document));
});

test("the document has a stable ETag and may be cached", async () => {
  const first = await client.get(path);
  const second = await client.get(path);
  assert.match(first.headers.get("ETag") ?? "", /^W\/"[\w-]{16,}"$/);
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
  for (const known of [tag, tag.slice(2), `"another", ${tag}`, "*"]) {
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

interface EncodedAnswer {
  readonly coding: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends `Accept-Encoding`, or none; returns the answer as it was received. */
function getEncoded(encodedPath: string, acceptEncoding: string | undefined): Promise<EncodedAnswer> {
  const accepted = acceptEncoding === undefined ? {} : { "Accept-Encoding": acceptEncoding };
  return new Promise((answered, failed) => {
    const headers = { ...client.customer.bearer, ...accepted };
    get(`${client.url}${encodedPath}`, { headers, agent: false }, async (response) => {
      const { headers: received } = response;
      answered({ coding: received["content-encoding"], headers: received, body: await buffer(response) });
    }).on("error", failed);
  });
}

/** Undefined on versions of Node.js without Zstandard. */
const zstd = zlib.zstdCompress === undefined ? undefined : "zstd";

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  br: zlib.brotliDecompressSync,
  gzip: zlib.gunzipSync,
  ...(zlib.zstdDecompressSync === undefined ? {} : { zstd: zlib.zstdDecompressSync }),
};

/** Values of `Accept-Encoding`, with the coding of a large and of a small response. */
const accepted: readonly (readonly [
  value: string | undefined,
  large?: string | undefined,
  small?: string | undefined,
])[] = [
  [undefined],
  [""],
  ["identity"],
  ["deflate, zstd", zstd],
  ["gzip, deflate, br, zstd", zstd ?? "br"],
  ["gzip, deflate, br", "br"],
  ["zstd;q=0, *;q=0.1", "br"],
  ["zstd;q=0.3, br;q=0.2, identity;q=0.1", zstd ?? "br"],
  ["zstd;q=0.2, identity;q=0.3"],
  ["zstd, identity;q=0", zstd, zstd],
  ["gzip", "gzip"],
  ["GZIP;q=0.5", "gzip"],
  ["br;q=0.5, gzip;q=0.8", "gzip"],
  ["br;q=0, *", zstd ?? "gzip"],
  ["br;q=0, zstd;q=0, *", "gzip"],
  ["*", zstd ?? "br"],
  ["*;q=0.5, gzip;q=0.1", zstd ?? "br"],
  ["identity;q=1, br;q=0.5"],
  ["br;q=0, gzip;q=0"],
  ["gzip, identity;q=0", "gzip", "gzip"],
  ["identity;q=0"],
  ["*;q=0"],
];

test("large responses are compressed as Accept-Encoding asks, with their length", async () => {
  for (const requested of ["/v1/listings?limit=50", path, "/docs/errors", "/healthz", "/docs/icon.png", "/v1/x"]) {
    const plain = await getEncoded(requested, undefined);
    const isLarge = plain.body.length >= compressedBytesMin;
    for (const [value, large, small] of accepted) {
      const { coding, headers, body } = await getEncoded(requested, value);
      const message = `${requested}: ${value}`;
      const expected = requested.endsWith(".png") ? undefined : isLarge ? large : small;
      assert.equal(coding, expected, message);
      assert.equal(headers["content-length"], String(body.length), message);
      const isNegotiated = requested.startsWith("/v1/listings");
      assert.equal(headers.vary, isNegotiated ? "Accept, Accept-Encoding" : "Accept-Encoding", message);
      assert.equal(headers["content-type"], plain.headers["content-type"], message);
      assert.equal(headers.etag, plain.headers.etag, message);
      if (requested !== "/v1/x") assert.deepEqual(decoders[coding ?? ""]?.(body) ?? body, plain.body, message);
      if (expected !== undefined && isLarge) assert.ok(body.length < plain.body.length / 3, message);
    }
  }
});

test("a compressed response revalidates with 304, without a coding", async () => {
  const tag = (await getEncoded(path, "br")).headers.etag ?? "";
  for (const coding of ["br", "gzip", "identity"]) {
    const answer = await getConditionally({ "If-None-Match": tag, "Accept-Encoding": coding });
    assert.deepEqual([answer.status, answer.etag, answer.isEmpty], [304, tag, true]);
  }
});

test("the document promises no version of the data for itself, and has none", async () => {
  const { headers } = await fetch(`${client.url}/v1/openapi.json`);
  assert.deepEqual(
    [headers.get("Carquet-Version"), Object.keys(operation("getDocument").responses[200]?.headers ?? {})],
    [null, ["X-Request-Id", "ETag"]],
  );
});
