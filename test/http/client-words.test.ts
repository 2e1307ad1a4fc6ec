/** Words of clients that every object has as properties, such as `constructor`: values and names like others, on every surface. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pino from "pino";
import { applyChange } from "../../src/accounts/administration/changes.ts";
import { isObject } from "../../src/base/json.ts";
import { operations } from "../../src/contract/document.ts";
import { prompts } from "../../src/mcp/prompts.ts";
import { tools } from "../../src/mcp/tools.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { connectAgent } from "../support/agents.ts";
import { carquetHere } from "../support/command-line.ts";
import { getOperations, minimalRequest } from "../support/examples.ts";
import { extentOf, sampled } from "../support/extent.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { mountAll } from "../support/http/oauth.ts";
import { type MountedRoute, routesOf } from "../support/http/routes.ts";
import { assertMatchesDocument, startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

/** The properties of every object. */
const words = Object.getOwnPropertyNames(Object.prototype);
const drawn = extentOf(["__proto__"], words);

/** Errors that the service has logged. */
const errors: unknown[] = [];
const logger = pino({ level: "error" }, { write: (line: string) => void errors.push(JSON.parse(line)) });
const { lake } = await createLake(fileScope);
let routes: readonly MountedRoute[] = [];
const client = await startService(fileScope, lake, {
  logger,
  exports: { sqlDeadlineMs: 60_000 },
  mountSite: (app, services) => {
    mountAll(app, services);
    routes = routesOf(app);
  },
});
const { url, accounts, customer } = client;

/** Returns the session of a new operator, whose visits have not reached a limit. */
async function operatorCookie(): Promise<string> {
  const { accountId } = await createCustomer(accounts);
  await inAccountsFile(accounts, (database) =>
    applyChange(database, "accounts operator", { accountId, isOperator: true }, { actor: "test", atMs: Date.now() }),
  );
  return client.sessions.create({ accountId }).then((session) => `carquet-session=${session}`);
}

/** Fails if a response is an error of the server, or the service has logged one. */
async function assertUnderstood(what: string, response: Response): Promise<string> {
  const text = await response.text();
  assert.ok(response.status < 500, `${what}: ${response.status} ${text.slice(0, 300)}`);
  assert.deepEqual(errors.splice(0), [], what);
  return text;
}

const post = (path: string, body: string): Promise<Response> =>
  fetch(`${url}${path}`, { method: "POST", headers: customer.bearer, body });

test("every parameter takes them as values, in the query and in the path", async () => {
  const known = new Set<string>();
  for (const operation of getOperations) {
    for (const parameter of operation.parameters) {
      const { name, schema, in: location } = parameter;
      const key = extentOf(`${name} ${location} ${JSON.stringify(schema)}`, `${operation.id} ${name}`);
      if (known.has(key)) continue;
      known.add(key);
      for (const word of drawn) {
        const minimal = minimalRequest(operation);
        const [base = "", query = ""] = minimal.split("?");
        const others = query.split("&").filter((pair) => pair !== "" && !pair.startsWith(`${name}=`));
        const template = operation.path.replace(`{${name}}`, word);
        const path =
          location === "path"
            ? template.replaceAll(/\{\w+\}/g, "x")
            : `${base}?${[...others, `${name}=${word}`].join("&")}`;
        await assertUnderstood(path, await fetch(`${url}${path}`, { headers: customer.bearer }));
      }
    }
  }
});

test("every operation takes them as names of parameters and in its headers", async () => {
  for (const operation of getOperations) {
    for (const word of drawn) {
      const path = minimalRequest(operation);
      const named = `${path}${path.includes("?") ? "&" : "?"}${word}=1`;
      const { status, code } = await client.getError(named);
      assert.deepEqual([status, code], [400, "unknown_query_parameter"], named);
    }
    const headers = { "Carquet-Version": "constructor", Accept: "constructor", "If-None-Match": "constructor" };
    const sent = { ...customer.bearer, ...headers, "Idempotency-Key": "constructor" };
    await assertUnderstood(operation.id, await fetch(`${url}${minimalRequest(operation)}`, { headers: sent }));
  }
});

test("bodies take them as keys and values", async () => {
  for (const word of drawn) {
    for (const [path, body] of [
      ["/v1/searches", `{"name": "${word}", "${word}": 1}`],
      ["/v1/searches", `{"${word}": "a"}`],
      ["/v1/searches", `{"name": "a", "query": "${word}=1"}`],
      ["/v1/searches", `{"name": "a", "webhook_url": "${word}"}`],
      ["/v1/sql", `{"sql": "SELECT 1", "${word}": 1}`],
    ] as const) {
      const text = await assertUnderstood(`${path} ${body}`, await post(path, body));
      assert.match(text, /"invalid_request_error"|"validation_error"/, `${path} ${body}: ${text}`);
    }
  }
  const list = words.map((word) => `"${word}"`);
  const sql = `SELECT ${words.map((word, index) => `${index} AS "${word}", $${word}`).join(", ")}`;
  const params = `{${list.map((word, index) => `${word}: ${index}`).join(", ")}}`;
  const text = await assertUnderstood(
    "/v1/sql",
    await post("/v1/sql", `{"sql": ${JSON.stringify(sql)}, "params": ${params}}`),
  );
  for (const [index, word] of list.entries()) assert.ok(text.includes(`${word}:${index}`), text);
});

test("pages take them in paths and as parameters", async () => {
  const get = async (path: string): Promise<Response> => {
    const response = await fetch(`${url}${path}`, { headers: { Cookie: await operatorCookie() }, redirect: "manual" });
    assert.notEqual(response.status, 429, path);
    return response;
  };
  const search = operations.get("searchListings")?.parameters.map(({ name }) => name) ?? [];
  const pages = routes.filter(({ methods, path }) => methods.includes("GET") && !path.startsWith("/v1/"));
  assert.ok(pages.length > 40, `${pages.length} pages`);
  for (const { path } of pages) {
    const located = path.includes(":") ? drawn.map((word) => path.replaceAll(/:\w+/g, word)) : [path];
    const names = "day dealer dealers weeks status q vin ids group chart layout facet format metric by cursor".split(
      " ",
    );
    const query = [...names, ...words].map((name) => `${name}=constructor`).join("&");
    for (const one of located) await assertUnderstood(one, await get(`${one}?${query}`));
  }
  for (const name of sampled(search, 16)) await assertUnderstood(name, await get(`/?${name}=constructor`));
});

test("forms take them as fields", async () => {
  for (const { path } of routes.filter(({ methods }) => methods.includes("POST"))) {
    if (/^\/(v1|oauth|mcp)/.test(path)) continue;
    const cookie = await operatorCookie();
    const page = await (await fetch(`${url}/account`, { headers: { Cookie: cookie } })).text();
    const names = [...words, ..."name query url key scopes day dealer facet format amount action decision".split(" ")];
    const fields = Object.fromEntries(names.map((name) => [name, "constructor"]));
    const form = { ...fields, csrf_token: csrfTokenIn(page) };
    for (const word of drawn)
      await assertUnderstood(path, await sendForm(url, path.replaceAll(/:\w+/g, word), form, { cookie }));
  }
});

test("agents use them as names and arguments", async () => {
  const agent = await connectAgent(fileScope, url, customer.bearer);
  const listed = await agent.client.listTools();
  const call = async (name: string, args: Record<string, unknown>): Promise<void> => {
    const { text } = await agent.call(name, args).catch((thrown: unknown) => ({ text: String(thrown) }));
    assert.ok(!/internal|TypeError/i.test(text), `${name} ${JSON.stringify(args)}: ${text}`);
    assert.deepEqual(errors.splice(0), [], name);
  };
  for (const { name, inputSchema } of listed.tools) {
    for (const property of Object.keys(inputSchema.properties ?? {}))
      for (const value of ["constructor", ["constructor"]]) await call(name, { [property]: value });
    for (const word of drawn) await call(name, { [word]: "a" });
    await call(name, { filters: "constructor=1&inventory_type=constructor" });
  }
  for (const word of words) await call(word, {});
  for (const name of [...words, ...prompts.map((prompt) => prompt.name)]) {
    const asked = agent.client.getPrompt({ name, arguments: { constructor: "a", q: "constructor" } });
    await asked.catch((thrown: unknown) => assert.ok(!/internal|TypeError/i.test(String(thrown)), String(thrown)));
  }
  assert.ok(tools.length > 5 && listed.tools.length > 5);
  assert.deepEqual(errors.splice(0), []);
});

test("commands take them as arguments", async () => {
  for (const word of drawn) {
    for (const args of [
      ["completion", word],
      [
        "generate",
        "--out",
        "generated",
        "--listings",
        "10",
        "--days",
        "1",
        "--end",
        "2026-11-19",
        "--seed",
        "1",
        "--shares",
        `${word}=0.1`,
      ],
      ["sql", "--lake", lake, "--format", word, "SELECT 1"],
      ["quality", word, "--lake", lake],
      [word],
      ["accounts", word],
    ]) {
      const { code, err } = await carquetHere(args);
      assert.ok(code !== 0 && /expected|unknown|invalid|allowed/i.test(err), `${args.join(" ")}: ${code} ${err}`);
      assert.doesNotMatch(err, /TypeError|\n {4}at /, args.join(" "));
    }
  }
});

test("answers of the document match it for each of them", async () => {
  for (const word of drawn) {
    const answer = await client.get(`/v1/listings?make=${word}&limit=1`);
    assertMatchesDocument("/v1/listings", answer);
    assert.ok(isObject(answer.body) && Array.isArray(answer.body.data));
    assert.deepEqual(answer.body.data, [], word);
  }
});
