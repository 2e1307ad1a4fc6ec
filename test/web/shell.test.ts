/** The web application over HTTP: assets, headers, who sees a page, and that pages are charged like their API requests. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import pino from "pino";
import { refuse } from "../../src/contract/errors.ts";
import type { AnswerOf } from "../../src/contract/types.ts";
import type { OperationRequest } from "../../src/operations/caller.ts";
import { PageRequests } from "../../src/web/shell/page-requests.ts";
import { type Customer, type CustomerOptions, createCustomer } from "../support/accounts.ts";
import { createLinkSecret } from "../support/http/forms.ts";
import { sampleService } from "../support/http/service.ts";

const { client } = await sampleService();
const cookie = `carquet-session=${await client.sessions.create({ accountId: client.customer.accountId })}`;

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${client.url}${path}`, { headers, redirect: "manual" });

/** Sends a request with headers that `fetch` sets itself. */
const send = (method: string, path: string, headers: Record<string, string>): Promise<Sent> =>
  new Promise((answered, failed) => {
    const sent = request(`${client.url}${path}`, { method, headers }, async (response) =>
      answered({ status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }),
    );
    sent.once("error", failed).end();
  });

interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Returns the micros that an account has been charged today. */
async function chargedMicros({ bearer }: Customer = client.customer): Promise<number> {
  const answer = await fetch(`${client.url}/v1/usage`, { headers: bearer });
  const { totals }: AnswerOf<"getUsage"> = await answer.json();
  return totals.charged_micros;
}

/** Creates an account, and returns it with the cookie of a browser that is signed in to it. */
async function signedInCustomer(options: CustomerOptions): Promise<readonly [Customer, { readonly Cookie: string }]> {
  const customer = await createCustomer(client.accounts, options);
  return [customer, { Cookie: `carquet-session=${await client.sessions.create({ accountId: customer.accountId })}` }];
}

test("an anonymous visitor sees the sign-in page and is charged nothing", async () => {
  const answer = await get("/");
  assert.equal(answer.status, 200);
  const page = await answer.text();
  assert.match(page, /<form[^>]* action="\/sign-in"/);
  assert.match(page, /href="\/docs"/);
  const forged = await get("/?make=honda", { Cookie: "carquet-session=forged" });
  assert.equal(forged.status, 401);
  assert.match(await forged.text(), /name="next" value="\/\?make=honda"/);
  assert.equal(await chargedMicros(), 0);
});

test("a page allows no inline code and no other host, and names assets that are cached forever", async () => {
  const answer = await get("/", { Cookie: cookie });
  const policy = answer.headers.get("Content-Security-Policy") ?? "";
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const page = await answer.text();
  assert.doesNotMatch(page, /<style|<script>| style=| on\w+=/);
  const paths = new Set([...page.matchAll(/(?:src|href)="(\/assets\/[^"#]+)/g)].map(([, path = ""]) => path));
  assert.equal(paths.size, 4);
  for (const path of paths) {
    const asset = await get(path);
    assert.equal(asset.status, 200, path);
    assert.equal(asset.headers.get("Cache-Control"), "public, max-age=31536000, immutable", path);
  }
  assert.equal((await get("/assets/other.js")).status, 404);
});

test("a page transfers less than 90 KB with its assets", async () => {
  const page = await get("/shop", { Cookie: cookie });
  const html = await page.text();
  const paths = new Set([...html.matchAll(/(?:src|href)="(\/assets\/[^"#]+)/g)].map(([, path = ""]) => path));
  const lengths = await Promise.all(
    ["/shop", ...paths].map(async (path) => {
      const sent = await send("GET", path, { Cookie: cookie, "Accept-Encoding": "br" });
      return Number(sent.headers["content-length"]);
    }),
  );
  assert.ok(lengths.length === 5 && lengths.every((length) => length > 0), lengths.join());
  assert.ok(lengths.reduce((sum, length) => sum + length, 0) < 90_000, lengths.join());
});

test("a page is charged for its API requests, and shows the sum", async () => {
  const [customer, headers] = await signedInCustomer({});
  const page = await (await get("/", headers)).text();
  const charged = await chargedMicros(customer);
  assert.ok(charged > 0);
  assert.ok(page.includes(`<span id="page-cost">$${(charged / 1_000_000).toFixed(3)}</span>`), `${charged} micros`);
});

test("a page shows and charges the signed-in account, even if its URL names another", async () => {
  const other = await createCustomer(client.accounts, { usd: "7" });
  const otherCookie = `carquet-session=${await client.sessions.create({ accountId: other.accountId })}`;
  const before = await chargedMicros();
  const page = await (await get("/shop", { Cookie: otherCookie, ...client.customer.bearer })).text();
  assert.match(page, /<span id="balance">\$6\.99<\/span>/);
  assert.equal(await chargedMicros(), before);
  for (const parameter of ["account", "account_id", "key", "identity"]) {
    const answer = await (await get(`/shop?${parameter}=${client.customer.accountId}`, { Cookie: otherCookie })).text();
    assert.match(answer, /role="alert"/, parameter);
  }
  assert.equal(await chargedMicros(), before);
});

test("a page refuses what its account may not do or cannot pay", async () => {
  const [poor, headers] = await signedInCustomer({ usd: "0.001" });
  const answer = await get("/", headers);
  assert.equal(answer.status, 402);
  assert.match(
    await answer.text(),
    /Your credit does not cover this page\.[\s\S]*\$0\.001 is left, and a request of this page costs \$0\.\d+\./,
  );
  assert.equal(await chargedMicros(poor), 0);
});

test("what is invalid of a view is not charged", async () => {
  await get("/shop", { Cookie: cookie });
  const before = await chargedMicros();
  for (const path of ["/shop?sort=bogus", "/shop?min_price=9&max_price=1", "/shop?view=table&min_price=none"]) {
    const page = await (await get(path, { Cookie: cookie })).text();
    assert.match(page, /role="alert"/, path);
    assert.match(page, /cannot be searched/, path);
  }
  assert.equal(await chargedMicros(), before);
});

test("a page whose parts cannot be paid shows the charged parts, and why the rest is missing", async () => {
  const { data } = await client.getBody("searchListings", "/v1/listings?limit=1");
  const { id, dealer_id } = data[0] ?? assert.fail();
  const views: readonly (readonly [path: string, usd: string, micros: number])[] = [
    ["/", "0.003", 3000],
    ["/shop", "0.004", 2000],
    [`/listings/${id}`, "0.009", 8000],
    [`/dealers/${dealer_id}`, "0.001", 1000],
  ];
  for (const [path, usd, micros] of views) {
    const [poor, headers] = await signedInCustomer({ usd });
    const answer = await get(path, headers);
    const page = await answer.text();
    assert.equal(answer.status, 200, path);
    assert.match(page, />Missing: [^<]+billing state/, path);
    assert.ok(page.includes(`<span id="page-cost">$${(micros / 1e6).toFixed(3)}</span>`), path);
    assert.equal(await chargedMicros(poor), micros, path);
  }
});

test("the cars that a question finds cost what understanding it cost too, and the page shows it", async () => {
  const [customer, opened] = await signedInCustomer({});
  const [finder, signedIn] = await signedInCustomer({});
  await get("/shop?make=Honda", opened);
  const micros = (await chargedMicros(customer)) + 100;
  const page = await (await get("/find?q=honda", signedIn)).text();
  assert.ok(page.includes('<link rel="canonical" href="/shop?make=Honda"/>'));
  assert.ok(page.includes(`<span id="page-cost">$${(micros / 1e6).toFixed(4)}</span>`));
  assert.equal(await chargedMicros(finder), micros);
});

test("a page counts as one request against the rate limits", async () => {
  const [slow, headers] = await signedInCustomer({ override: { per10s: 3, per60s: 3 } });
  for (const path of ["/shop?make=Toyota&inventory_type=used", "/", "/shop?view=table"])
    assert.equal((await get(path, headers)).status, 200, path);
  const refused = await get("/", headers);
  assert.equal(refused.status, 429);
  assert.match(refused.headers.get("Retry-After") ?? "", /^\d+$/);
  const direct = await fetch(`${client.url}/v1/listings`, { headers: slow.bearer });
  assert.equal(direct.status, 429);
});

test("a signed-out browser sees no page", async () => {
  const secret = String(await client.sessions.create({ accountId: client.customer.accountId }));
  const headers = { Cookie: `carquet-session=${secret}` };
  assert.match(await (await get("/", headers)).text(), /Know what a car/);
  await client.sessions.end(secret);
  assert.match(await (await get("/", headers)).text(), /action="\/sign-in"/);
});

test("requests that show nothing to a visitor are refused, and charge nothing", async () => {
  const { accountId } = client.customer;
  const token = await createLinkSecret(client.accounts, accountId, "sign_in");
  const before = await chargedMicros();
  const navigation = { "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
  const refused: readonly Record<string, string>[] = [
    { "Sec-Purpose": "prefetch" },
    { "Sec-Purpose": "prefetch;prerender", "Sec-Fetch-Site": "none", ...navigation },
    { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image" },
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty" },
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe" },
  ];
  for (const headers of refused)
    for (const path of ["/", `/sign-in?token=${token}`])
      for (const method of ["GET", "HEAD"]) {
        const answer = await send(method, path, { ...headers, Cookie: cookie });
        assert.equal(answer.status, 403, JSON.stringify(headers));
      }
  assert.equal(await chargedMicros(), before);
  for (const path of ["/shop?make=Honda", "/find?q=civic", "/find?q=%3Cb%3E"]) {
    const asked = await send("GET", path, { "Sec-Fetch-Site": "cross-site", ...navigation, Cookie: cookie });
    assert.equal(asked.status, 200);
    assert.ok(asked.text.includes("charged to your account") && asked.text.includes(`href="${path}"`), asked.text);
  }
  assert.equal(await chargedMicros(), before);
  const shown: readonly Record<string, string>[] = [
    { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty" },
    { "Sec-Fetch-Site": "none", ...navigation },
  ];
  for (const headers of shown) assert.equal((await send("GET", "/", { ...headers, Cookie: cookie })).status, 200);
  assert.equal((await send("GET", `/sign-in?token=${token}`, {})).status, 200, "the link has not been used");
});

test("marks of direction in texts end with their element", async () => {
  const page = await send("GET", "/sign-in", {});
  const [, path = ""] = /href="(\/assets\/style-\w+\.css)"/.exec(page.text) ?? [];
  const style = await send("GET", path, {});
  assert.match(style.text, /[{}]\*,[^{}]*\{[^}]*unicode-bidi:isolate/, "every element");
});

test("browsers see errors as pages, other clients as JSON, and 405 names the methods of the path", async () => {
  const browser = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  const cases: readonly (readonly [method: string, path: string, status: number, allow?: string])[] = [
    ["GET", "/nothing", 404],
    ["GET", "/docs/nothing", 404],
    ["GET", "/account/cap", 405, "OPTIONS, POST"],
    ["GET", "/sign-out", 405, "OPTIONS, POST"],
    ["PUT", "/sign-in", 405, "GET, HEAD, OPTIONS, POST"],
    ["POST", "/account", 405, "GET, HEAD, OPTIONS"],
    ["POST", "/nothing", 404],
  ];
  for (const [method, path, status, allow] of cases) {
    const page = await send(method, path, { ...browser, Cookie: cookie });
    const other = await send(method, path, {});
    assert.deepEqual([page.status, page.headers.allow], [status, allow], path);
    assert.match(page.text, /^<!doctype html>.*<a href="\/account">/s, path);
    assert.deepEqual([other.status, other.headers.allow], [status, allow], path);
    assert.equal(JSON.parse(other.text).error.code, status === 404 ? "not_found" : "method_not_allowed", path);
  }
  for (const path of ["/v1/nothing", "/v1/listings", "/mcp/nothing", "/oauth/nothing", "/.well-known/nothing"])
    assert.equal(JSON.parse((await send("GET", path, browser)).text).error.code.length > 0, true, path);
});

test("the operator's view answers other accounts alike, whether a page exists or not", async () => {
  for (const headers of [{ Cookie: cookie }, {}, { Cookie: cookie, Accept: "text/html" }]) {
    const [page, ...others] = await Promise.all(
      ["/operate", "/operate/nothing", "/operate/accounts", "/operate/"].map(async (path) => {
        const { status, text } = await send("GET", path, headers);
        return { status, text: text.replaceAll(encodeURIComponent(path), "").replaceAll(path, "") };
      }),
    );
    assert.equal(page?.status, "Cookie" in headers ? 404 : 401);
    for (const other of others) assert.deepEqual(other, page);
  }
});

test("of the requests of a page, the order is that in which they were sent, and the first after the look-ups is its own", async () => {
  const answers: (() => void)[] = [];
  const callOperation = async ({ path, querystring }: OperationRequest) => {
    await new Promise<void>((answer) => answers.push(answer));
    if (path === "/v1/dealers") throw refuse("overloaded", {});
    return { body: {}, requestId: path, micros: 7, querystring };
  };
  const context = {
    state: { requestId: "r", arrivedAtMs: 0, log: pino({ level: "silent" }) },
    res: new EventEmitter(),
  };
  const requests = new PageRequests(
    ((_: unknown, request: OperationRequest) => callOperation(request)) as never,
    context as never,
    { identity: {} } as never,
  );
  const vin = requests.call("getVin", { include: "options" }, { vin: "1HGCM82633A004352" });
  requests.endLookUp();
  const refused = ["totals", "totals"].map((part) => requests.loadPart(part, () => requests.call("searchDealers", {})));
  const others = [requests.call("searchListings", { make: "Kia" }), requests.call("getFacets", { facets: "make" })];
  for (const answer of answers.toReversed()) {
    answer();
    await nextTurn();
  }
  await Promise.all([vin, ...refused, ...others]);
  const pathsOf = requests.charged.map(({ path }) => path);
  assert.deepEqual(pathsOf, ["/v1/vins/1HGCM82633A004352", "/v1/listings", "/v1/facets"]);
  assert.equal(requests.main?.path, "/v1/listings");
  assert.equal(requests.micros, 21);
  assert.equal(requests.charged[0]?.buildPath, "/docs/get-vin?vin=1HGCM82633A004352&include=options");
  assert.deepEqual([requests.missing.map(({ name }) => name), requests.hasInvalid], [["totals"], false]);
  for (const cap of ["1", "2"])
    await requests.loadPart("trends", async () => {
      throw refuse("monthly_spend_cap_exceeded", { cap });
    });
  assert.match(requests.unpaid?.message ?? "", /cap of 1 USD/);
});
