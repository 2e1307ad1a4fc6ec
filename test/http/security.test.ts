/** The OWASP API Security Top 10 of 2023, as tests. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { describe, test } from "node:test";
import { type ApiScope, createKey, scopes } from "../../src/accounts/keys/keys.ts";
import { isObject } from "../../src/base/json.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { operations } from "../../src/contract/document.ts";
import { headersMax } from "../../src/http/service/http-server.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { getOperations, minimalRequest } from "../support/examples.ts";
import { exchangeRaw } from "../support/http/raw-http.ts";
import { type Answer, startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const client = await startService(fileScope, lake, { headersTimeoutMs: 2_000 });
const mine = await createCustomer(client.accounts);
const theirs = await createCustomer(client.accounts);

const needKey = getOperations.filter(({ scope }) => scope !== undefined);

/** Yields all keys and texts in a value, at any depth. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isObject(value))
    for (const [key, item] of Object.entries(value)) {
      yield key;
      yield* textsIn(item);
    }
}

/** The identifiers of an account that no other account may see. */
const identifiersOf = ({ accountId, key, keyId }: typeof mine): readonly string[] => [
  accountId,
  keyId,
  key,
  key.slice(-43),
];

function assertContainsNone(answer: Answer, forbidden: readonly string[]): void {
  const text = [...textsIn(answer.body), ...[...answer.headers].flat()].join("\n");
  for (const word of forbidden) assert.ok(!text.includes(word), word);
}

describe("API1, broken object level authorisation", () => {
  for (const operation of getOperations) {
    test(`${operation.id} never shows data of another account`, async () => {
      const min = minimalRequest(operation);
      for (const more of [
        "",
        `account_id=${theirs.accountId}`,
        `account=${theirs.accountId}`,
        `key_id=${theirs.keyId}`,
      ]) {
        const path = more === "" ? min : `${min}${min.includes("?") ? "&" : "?"}${more}`;
        const headers = { ...mine.bearer, "X-Account-Id": theirs.accountId, Cookie: `account=${theirs.accountId}` };
        const answer = await client.get(path, headers);
        if (more !== "") assert.equal(answer.status, 400, path);
        assertContainsNone(answer, more === "" ? identifiersOf(theirs) : identifiersOf(theirs).slice(2));
      }
    });
  }

  test("usage covers only the requesting account", async () => {
    const customer = await createCustomer(client.accounts);
    const other = await createCustomer(client.accounts);
    await client.get("/v1/listings?limit=1", customer.bearer);
    for (let times = 0; times < 3; times += 1) await client.get("/v1/listings?limit=1", other.bearer);
    for (const [sender, requests] of [
      [customer, 1],
      [other, 3],
    ] as const) {
      const { body } = await client.get("/v1/usage", sender.bearer);
      assert.equal((body as { totals: { requests: number } }).totals.requests, requests);
    }
  });

  for (const path of [
    "/v1/accounts",
    `/v1/accounts/${theirs.accountId}`,
    "/v1/keys",
    `/v1/usage/${theirs.accountId}`,
  ]) {
    test(`${path.replace(theirs.accountId, "{account}")} is not found`, async () => {
      assert.equal((await client.get(path, mine.bearer)).status, 404);
    });
  }
});

describe("API2, broken authentication", () => {
  for (const { id, ...operation } of needKey) {
    test(`${id} needs a valid key`, async () => {
      const path = minimalRequest({ id, ...operation });
      const forged = mine.key.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
      const mixed = `cq_live_${mine.keyId}_${theirs.key.slice(-43)}`;
      const wrong = ["", `Bearer ${forged}`, `Bearer ${mixed}`];
      const malformed = [
        "Bearer null",
        `Basic ${mine.key}`,
        mine.key,
        `Token ${mine.key}`,
        `Bearer ${mine.key} ${mine.key}`,
        `Bearer ${mine.keyId}`,
      ];
      for (const Authorization of [...wrong, ...(id === needKey[0]?.id ? malformed : [])]) {
        const { status, headers, body } = await client.get(path, { Authorization });
        assert.equal(status, 401, Authorization);
        const { code } = (body as { error: { code: string } }).error;
        const challenge = code === "missing_api_key" ? "Bearer" : 'Bearer error="invalid_token"';
        assert.equal(headers.get("WWW-Authenticate"), challenge);
        assert.ok(!JSON.stringify(body).includes(mine.keyId));
      }
    });
  }

  test("a wrong secret and an unknown key get the same answer", async () => {
    const unknown = `cq_live_0000000000000000_${mine.key.slice(-43)}`;
    const answers = await Promise.all(
      [unknown, `cq_live_${mine.keyId}_${theirs.key.slice(-43)}`, "nonsense"].map(async (key) => {
        const { body } = await client.get("/v1/usage", { Authorization: `Bearer ${key}` });
        return JSON.stringify(body);
      }),
    );
    assert.equal(new Set(answers).size, 1);
  });
});

test("API3, broken object property level authorisation: no answer has internal fields", async () => {
  const forbidden = ["sha256", "email", "buyer@dealers.example", "balance_micros", "account_id", "per_10s"];
  for (const operation of getOperations) {
    if (operation.id === "getDocument") continue;
    assertContainsNone(await client.get(minimalRequest(operation), mine.bearer), [
      ...forbidden,
      ...identifiersOf(mine),
    ]);
  }
});

describe("API4, unrestricted resource consumption", () => {
  test("an incomplete request times out", async () => {
    const response = await exchangeRaw(client.url, "GET /v1/listings HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    assert.match(response, /^HTTP\/1\.1 408 /);
  });

  test("bytes that are not HTTP are refused without internal details", async () => {
    const response = await exchangeRaw(client.url, "nonsense\r\n\r\n");
    assert.match(response, /^HTTP\/1\.1 400 /);
    assert.doesNotMatch(response, /Error|at |\.ts/);
  });

  test("a request body is not read: the answer ends the connection", async () => {
    const head = `GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n`;
    const response = await exchangeRaw(client.url, head, "x".repeat(1000));
    assert.match(response, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(response, /\r\nConnection: close\r\n/);
  });

  test("a request whose body is malformed gets a response, and its connection ends", async () => {
    const head = `POST /v1/searches HTTP/1.1\r\nHost: x\r\nAuthorization: ${mine.bearer.Authorization}\r\n`;
    for (const chunk of ["-1\r\n", "2\r\n{}}\r\n"]) {
      const response = await exchangeRaw(client.url, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`);
      assert.match(response, /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/);
    }
  });

  for (const [headers, status] of [
    ["Transfer-Encoding: gzip, chunked", 400],
    ["Transfer-Encoding: Chunked", 200],
    ["Transfer-Encoding: chunked, chunked", 400],
    ["Transfer-Encoding: x-gzip\r\nTransfer-Encoding: chunked", 400],
    ["Transfer-Encoding: identity, chunked", 400],
    ["Transfer-Encoding: gzip", 400],
    ["Transfer-Encoding: chunked\r\nContent-Encoding: gzip", 400],
    ["Content-Length: 11\r\nContent-Encoding: GZip", 400],
    ["Content-Length: 11\r\nContent-Encoding: identity, br", 400],
    ["Content-Length: 11\r\nContent-Encoding: Identity", 200],
  ] as const)
    test(`a body with ${headers.replace("\r\n", ", ")} gets ${status}`, async () => {
      const head = `POST /v1/searches HTTP/1.1\r\nHost: x\r\nAuthorization: ${mine.bearer.Authorization}\r\n`;
      const body = '{"name":"a","query":"make=honda"}';
      const sent = headers.includes("hunked") ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
      const response = await exchangeRaw(
        client.url,
        `${head}${headers.replace("11", String(body.length))}\r\n\r\n${sent}`,
      );
      assert.match(response, new RegExp(`^HTTP/1\\.1 ${status} `));
    });

  test("a request with an unknown expectation passes all steps", async () => {
    const head = "GET /v1/usage HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 200-ok\r\n\r\n";
    const response = await exchangeRaw(client.url, head);
    assert.match(response, /^HTTP\/1\.1 401 /);
    assert.match(response, /\r\nX-Request-Id: .*"code":"missing_api_key"/s);
  });

  test("headers beyond the maximum are ignored", async () => {
    const many = Array.from({ length: headersMax + 20 }, (_, index) => `X-${index}: 1\r\n`).join("");
    const response = await exchangeRaw(
      client.url,
      `GET /v1/usage HTTP/1.1\r\nConnection: close\r\n${many}Authorization: ${mine.bearer.Authorization}\r\n\r\n`,
    );
    assert.match(response, /^HTTP\/1\.1 4\d\d /);
  });
});

describe("API5, broken function level authorisation", () => {
  const keyWith = async (granted: readonly ApiScope[]): Promise<string> =>
    (
      await inAccountsFile(client.accounts, (database) =>
        createKey(database, { accountId: mine.accountId, scopes: granted, atMs: 0 }),
      )
    ).key;
  for (const granted of scopes) {
    test(`a key for ${granted} opens the operations of that scope only`, async () => {
      const Authorization = `Bearer ${await keyWith([granted])}`;
      for (const operation of needKey) {
        const { status, headers, body } = await client.get(minimalRequest(operation), { Authorization });
        assert.equal(status === 403, operation.scope !== granted, operation.id);
        if (status !== 403) continue;
        assert.equal((body as { error: { code: string } }).error.code, "missing_scope");
        assert.match(JSON.stringify(body), new RegExp(`lacks the scope ${operation.scope}`));
        assert.equal(headers.get("WWW-Authenticate"), 'Bearer error="insufficient_scope"');
      }
    });
  }

  for (const method of ["POST", "PUT", "PATCH", "DELETE", "TRACE"]) {
    test(`${method} is refused where only GET is`, async () => {
      for (const operation of getOperations.filter(({ id }) => id !== "listSearches")) {
        const { hostname, port } = new URL(client.url);
        const status = await new Promise<number | undefined>((answered, failed) => {
          const sent = request(
            { hostname, port, path: minimalRequest(operation), method, headers: mine.bearer },
            (response) => {
              response.resume();
              answered(response.statusCode);
            },
          );
          sent.on("error", failed).end();
        });
        assert.equal(status, 405, operation.id);
      }
    });
  }
});

const words =
  "listings vins facets groups suggest interpret trends dealers exports sql usage openapi.json comparables valuations depreciation changes searches";

test("API6, unrestricted access to sensitive flows: nothing can be bought, and only searches created over HTTP", () => {
  assert.deepEqual(new Set([...operations.values()].map(({ path }) => path.split("/")[2])), new Set(words.split(" ")));
});

/** Client modules run in browsers, one module shows code to clients, one fetches from public addresses; commands copy lakes, fetch feeds and check their sources. */
const senders =
  /^(web\/client\/|web\/explorer\/api-requests|http\/service\/public-requests|replication\/|sources\/|connectors\/|cli\/.*(check|feeds\/(fetch|run)|follow|push|replication))/;

/** All other source files of the product. */
const sources = readdirSync(projectPath("src"), { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path) && !senders.test(path))
  .map((path) => readFileSync(projectPath(`src/${path}`), "utf8"));

test("API7 and API10, forged requests and trust in other services: one module sends requests, to public addresses only", () => {
  const calls =
    /(?<!handler\.)\bfetch\(|\bhttps?\.(get|request)\(|import \{[^}]*\b(get|request)\b[^}]*\} from "node:https?"|from "(undici|axios|got)"|node:dgram/;
  for (const source of sources) {
    assert.doesNotMatch(source, calls);
    assert.doesNotMatch(source, /from "[^"]*\/(replication|sources|connectors)\//);
  }
});

describe("API8, security misconfiguration", () => {
  test("every answer has the security headers", async () => {
    for (const path of [
      "/v1/listings?limit=1",
      "/v1/listings?limit=0",
      "/v1/nowhere",
      "/healthz",
      "/v1/openapi.json",
    ]) {
      const { headers } = await client.get(path);
      assert.equal(headers.get("X-Content-Type-Options"), "nosniff", path);
      assert.match(headers.get("Content-Security-Policy") ?? "", /default-src 'none'/);
      assert.equal(headers.get("X-Frame-Options"), "DENY");
      assert.equal(headers.get("Referrer-Policy"), "no-referrer");
      assert.equal(headers.get("Access-Control-Allow-Origin"), null);
      assert.equal(headers.get("Server"), null);
      assert.equal(headers.get("X-Powered-By"), null);
      assert.equal(headers.get("Strict-Transport-Security"), null, "plain HTTP must not send it");
    }
  });

  test("no shared cache may store answers of accounts", async () => {
    for (const [path, cacheControl] of [
      ["/v1/listings?limit=1", "private, no-cache"],
      ["/v1/usage", "private, no-store"],
    ] as const)
      assert.equal((await client.get(path)).headers.get("Cache-Control"), cacheControl);
  });

  test("hostile values are refused or match nothing, and reveal nothing internal", async () => {
    const hostile = [
      "'",
      "';--",
      "%00",
      "../../etc/passwd",
      "<script>",

      "__proto__",
      "constructor",
      "🚗",
      "a".repeat(200),
    ];
    for (const operation of needKey)
      for (const value of hostile) {
        const path = minimalRequest(operation).replace(
          /(dealers|vins|listings)\/[^/?]+/,
          `$1/${encodeURIComponent(value)}`,
        );
        const { status, body } = await client.get(
          `${path}${path.includes("?") ? "&" : "?"}${encodeURIComponent(value)}=1`,
        );
        assert.ok([400, 404].includes(status), `${path} ${status}`);
        assert.doesNotMatch(JSON.stringify(body), / {4}at |\.ts\b|node_modules|SELECT|sqlite/i);
      }
  });
});

test("API9, improper inventory management: only documented paths answer", async () => {
  for (const operation of getOperations) {
    const { status } = await client.get(minimalRequest(operation));
    assert.ok(status !== 404 || operation.path.includes("{"), operation.id);
  }
  for (const path of ["/v0/listings", "/v2/listings", "/listings", "/v1/admin", "/v1/debug", "/.env", "/.git/config"])
    assert.equal((await client.get(path)).status, 404, path);
});
