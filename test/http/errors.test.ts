/** Errors over HTTP: status, type, tag, message and headers. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { type ErrorCode, errors } from "../../src/contract/errors.ts";
import { headerBytesMax, uriBytesMax } from "../../src/http/limits.ts";
import { getOperations, minimalRequest } from "../support/examples.ts";
import { exchangeRaw } from "../support/http/raw-http.ts";
import { assertMatchesDocument, sampleService, startService } from "../support/http/service.ts";
import { createLake, smallDisk } from "../support/lakes/lakes.ts";

const { client } = await sampleService();

interface Raw {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends a request verbatim, without the normalization of `fetch`. */
function send(method: string, path: string, others: Record<string, string> = {}): Promise<Raw> {
  const { hostname, port } = new URL(client.url);
  const headers = { ...client.customer.bearer, ...others };
  return new Promise((answered, failed) => {
    const sent = request({ hostname, port, path, method, headers, agent: false }, async (response) => {
      const pairs = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
      answered({ status: response.statusCode ?? 0, headers: new Headers(pairs), text: await text(response) });
    });
    sent.on("error", failed);
    sent.end();
  });
}

/** Fails unless an answer is exactly this error: status, type, tag, message and headers. */
function assertError({ status, headers, text: body }: Raw, code: ErrorCode, message?: RegExp): void {
  const [expected, type, tag] = errors[code];
  assert.equal(status, expected, body);
  const { _tag, error, ...more } = JSON.parse(body);
  const { message: errorMessage, ...rest } = error;
  assert.deepEqual({ _tag, rest, more }, { _tag: tag, rest: { type, code }, more: {} });
  assert.match(errorMessage, message ?? /./);
  assert.doesNotMatch(body, / {4}at |\.ts\b|node_modules|\{\w+\}|undefined/);
  assert.equal(headers.get("Content-Type"), "application/json; charset=utf-8");
  assert.equal(headers.get("Cache-Control"), "no-store");
  assert.equal(headers.get("Allow"), expected === 405 ? "GET, HEAD, OPTIONS" : null);
  assert.match(headers.get("X-Request-Id") ?? "", /^[\w-]{16,}$/);
}

const refused: readonly (readonly [path: string, code: ErrorCode, message: RegExp])[] = [
  ["/v1/listings?mak=Kia", "unknown_query_parameter", /^Unknown query parameter mak\. Did you mean make\?$/],
  ["/v1/listings?limit=101", "invalid_parameter_value", /^Invalid value 101 for limit: expected /],
  ["/v1/listings?limit=1&limit=2", "repeated_parameter", /^Parameter limit appears 2 times: /],
  ["/v1/listings?min_price=2&max_price=1", "incompatible_parameters", /^min_price and max_price cannot be combined: /],
  ["/v1/listings?snapshot_date=2020-01-01", "snapshot_unavailable", /^No snapshot for snapshot_date 2020-01-01: /],
  [
    "/v1/changes?since=2020-01-01.1",
    "version_unavailable",
    /^No version "2020-01-01.1" for since: expected a kept version, from /,
  ],
  ["/v1/facets", "missing_parameter", /^Missing parameter facets: /],
  ["/v1/vins/NOT-A-VIN", "invalid_parameter_value", /^Invalid value "NOT-A-VIN" for vin: /],
  ["/v1/listings?make=%zz", "invalid_parameter_value", /^Invalid value "%zz" for make: expected percent-encoded/],
  ["/v1/listings?%zz=1", "unknown_query_parameter", /^Unknown query parameter %zz\.$/],
];

for (const [path, code, message] of refused) {
  test(`${path} is answered with ${errors[code][0]} ${code}`, async () => {
    const raw = await send("GET", path);
    assertError(raw, code, message);
    assertMatchesDocument(path, { status: raw.status, headers: raw.headers, body: JSON.parse(raw.text) });
  });
}

const keys = [
  "api_key",
  "apiKey",
  "key",
  "access_token",
  "API_KEY",
  "Apikey",
  "KEY",
  "aPi%5FkEy",
  "%6Bey",
  "access%5ftoken",
];

for (const operation of getOperations) {
  test(`a key in the query of ${operation.path} is refused before any other fault`, async () => {
    const min = minimalRequest(operation);
    for (const key of keys) {
      for (const path of [
        `${min}${min.includes("?") ? "&" : "?"}${key}=cq_live_1`,
        `${operation.path}?limit=&nonsense=1&limit=%zz&${key}`,
      ]) {
        const raw = await send("GET", path);
        assertError(
          raw,
          "query_string_api_key_rejected",
          new RegExp(`^API key in query parameter ${decodeURIComponent(key)}: `),
        );
        assert.doesNotMatch(raw.text, /cq_live_1/);
        assertMatchesDocument(path, { status: raw.status, headers: raw.headers, body: JSON.parse(raw.text) });
      }
    }
  });
}

test("a parameter whose name only resembles that of a key is an unknown parameter", async () => {
  for (const name of ["keys", "api-key", "token", "%20key"])
    assertError(await send("GET", `/v1/listings?${name}=1`), "unknown_query_parameter");
});

const unknownPaths = [
  "/v1",
  "/v1/",
  "/v2/listings",
  "/v1/nowhere",
  "/v1/listings/a/b",
  "/v1/dealers/x/nothing",
  "//v1/listings",
  "/%",
  "/v1/%2e%2e/x",
  "/robots.txt",
];

for (const path of unknownPaths) {
  test(`${path} is not found`, async () => {
    assertError(await send("GET", path), "not_found", /^No resource \//);
  });
}

for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
  test(`${method} is not allowed, and the answer names the allowed methods`, async () => {
    for (const path of ["/v1/listings", "/v1/openapi.json", "/v1/listings?api_key=1"])
      assertError(await send(method, path), "method_not_allowed", new RegExp(`^Method ${method} is not allowed: `));
    assertError(await send(method, "/v1/nowhere"), "not_found");
  });
}

test("every answer has its own request id, errors and successes alike", async () => {
  const paths = [
    "/v1/listings?limit=1",
    "/v1/listings?limit=0",
    "/v1/nowhere",
    "/v1/openapi.json",
    "/healthz",
    "/readyz",
    "/v1/facets?facets=make",
  ];
  const answers = await Promise.all([...paths, ...paths, ...paths].map((path) => send("GET", path)));
  const ids = answers.map(({ headers }) => headers.get("X-Request-Id"));
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(!ids.includes(null));
});

test("a request id sent by a client is answered, and is not the id of the charge", async () => {
  const { headers } = await send("GET", "/v1/listings?limit=1", { "X-Request-Id": "mine" });
  assert.equal(headers.get("X-Request-Id"), "mine");
});

test("answers with data are private: only the client's own cache may store them, and must revalidate them", async () => {
  const { status, headers } = await send("GET", "/v1/listings?limit=1");
  assert.deepEqual([status, headers.get("Cache-Control")], [200, "private, no-cache"]);
  assert.equal(headers.get("Content-Type"), "application/json; charset=utf-8");
});

test("a path and query, or headers, beyond their maximum are refused with an error of the document", async () => {
  const uri = "a".repeat(uriBytesMax);
  const header = "a".repeat(headerBytesMax);
  for (const [sent, status, code] of [
    [[`GET /v1/listings?make=${uri} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`], 414, "uri_too_long"],
    [[`GET /v1/${uri} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`], 414, "uri_too_long"],
    [[`GET /v1/listings?make=${header} HTTP/1.1\r\nHost: x\r\n\r\n`], 414, "uri_too_long"],
    [[`GET /v1/listings?make=${header}${header}${header}${header}`, " HTTP/1.1\r\n\r\n"], 414, "uri_too_long"],
    [[`GET /v1/listings HTTP/1.1\r\nHost: x\r\nX-Filler: ${header}\r\n\r\n`], 431, "headers_too_large"],
    [[`GET /v1/listings HTTP/1.1\r\nHost: x\r\nCookie: ${"a=1; ".repeat(20_000)}\r\n\r\n`], 431, "headers_too_large"],
  ] as const) {
    const [head = "", body = ""] = (await exchangeRaw(client.url, ...sent)).split("\r\n\r\n");
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
    const headers = new Headers(
      head
        .split("\r\n")
        .slice(1)
        .map((line) => line.split(": ", 2) as [string, string]),
    );
    assert.deepEqual([headers.get("Connection"), headers.get("Cache-Control")], ["close", "no-store"]);
    assert.equal(headers.get("Content-Type"), "application/json; charset=utf-8");
    assertMatchesDocument("/v1/listings", { status, headers, body: JSON.parse(body) });
    assert.equal(JSON.parse(body).error.code, code);
  }
});

test("a malformed URL with a scheme is not found", async () => {
  for (const url of ["http://[::1/v1/listings", "http://x:y/v1/listings", "http://", "x"]) {
    const received = await exchangeRaw(client.url, `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    assert.match(received, /^HTTP\/1\.1 (404 .*"not_found"|400 )/s, url);
  }
});

test("a request that is too long is refused after the response before it", async () => {
  const first = "GET /v1/listings?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n";
  const received = await exchangeRaw(client.url, first, `GET /v1/${"a".repeat(headerBytesMax)} HTTP/1.1\r\n\r\n`);
  assert.match(received, /^HTTP\/1\.1 401 .*"missing_api_key".*HTTP\/1\.1 414 .*"uri_too_long"/s);
});

test("a full disk is named in the refusal of formats that need it, and no other is refused", async (t) => {
  const disk = await smallDisk(t, "4k");
  if (disk === undefined) return t.skip("mounting a tmpfs needs root");
  const folder = process.env.TMPDIR;
  t.after(() => {
    if (folder === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = folder;
  });
  const full = await startService(t, (await createLake(t)).lake);
  process.env.TMPDIR = disk;
  const path = `${full.url}/v1/listings?limit=100&fields=default,features`;
  const answers = (["json", "arrow", "csv", "ndjson", "parquet"] as const).map(async (format) => {
    const response = await fetch(`${path}&format=${format}`, { headers: full.customer.bearer });
    return [format, response.status, response.ok ? "" : (await response.text()).includes("No disk space is left")];
  });
  assert.deepEqual(await Promise.all(answers), [
    ["json", 200, ""],
    ["arrow", 200, ""],
    ["csv", 200, ""],
    ["ndjson", 200, ""],
    ["parquet", 503, true],
  ]);
});
