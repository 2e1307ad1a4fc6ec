/** Build: pages that follow from the document and the guides, requests that their forms send, their links and search, and the page of SQL. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { build, transformSync } from "esbuild";
import { isObject } from "../../src/base/json.ts";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { document, operations, resolve } from "../../src/contract/document.ts";
import { documentedOperations } from "../../src/contract/operations.ts";
import { tools } from "../../src/mcp/tools.ts";
import { operationDocs } from "../../src/web/build/operation-docs.ts";
import { clientMethods, pythonMethod, requestSamples, toolNames } from "../../src/web/build/samples.ts";
import { createCustomer } from "../support/accounts.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { sampleService, startService } from "../support/http/service.ts";
import { temporaryFolder, withLakeQueries } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const { client, lake } = await sampleService();

const get = (path: string): Promise<Response> => fetch(`${client.url}${path}`, { redirect: "manual" });

/** Texts of pages by path: several tests read them. */
const texts = new Map<string, Promise<string>>();
function pageText(path: string): Promise<string> {
  const found = texts.get(path) ?? get(path).then((answer) => (answer.status === 200 ? answer.text() : ""));
  texts.set(path, found);
  return found;
}

const captured = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, found = ""]) => found);

const usdOfClass = new Map(
  [...document.info.description.matchAll(/^\| `(\w+)` \|.*\| (\d+\.\d+) \|$/gm)].map(([, name, usd]) => [name, usd]),
);

for (const { object, path, method } of documentedOperations(document)) {
  const { operationId: id } = object;
  test(`the page of ${id} has the parameters, errors and price of the document`, async () => {
    const page = await pageText(`/docs/${id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
    assert.ok(page.includes(`<code>${method.toUpperCase()} ${path}`), path);
    for (const parameter of object.parameters ?? []) {
      const { name } = resolve<{ readonly name: string }>(parameter);
      assert.match(page, new RegExp(`<(input|select) id="field-${name}" class="in" name="${name}"`));
    }
    const body = object.requestBody?.content["application/json"].schema.properties ?? {};
    const names = [
      ...(object.parameters ?? []).map((parameter) => resolve<{ readonly name: string }>(parameter).name),
      ...Object.keys(body),
    ];
    assert.deepEqual(captured(page, /id="param-([\w-]+)"/g).toSorted(), names.toSorted());
    assert.deepEqual(
      captured(page, /href="\/docs\/errors#(\w+)"/g).toSorted(),
      [...object["x-error-codes"]].toSorted(),
    );
    const usageClass = /[Bb]illed as\s+`(\w+)`/.exec(object.description)?.[1];
    if (usageClass !== undefined)
      assert.equal(
        Number(/<dt>Price<\/dt><dd><b>\$([\d.]+)<\/b>/.exec(page)?.[1]),
        Number(usdOfClass.get(usageClass)),
        usageClass,
      );
  });
}

test("everyone sees the docs, which allow no inline code and no other host", async () => {
  assert.equal(usdOfClass.size, 24);
  for (const path of ["/docs", "/docs/search-listings", "/docs/guides/api"]) {
    const answer = await get(path);
    assert.equal(answer.status, 200, path);
    const policy = answer.headers.get("Content-Security-Policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.doesNotMatch(await answer.text(), /<style|<script>| style=| on\w+=|src="https?:/, path);
  }
  const shown = (await pageText("/docs/search-listings")).replaceAll(/<[^>]+>/g, "");
  assert.ok(shown.includes(`curl -G ${client.url}/v1/listings`), "the origin of the service");
  const guide = await pageText("/docs/guides/api");
  assert.ok(guide.includes(`${client.url}/v1/facets?facets=make`) && !guide.includes("127.0.0.1:8080"));
  for (const path of ["/docs/", "/docs/guides/none", "/docs/guides/..%2F..%2FREADME", "/docs/images/none.png"])
    assert.equal((await get(path)).status, 404, path);
  assert.equal((await get("/docs/searchListings")).headers.get("Location"), "/docs/search-listings");
  assert.equal((await get("/docs/getEvidence?vin=1")).headers.get("Location"), "/docs/get-evidence?vin=1");
});

test("every link of the docs leads to a page and to an anchor of it", async () => {
  const pending = ["/docs"];
  const broken = [] as string[];
  const seen = new Set(["/docs"]);
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const page = await pageText(path);
    for (const href of captured(page, /(?:href|src)="((?:\/docs|#)[^"]*)"/g)) {
      const [target, anchor] = href.split("#").map((part) => part.replaceAll("&#39;", "'")) as [string, string?];
      const wanted = target === "" ? path : target;
      const isPage = !/\.(png|svg|json)$/.test(wanted);
      if (!isPage) {
        if (!seen.has(wanted) && (await get(wanted)).status !== 200) broken.push(`${path}: ${href}`);
      } else if (!seen.has(wanted)) pending.push(wanted);
      seen.add(wanted);
      if (isPage && (await pageText(wanted)) === "") broken.push(`${path}: ${href}`);
      else if (anchor !== undefined && anchor !== "" && !(await pageText(wanted)).includes(` id="${anchor}"`))
        broken.push(`${path}: ${href}`);
    }
  }
  assert.deepEqual([...new Set(broken)], []);
  const guides = readdirSync(projectPath("docs")).filter((name) => name.endsWith(".md"));
  for (const guide of guides) assert.ok(seen.has(`/docs/guides/${guide.slice(0, -3)}`), guide);
  assert.ok(seen.size > operations.size + guides.length);
});

test("a parameter that an address repeats is a list in the form of its operation", async () => {
  const html = await (await fetch(`${client.url}/docs/search-listings?make=toyota&make=honda`)).text();
  assert.match(html, /name="make"[^>]*value="toyota,honda"/);
});

test("the question box leads to operations, parameters, errors and guides by their names", async () => {
  const { cookie } = await signedIn(client);
  const leadsTo = async (path: string): Promise<string | null> =>
    (await fetch(`${client.url}${path}`, { headers: { Cookie: cookie }, redirect: "manual" })).headers.get("Location");
  for (const [words, path] of [
    ["search listings", "/docs/search-listings"],
    ["getTrends", "/docs/get-trends"],
    ["/v1/facets", "/docs/get-facets"],
    ["max_price", "/docs/search-listings#param-max_price"],
    ["missing_scope", "/docs/errors#missing_scope"],
    ["first-feed", "/docs/guides/first-feed"],
    ["guide explorer", "/docs/guides/explorer"],
  ] as const)
    assert.equal(await leadsTo(`/find?q=${encodeURIComponent(words)}`), path, words);
  assert.equal(await leadsTo("/docs/search?q=max_price"), "/find?q=max_price");
  assert.equal(await leadsTo("/find?q=Explorer"), null, "a word is of cars");
});

test("examples ask for a listing, a vehicle and a dealer of the service", async () => {
  const { data } = await client.getBody("searchListings", "/v1/listings?sort=-days_on_market&limit=1");
  const [listing] = data;
  assert.ok(listing !== undefined);
  for (const [path, wanted] of [
    ["/docs/get-listing", `/v1/listings/${listing.id}`],
    ["/docs/get-vin", `/v1/vins/${listing.vin}`],
  ] as const)
    assert.ok((await pageText(path)).includes(`${client.url}${wanted}`), `${path}: ${wanted}`);
  const dealer = /\/v1\/dealers\/[\w-]+/.exec(await pageText("/docs/get-dealer"))?.[0] ?? "";
  assert.equal((await client.get(dealer)).status, 200, dealer);
});

test("code in every language calls methods that the clients have and tools that agents have, and parses", () => {
  const named = new Set(Object.entries(toolNames).map(([id, name]) => `${id} ${name}`));
  const missing = [...named].filter((one) => !tools.some(({ id, name }) => `${id} ${name}` === one));
  assert.deepEqual(missing, []);
  assert.deepEqual(Object.keys(toolNames).toSorted(), [...new Set(tools.map(({ id }) => id))].toSorted());
  const [typescript, python] = ["clients/typescript/src/client.ts", "clients/python/src/carquet_client/client.py"].map(
    projectText,
  );
  for (const [method] of Object.values(clientMethods)) {
    assert.match(typescript ?? "", new RegExp(`^  (?:async \\*?)?${method}\\(`, "m"));
    assert.match(python ?? "", new RegExp(`^    def ${pythonMethod(method)}\\(`, "m"));
  }
  for (const docs of operationDocs) {
    const key = { secret: undefined, isOpen: false };
    const samples = requestSamples({ docs, request: docs.request, origin: client.url, key });
    const languages = ["curl", ...(clientMethods[docs.operation.id] === undefined ? [] : ["Python", "TypeScript"])];
    assert.deepEqual(
      samples.map(({ name }) => name),
      [...languages, ...(toolNames[docs.operation.id] === undefined ? [] : ["Agent"])],
    );
    transformSync(samples.find(({ name }) => name === "TypeScript")?.code ?? "", { loader: "ts" });
  }
});

test("code that is pasted from a page runs: curl in a shell, TypeScript as a module", async () => {
  const key = { secret: client.customer.key, isOpen: false };
  const asked = operationDocs.filter(({ operation: { method, id } }) => method === "get" && id !== "getUsage");
  assert.ok(asked.length > 15);
  const cwd = await temporaryFolder(fileScope);
  const logged: unknown[] = [];
  Object.assign(globalThis, { logSample: (value: unknown) => logged.push(value) });
  for (const docs of asked) {
    const samples = requestSamples({ docs, request: docs.request, origin: client.url, key });
    const codeOf = (name: string): string => samples.find((sample) => sample.name === name)?.code ?? "";
    await promisify(execFile)("bash", ["-c", codeOf("curl").replaceAll(/^curl/gm, "curl -sSf")], { cwd });
    // The program that it names connects agents, here one that prints the header that it is given.
    const connects = codeOf("Agent")
      .replace(/^claude .*(?=--header)/ms, "printf '%s %s' ")
      .replace(/^claude/m, "true");
    const { stdout } = await promisify(execFile)("bash", ["-c", connects], { cwd });
    if (connects.includes("printf")) assert.equal(stdout, `--header Authorization: Bearer ${client.customer.key}`);
    const { outputFiles } = await build({
      stdin: { contents: codeOf("TypeScript"), loader: "ts", resolveDir: projectPath("clients/typescript") },
      alias: { "carquet-client": projectPath("clients/typescript/src/index.ts") },
      define: { "console.log": "globalThis.logSample" },
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
    });
    await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]?.text ?? "").toString("base64")}`);
    if (codeOf("TypeScript").includes("console.log")) assert.notEqual(logged.pop(), undefined, docs.path);
  }
});

const leavesOf = (value: unknown): readonly unknown[] =>
  isObject(value) || Array.isArray(value) ? Object.values(value).flatMap(leavesOf) : [value];

test("the SQL beside an example returns what its answer has", async () => {
  const files = readdirSync(projectPath("schemas/examples")).filter((name) => name.endsWith(".sql"));
  assert.ok(files.length >= 8);
  await withLakeQueries(lake, async (rows) => {
    for (const file of files) {
      const found = await rows(projectText(`schemas/examples/${file}`));
      assert.ok(found.length > 0, file);
      const answer = projectPath(`schemas/examples/${file.replace(/sql$/, "json")}`);
      if (!existsSync(answer)) continue;
      const leaves = new Set(leavesOf(JSON.parse(readFileSync(answer, "utf8"))).map(String));
      for (const value of found.flatMap((row) => Object.values(row)))
        assert.ok(leaves.has(String(value)), `${file}: ${String(value)}`);
    }
  });
});

test("every message of the page on troubleshooting is one that the program prints", () => {
  const messages = captured(projectText("docs/troubleshooting.md"), /^### `(.*)`$/gm);
  assert.ok(messages.length >= 12);
  const sources = readdirSync(projectPath("src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") || path.endsWith(".tsx"))
    .map((path) => projectText(`src/${path}`).replaceAll('\\"', '"'))
    .join("\n")
    .replaceAll(/\$?\{[^{}]*\}/g, "…");
  for (const message of messages)
    for (const part of message.split("…").filter((one) => one.trim().length > 3))
      assert.ok(sources.includes(part), `${message}: ${part}`);
});

/** Returns a page as the account of a session, and the answers to forms on it. */
async function signedIn(of: typeof client) {
  const { accountId, bearer } = await createCustomer(of.accounts);
  const cookie = `carquet-session=${await of.sessions.create({ accountId })}`;
  const open = async (path: string) => (await fetch(`${of.url}${path}`, { headers: { Cookie: cookie } })).text();
  const send = async (path: string, page: string, fields: Readonly<Record<string, string>>) =>
    sendForm(of.url, path, { csrf_token: csrfTokenIn(await open(page)), ...fields }, { cookie });
  return { open, send, bearer, cookie };
}

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");

test("a form sends what its sample shows, without scripts, and the answer is that of the API", async () => {
  const { open, send, bearer } = await signedIn(client);
  const path = "/docs/search-listings";
  const fields = { make: "toyota,honda", max_price: "24000", sort: "price", limit: "2", language: "curl" };
  const page = await (await send(path, path, fields)).text();
  const sample = textOf(/<pre[^>]*data-language="curl">(.*?)<\/pre>/s.exec(page)?.[1] ?? "");
  const parameters = captured(sample, /-d (\w+=\S+)/g);
  assert.deepEqual(parameters, ["make=toyota,honda", "max_price=24000", "sort=price", "limit=2"]);
  const url = /curl -G (\S+)/.exec(sample)?.[1] ?? "";
  const answer = await (await fetch(`${url}?${parameters.join("&")}`, { headers: bearer })).json();
  const shown = textOf(/id="answer".*?<pre[^>]*>(.*?)<\/pre>/s.exec(page)?.[1] ?? "");
  assert.deepEqual(JSON.parse(shown), answer);
  assert.match(textOf(page), /200 2 cars · \$0\.002/);
  assert.match(page, /id="page-cost">\$0\.002</);
  // The address with the same fields has the same sample, and charges nothing.
  const followed = await open(`${path}?${new URLSearchParams(fields)}`);
  assert.ok(textOf(followed).includes(sample));
  assert.doesNotMatch(followed, /id="page-cost"/);
  const refused = await (await send(path, path, { limit: "1000" })).text();
  assert.match(refused, /badge high">400<\/span> not charged.*?href="\/docs\/errors#invalid_parameter_value"/);
  const forged = await sendForm(client.url, path, { limit: "1" }, { cookie: "carquet-session=none" });
  assert.equal(forged.headers.get("Location"), "/sign-in");
  const saved = await send("/docs/create-search", "/docs/create-search", {
    body: '{"name": "<b>x", "query": "make=Ford"}',
  });
  const savedPage = await saved.text();
  assert.match(savedPage, /&lt;b>x/);
  assert.doesNotMatch(savedPage, /<b>x/);
});

test("SQL runs on its page, is charged once, and is charted; a file has all rows", async (scope) => {
  const sql = await startService(scope, lake, { exports: { sqlDeadlineMs: 120_000 } });
  const { open, send, bearer } = await signedIn(sql);
  const balance = async (): Promise<number> => {
    const { totals } = await (await fetch(`${sql.url}/v1/usage`, { headers: bearer })).json();
    return totals.charged_micros;
  };
  const statement =
    'SELECT make AS "<i>make", count(*) AS cars, max(price) AS top_price FROM active\nGROUP BY 1 ORDER BY cars DESC LIMIT 3';
  const linked = await open(`/sql?${new URLSearchParams({ statement })}`);
  assert.ok(textOf(linked).includes(statement), "a link fills in the statement");
  assert.match(linked, /aria-current="true">active </, "the table of the statement is marked");
  assert.equal(await balance(), 0, "a link runs nothing");
  const page = await (await send("/sql", "/sql", { statement })).text();
  const rows = [...new Set(captured(page, /<td>([^<]+)<\/td>/g))];
  assert.equal(rows.length, 3, "in the table of the chart and in that of the result");
  assert.match(textOf(page), new RegExp(`${rows[0]} has the highest cars: \\d+`));
  assert.match(page, /var\(--coral\)/);
  assert.match(page, /&lt;i>make/);
  assert.doesNotMatch(page, /<i>make/);
  const charged = await balance();
  assert.ok(charged > 0);
  const run = /name="run" value="([\w-]+)"/.exec(page)?.[1] ?? "";
  const other = textOf(await (await send("/sql", "/sql", { statement, run, column: "top_price" })).text());
  assert.match(other, /top_price, by <i>make\. Choose another: cars/);
  assert.equal(await balance(), charged, "another chart of a result is not charged again");
  const edited = await send("/sql", "/sql", { statement: `${statement.slice(0, -1)}2`, run, column: "top_price" });
  assert.equal(edited.status, 200, "an edited statement is another run");
  assert.ok((await balance()) > charged);
  const long = `SELECT ${"'a',".repeat(2_900)}1`;
  assert.equal((await send("/sql", "/sql", { statement: long })).status, 200, "of 11,000 characters");
  const days = ["17", "18"].flatMap((day, index) => [
    `('2026-11-${day}', 'a', ${index})`,
    `('2026-11-${day}', 'b', 9)`,
  ]);
  const trend = { statement: `SELECT * FROM (VALUES ${days.join()}) AS t(day, model, price)` };
  assert.match(await (await send("/sql", "/sql", trend)).text(), /stroke="var\(--coral\)".*>b<\/text>/s, "a line each");
  const repeated = { statement: "SELECT * FROM (VALUES ('RAV4', 1), ('RAV4', 2), ('CR-V', 3)) AS t(model, cars)" };
  const unlabelled = await (await send("/sql", "/sql", repeated)).text();
  assert.match(unlabelled, /3 rows/);
  assert.doesNotMatch(unlabelled, /id="chart"/, "bars of one name say nothing");
  const wide = { statement: "SELECT repeat('x', 5000) AS t FROM range(300)" };
  assert.match(
    textOf(await (await send("/sql", "/sql", wide)).text()),
    /300 rows.*The first 99 are shown; a file has all\./s,
  );
  const widest = { statement: "SELECT repeat('x', 600000) AS t" };
  assert.match(textOf(await (await send("/sql", "/sql", widest)).text()), /The first row is too long for a page\./);
  const file = await send("/sql/file", "/sql", { statement, format: "csv" });
  assert.match(file.headers.get("Content-Type") ?? "", /^text\/csv/);
  assert.equal((await file.text()).trim().split("\n").length, 4);
  const wrong = await send("/sql", "/sql", { statement: "SELECT <b>nothing FROM active" });
  const wrongPage = await wrong.text();
  assert.equal(wrong.status, 422);
  assert.match(wrongPage, /role="alert">Invalid SQL: /);
  assert.doesNotMatch(wrongPage, /<b>nothing/);
});

test("the page of SQL says how it is turned on where it is off", async () => {
  const { open } = await signedIn(client);
  const page = await open("/sql?statement=SELECT+1");
  assert.match(textOf(page), /SQL is off on this service\..*--sql-deadline 10/s);
  assert.doesNotMatch(page, /<textarea/);
});

describe("in a browser", { skip: skipWithoutBrowser }, () => {
  test("a page is small and accessible, its sample follows the form, and its answer is shown without leaving it", async (scope) => {
    const site = await signedInBrowser(scope, client);
    const page = await site.open("/docs/search-listings");
    await page.waitForLoadState("networkidle");
    const bytes = await page.evaluate(() =>
      [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .map((entry) => (entry as PerformanceResourceTiming).transferSize)
        .reduce((sum, size) => sum + size, 0),
    );
    assert.ok(bytes > 10_000 && bytes < 90_000, `${bytes} bytes`);
    const button = page.locator(".sends [type=submit]");
    assert.equal(await button.textContent(), "Send for $0.002");
    await page.locator("#field-limit").fill("1");
    await page.locator(".sample pre", { hasText: "limit=1" }).first().waitFor();
    await page.getByText("more parameters").click();
    await page.locator("#field-inventory_status").selectOption("sold");
    await page.locator(".sends", { hasText: "$0.004" }).waitFor();
    await page.getByText("Python", { exact: true }).click();
    assert.match(
      (await page.locator(".sample pre:visible").textContent()) ?? "",
      /inventory_status=\["sold"\]|inventory_status="sold"/,
    );
    await button.click();
    await page.locator("#answer header", { hasText: "$0.004" }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/docs/search-listings");
    await page.mouse.move(0, 0);
    await assertAccessible(page);
    await assertFitsPhone(page);
    assert.deepEqual(site.faults, []);
  });

  test("the start, a guide and SQL fit a phone and are accessible", async (scope) => {
    const site = await signedInBrowser(scope, client);
    for (const path of ["/docs", "/docs/guides/how-it-works", "/sql"]) {
      const page = await site.open(path);
      await assertAccessible(page);
      await assertFitsPhone(page);
    }
    assert.deepEqual(site.faults, []);
  });
});
