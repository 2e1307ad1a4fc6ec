/** The docs: pages that follow from the document and the guides, their links, search and console. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { transformSync } from "esbuild";
import { isObject } from "../../src/base/json.ts";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { document, operations, resolve } from "../../src/contract/document.ts";
import { errors } from "../../src/contract/errors.ts";
import { documentedOperations } from "../../src/contract/operations.ts";
import { clientMethods, codeSamples, pythonMethod } from "../../src/web/docs/code-samples.ts";
import { operationDocs } from "../../src/web/docs/operation-docs.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { sampleService } from "../support/http/service.ts";
import { withLakeQueries } from "../support/lakes/lakes.ts";
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

/** Where errors of a status need a parameter. */
const withParameter: Readonly<Record<string, RegExp>> = {
  unknown_postal_code: /^postal_code$/,
  snapshot_unavailable: /^snapshot_date/,
  version_unavailable: /^(data_version|since)$/,
  invalid_statement: /^sql$/,
};

const usdOfClass = new Map(
  [...document.info.description.matchAll(/^\| `(\w+)` \|.*\| (\d+\.\d+) \|$/gm)].map(([, name, usd]) => [name, usd]),
);

for (const { object, path, method } of documentedOperations(document)) {
  const { operationId: id } = object;
  test(`the page of ${id} has the parameters, errors and price of the document`, async () => {
    const page = await pageText(`/docs/${id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
    assert.ok(page.includes(`<span class="tag ok mono">${method.toUpperCase()}</span>${path}`), path);
    const body = object.requestBody?.content["application/json"].schema.properties ?? {};
    const names = [
      ...(object.parameters ?? []).map((parameter) => resolve<{ readonly name: string }>(parameter).name),
      ...Object.keys(body),
    ];
    assert.deepEqual(captured(page, /id="param-([\w-]+)"/g).toSorted(), names.toSorted());
    const statuses = Object.keys(object.responses).map(Number);
    const codes = Object.entries(errors).filter(
      ([code, [status]]) =>
        statuses.includes(status) &&
        (!(code in withParameter) || names.some((name) => withParameter[code]?.test(name))),
    );
    assert.deepEqual(captured(page, /href="\/docs\/errors#(\w+)"/g).toSorted(), codes.map(([code]) => code).toSorted());
    const usageClass = /[Bb]illed as\s+`(\w+)`/.exec(object.description)?.[1];
    if (usageClass !== undefined)
      assert.equal(Number(/<dd><b>\$([\d.]+)<\/b>/.exec(page)?.[1]), Number(usdOfClass.get(usageClass)), usageClass);
  });
}

test("everyone sees the docs, which allow no inline code and no other host", async () => {
  assert.equal(usdOfClass.size, 24);
  for (const path of ["/docs", "/docs/search-listings", "/docs/guides/api", "/docs/search?q=vin"]) {
    const answer = await get(path);
    assert.equal(answer.status, 200, path);
    const policy = answer.headers.get("Content-Security-Policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.doesNotMatch(await answer.text(), /<style|<script>| style=| on\w+=|src="https?:/, path);
  }
  const shown = (await pageText("/docs/search-listings")).replaceAll(/<[^>]+>/g, "");
  assert.ok(shown.includes(`curl -G ${client.url}/v1/listings`), "the origin of the service");
  for (const path of ["/docs/", "/docs/guides/none", "/docs/guides/..%2F..%2FREADME", "/docs/images/none.png"])
    assert.equal((await get(path)).status, 404, path);
  assert.equal((await get("/docs/searchListings")).headers.get("Location"), "/docs/search-listings");
  assert.equal((await get("/docs/open?page=https%3A%2F%2Felsewhere.example")).headers.get("Location"), "/docs");
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

test("the search finds operations, parameters, errors and guides, best first", async () => {
  const found = async (question: string): Promise<readonly string[]> =>
    captured(await pageText(`/docs/search?q=${encodeURIComponent(question)}`), /<li><a href="([^"]+)"/g).filter(
      (path) => path !== "",
    );
  const first = async (question: string): Promise<string | undefined> => {
    const page = await pageText(`/docs/search?q=${encodeURIComponent(question)}`);
    return captured(page.slice(page.indexOf('<ul class="stack">')), /<a href="([^"]+)"/g)[0];
  };
  assert.ok((await found("price")).length > 5);
  assert.equal(await first("search listings"), "/docs/search-listings");
  assert.equal(await first("max_price"), "/docs/search-listings#param-max_price");
  assert.equal(await first("missing_scope"), "/docs/errors#missing_scope");
  assert.equal(await first("first feed"), "/docs/guides/first-feed");
  assert.match(await pageText("/docs/search?q=zxqv"), /<h1>0 results for “zxqv”<\/h1>/);
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

test("the box of the header lists the best results while a question is typed", async () => {
  const suggested = await (await get("/docs/suggestions?q=max_pri")).json();
  assert.deepEqual(suggested[0], {
    text: "max_price",
    note: "parameter",
    path: "/docs/search-listings#param-max_price",
  });
  assert.ok(suggested.length <= 8);
  assert.deepEqual(await (await get("/docs/suggestions?q=zxqv")).json(), []);
});

test("code in every language calls methods that the clients have, and parses", () => {
  const [typescript, python] = ["clients/typescript/src/client.ts", "clients/python/src/carquet/client.py"].map(
    projectText,
  );
  for (const [method] of Object.values(clientMethods)) {
    assert.match(typescript ?? "", new RegExp(`^  (?:async \\*?)?${method}\\(`, "m"));
    assert.match(python ?? "", new RegExp(`^    def ${pythonMethod(method)}\\(`, "m"));
  }
  for (const docs of operationDocs) {
    const samples = codeSamples(docs, false);
    assert.deepEqual(samples.map(({ language }) => language).slice(0, 3), ["curl", "Python", "TypeScript"]);
    transformSync(samples[2]?.code ?? "", { loader: "ts" });
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

describe("in a browser", { skip: skipWithoutBrowser }, () => {
  test("a page is small, accessible, fits a phone, and its console sends a request that is charged", async (scope) => {
    const site = await signedInBrowser(scope, client);
    const page = await site.openAnonymously("/docs/search-listings");
    await page.waitForLoadState("networkidle");
    const bytes = await page.evaluate(() =>
      [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .map((entry) => (entry as PerformanceResourceTiming).transferSize)
        .reduce((sum, size) => sum + size, 0),
    );
    assert.ok(bytes > 10_000 && bytes < 60_000, `${bytes} bytes`);
    const button = page.locator(".console [type=submit]");
    assert.equal(await button.textContent(), "Send for $0.002");
    await page.locator("#console-key").fill(client.customer.bearer.Authorization.replace("Bearer ", ""));
    await page.locator("#console-limit").fill("1");
    await page.locator("[data-add]").selectOption("inventory_status");
    await page.locator("#console-inventory_status").selectOption("sold");
    assert.equal(await button.textContent(), "Send for $0.004");
    await button.click();
    const output = page.locator("output.result");
    await output.locator("pre").nth(1).waitFor();
    assert.match((await output.locator("p.bar").textContent()) ?? "", /^200 · [\d.]+ ms · \$0\.004/);
    const answer = JSON.parse((await output.locator("pre").last().textContent()) ?? "");
    assert.ok(isObject(answer) && isObject(answer.pagination) && answer.pagination.limit === 1);
    await page.locator("#console-limit").fill("1000");
    await button.click();
    const explained = output.locator("p.bar a").first();
    await output.locator("p.bar", { hasText: /^400 · [\d.]+ ms · not charged/ }).waitFor();
    assert.equal(await explained.getAttribute("href"), "/docs/errors#invalid_parameter_value");
    assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length]), [0, 1]);
    // Colors change slowly under the pointer.
    await page.mouse.move(0, 0);
    await assertAccessible(page);
    await page.locator("#find").pressSequentially("max_pri");
    await page.locator("#suggestions [role=option]").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/search-listings#param-max_price");
    await assertFitsPhone(page);
    assert.deepEqual(site.faults, []);
  });

  test("the overview and a guide fit a phone, and a guide is accessible", async (scope) => {
    const site = await signedInBrowser(scope, client);
    await assertFitsPhone(await site.open("/docs"));
    const page = await site.open("/docs/guides/how-it-works");
    await assertAccessible(page);
    await assertFitsPhone(page);
    assert.deepEqual(site.faults, []);
  });
});
