/** The docs page, in HTTP and in a browser. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { projectPath, projectText } from "../../../src/base/project-files.ts";
import { operations } from "../../../src/contract/document.ts";
import { launchBrowser, skipWithoutBrowser } from "../../support/http/browser.ts";
import { sampleService } from "../../support/http/service.ts";

const { client } = await sampleService();

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${client.url}${path}`, { headers });

test("the docs page and its assets are cacheable and revalidate with 304", async () => {
  const page = await (await get("/docs")).text();
  const parts = [...page.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, part]) => `/${part}`);
  assert.equal(parts.length, 5);
  for (const path of ["/docs", ...parts]) {
    const answer = await get(path);
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers.get("Cache-Control") ?? "", /^public, max-age=\d+$/, path);
    const tag = answer.headers.get("ETag") ?? "";
    assert.match(tag, /^W\/"[\w-]{16,}"$/, path);
    const again = await get(path, { "If-None-Match": tag });
    assert.deepEqual([again.status, await again.text()], [304, ""], path);
  }
});

test("the docs page's policy allows no external resource and no inline code", async () => {
  const policy = (await get("/docs")).headers.get("Content-Security-Policy") ?? "";
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.doesNotMatch(await (await get("/docs")).text(), /https?:\/\/|<style|<script>| style=| on\w+=/);
});

test("other paths below /docs are not found, and other methods are refused", async () => {
  for (const path of ["/docs/", "/docs/package.json", "/docs/../package.json", "/docs/swagger-ui.css.map"]) {
    assert.equal((await get(path)).status, 404, path);
  }
  assert.equal((await fetch(`${client.url}/docs`, { method: "POST" })).status, 405);
});

test("the vendored files of Swagger UI are those of its release", () => {
  const sums = projectText("src/http/docs/swagger-ui/SHA256SUMS").trim().split("\n");
  assert.equal(sums.length, 3);
  for (const [sum, file = ""] of sums.map((line) => line.split("  "))) {
    const content = readFileSync(projectPath(`src/http/docs/swagger-ui/${file}`));
    assert.equal(createHash("sha256").update(content).digest("hex"), sum, file);
  }
});

/** Opens the docs page; returns it with all requested URLs and all violations of its policy. */
async function openDocs(scope: Parameters<typeof launchBrowser>[0]) {
  const page = await (await launchBrowser(scope)).newPage();
  const requests: string[] = [];
  const faults: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to|Failed to load/.test(message.text())) faults.push(message.text());
  });
  await page.goto(`${client.url}/docs`);
  await page.locator(".opblock").first().waitFor();
  return { page, requests, faults };
}

/** URLs outside this service. */
const externalUrls = (addresses: readonly string[]): readonly string[] =>
  addresses.filter((address) => new URL(address).origin !== client.url && !address.startsWith("data:"));

async function openOperation(page: Page, tag: string, id: string): Promise<Locator> {
  const operation = page.locator(`#operations-${tag}-${id}`);
  await operation.locator(".opblock-summary-control").click();
  await operation.locator(".execute").waitFor();
  return operation;
}

/** Signs in with the customer's key. */
async function authorize(page: Page): Promise<void> {
  await page.locator(".auth-wrapper .authorize").click();
  const dialog = page.locator(".modal-ux");
  await dialog.locator("input").fill(client.customer.bearer.Authorization.replace("Bearer ", ""));
  await dialog.locator("button.authorize").click();
  await dialog.locator("button.btn-done").click();
}

/** Sends the form of an operation; returns the address, the status and the body of the answer. */
async function execute(operation: Locator) {
  await operation.locator(".execute").click();
  const answer = operation.locator(".live-responses-table");
  await answer.waitFor();
  return {
    address: (await operation.locator(".request-url pre").textContent()) ?? "",
    status: await answer.locator("tbody .response-col_status").first().textContent(),
    body: JSON.parse((await answer.locator(".highlight-code pre").first().textContent()) ?? ""),
  };
}

describe("in a browser", { skip: skipWithoutBrowser }, () => {
  test("the docs page shows every operation with an example request, and loads from this service only", async (scope) => {
    const { page, requests, faults } = await openDocs(scope);
    assert.equal(await page.locator(".opblock").count(), operations.size);
    for (const { path } of operations.values()) {
      const ofPath = [...operations.values()].filter((one) => one.path === path);
      assert.equal(await page.locator(`.opblock-summary [data-path="${path}"]`).count(), ofPath.length, path);
    }
    const operation = await openOperation(page, "Dealers", "searchDealers");
    assert.match((await operation.locator(".opblock-description").textContent()) ?? "", /GET \/v1\/dealers\?/);
    assert.match((await operation.locator(".responses-table").textContent()) ?? "", /"listing_count": \d+/);
    assert.deepEqual(faults, []);
    assert.ok(requests.length >= 6);
    assert.deepEqual(externalUrls(requests), []);
  });

  test("operations can be tried on the docs page, and no filter is prefilled", async (scope) => {
    const { page, requests, faults } = await openDocs(scope);
    await authorize(page);
    const search = await openOperation(page, "Listings", "searchListings");
    const make = search.locator('tr[data-param-name="make"]');
    for (const [index, word] of ["honda", "toyota"].entries()) {
      await make.locator("button.json-schema-form-item-add").click();
      await make.locator("input").nth(index).fill(word);
    }
    const found = await execute(search);
    const sent = new URL(found.address).searchParams;
    assert.deepEqual([...sent.keys()], ["limit", "offset", "sort", "fields", "make", "make"]);
    assert.deepEqual(sent.getAll("make"), ["honda", "toyota"]);
    assert.equal(found.status, "200");
    const makes = found.body.data.map((listing: { make: string }) => listing.make);
    assert.deepEqual(new Set(makes), new Set(["Honda", "Toyota"]));

    const { id } = found.body.data[0];
    const detail = await openOperation(page, "Listings", "getListing");
    await detail.locator('tr[data-param-name="listing_id"] input').fill(id);
    const detailAnswer = await execute(detail);
    assert.deepEqual([detailAnswer.status, detailAnswer.body.data.id], ["200", id]);

    assert.deepEqual(faults, []);
    assert.deepEqual(externalUrls(requests), []);
  });
});
