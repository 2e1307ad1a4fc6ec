/** Preconditions in the order of RFC 9110: what a client has is a 304, what it demands and is not there a 412, and neither is charged. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { createCustomer } from "../../support/accounts.ts";
import { assertMatchesDocument, sampleService } from "../../support/http/service.ts";

const { client } = await sampleService();
const customer = await createCustomer(client.accounts, { scopes: ["inventory.read", "export.read", "usage.read"] });

interface Response {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Sends a request with its headers only: `fetch` adds some to conditional ones. */
const send = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
  new Promise((resolve, reject) => {
    const options = { method, headers: { ...customer.bearer, ...headers } };
    const sent = request(`${client.url}${path}`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("latin1");
        const { statusCode: status = 0, headers: received } = response;
        if (method === "GET" && received["content-type"]?.startsWith("application/json") === true)
          assertMatchesDocument(path, { status, headers: new Headers(Object(received)), body: JSON.parse(text) });
        resolve({ status, headers: received, text });
      });
    });
    sent.on("error", reject).end();
  });

const chargedMicros = async (): Promise<number> => JSON.parse((await send("/v1/usage")).text).totals.charged_micros;

const past = "Sun, 06 Nov 1994 08:49:37 GMT";
const future = "Fri, 06 Nov 2093 08:49:37 GMT";

/** Conditions with the status that they lead to, for a resource whose tag is weak (`W/$`), or strong (`$`). */
const cases: readonly (readonly [headers: Readonly<Record<string, string>>, weak: number, strong: number])[] = [
  [{}, 200, 200],
  [{ "If-None-Match": "*" }, 304, 304],
  [{ "If-None-Match": "$" }, 304, 304],
  [{ "If-None-Match": "W/$" }, 304, 304],
  [{ "If-None-Match": '"a, b", W/"c",$' }, 304, 304],
  [{ "If-None-Match": '"other", W/"another"' }, 200, 200],
  [{ "If-None-Match": "nonsense" }, 200, 200],
  [{ "If-Match": "*" }, 200, 200],
  [{ "If-Match": "$" }, 412, 200],
  [{ "If-Match": '"x", $' }, 412, 200],
  [{ "If-Match": "W/$" }, 412, 412],
  [{ "If-Match": '"other"' }, 412, 412],
  [{ "If-Match": "*", "If-None-Match": "$" }, 304, 304],
  [{ "If-Match": '"other"', "If-None-Match": "$" }, 412, 412],
  [{ "If-Match": "$", "If-None-Match": '"other"' }, 412, 200],
  [{ "If-Modified-Since": future }, 200, 200],
  [{ "If-Unmodified-Since": past }, 200, 200],
  [{ "If-None-Match": '"other"', "If-Modified-Since": future }, 200, 200],
  [{ "If-None-Match": "$", "If-Modified-Since": past }, 304, 304],
];

const resources = [
  ["/v1/listings?limit=1", "weak"],
  ["/v1/facets?facets=make&format=csv", "weak"],
  ["/v1/openapi.json", "weak"],
  ["/v1/exports?format=csv&make=toyota", "strong"],
] as const;

for (const [path, kind] of resources)
  for (const method of ["GET", "HEAD"])
    test(`${method} ${path} obeys preconditions, and charges for a 200 alone`, async () => {
      const tag = String((await send(path)).headers.etag);
      assert.equal(tag.startsWith("W/"), kind === "weak");
      for (const [headers, weak, strong] of cases) {
        const before = await chargedMicros();
        const sent = Object.entries(headers).map(([name, text]) => [name, text.replace("$", tag.replace("W/", ""))]);
        const { status, headers: received, text } = await send(path, Object.fromEntries(sent), method);
        const place = JSON.stringify(headers);
        assert.equal(status, kind === "weak" ? weak : strong, place);
        if (status === 304)
          assert.deepEqual([received.etag, text, received["content-type"]], [tag, "", undefined], place);
        if (status === 412 && method === "GET") assert.equal(JSON.parse(text).error.code, "precondition_failed");
        const charge = path.startsWith("/v1/exports") || path.endsWith(".json") || status !== 200 ? 0 : 1;
        assert.equal((await chargedMicros()) > before, charge === 1, place);
        if (status !== 200) assert.equal(received["x-usage-class"], undefined, place);
      }
    });

test("an account without credit learns whether a listing exists, and what has not changed", async () => {
  const { bearer } = await createCustomer(client.accounts, { usd: "0" });
  for (const [headers, status] of [
    [{ "If-None-Match": "*" }, 304],
    [{ "If-Match": '"other"' }, 412],
    [{}, 402],
  ] as const)
    assert.equal(
      (await send("/v1/listings?limit=1", { ...bearer, ...headers })).status,
      status,
      JSON.stringify(headers),
    );
});

test("preconditions are ignored where the answer is an error", async () => {
  for (const headers of [{ "If-None-Match": "*" }, { "If-Match": '"other"' }]) {
    assert.equal((await send("/v1/listings/ffffffffffffffffffffffffffffffff", headers)).status, 404);
    assert.equal((await send("/v1/listings?limit=0", headers)).status, 400);
    assert.equal((await send("/v1/exports?make=", headers)).status, 400);
    assert.equal((await send("/v1/listings?limit=1", { ...headers, Authorization: "" })).status, 401);
  }
});

test("a part of an export is sent for its strong tag alone", async () => {
  const path = "/v1/exports?format=csv&make=toyota";
  const { headers, text } = await send(path);
  const tag = String(headers.etag);
  const part = { Range: "Bytes=0-9" };
  const ranges: readonly (readonly [Record<string, string>, number])[] = [
    [part, 206],
    [{ ...part, "If-Range": tag }, 206],
    [{ ...part, "If-Range": `W/${tag}` }, 200],
    [{ ...part, "If-Range": '"other"' }, 200],
    [{ ...part, "If-Range": future }, 200],
    [{ ...part, "If-Match": tag }, 206],
    [{ ...part, "If-Match": '"other"' }, 412],
    [{ ...part, "If-None-Match": tag }, 304],
    [{ "If-Range": tag }, 200],
  ];
  for (const [sent, status] of ranges) {
    const answer = await send(path, sent);
    assert.equal(answer.status, status, JSON.stringify(sent));
    if (status === 206) assert.equal(answer.text, text.slice(0, 10));
  }
});
