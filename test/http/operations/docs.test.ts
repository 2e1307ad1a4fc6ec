import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { projectPath, projectText } from "../../../src/base/project-files.ts";
import { operations } from "../../../src/contract/document.ts";
import { browserOf, withoutBrowser } from "../../support/browser.ts";
import { lakeOf } from "../../support/lakes/lakes.ts";
import { wholeFile } from "../../support/scope.ts";
import { serviceOf } from "../../support/service.ts";

const { lake } = await lakeOf(wholeFile);
const client = await serviceOf(wholeFile, lake);

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${client.url}${path}`, { headers });

test("the docs page and all that it consists of may be kept, and who has it is told so", async () => {
  const page = await (await get("/docs")).text();
  const parts = [...page.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, part]) => `/${part}`);
  assert.equal(parts.length, 5);
  for (const path of ["/docs", ...parts]) {
    const answer = await get(path);
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers.get("Cache-Control") ?? "", /^public, max-age=\d+$/, path);
    const tag = answer.headers.get("ETag") ?? "";
    assert.match(tag, /^"[\w-]{16,}"$/, path);
    const again = await get(path, { "If-None-Match": tag });
    assert.deepEqual([again.status, await again.text()], [304, ""], path);
  }
});

test("the docs page lets a browser load nothing from elsewhere, and run nothing that is written into it", async () => {
  const policy = (await get("/docs")).headers.get("Content-Security-Policy") ?? "";
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.doesNotMatch(await (await get("/docs")).text(), /https?:\/\/|<style|<script>| style=| on\w+=/);
});

test("below the docs page there is nothing else, and nothing but GET", async () => {
  for (const path of ["/docs/", "/docs/package.json", "/docs/../package.json", "/docs/swagger-ui.css.map"]) {
    assert.equal((await get(path)).status, 404, path);
  }
  assert.equal((await fetch(`${client.url}/docs`, { method: "POST" })).status, 405);
});

test("the files of Swagger UI are those of its release", () => {
  const sums = projectText("src/http/docs/swagger-ui/SHA256SUMS").trim().split("\n");
  assert.equal(sums.length, 3);
  for (const [sum, file = ""] of sums.map((line) => line.split("  "))) {
    const content = readFileSync(projectPath(`src/http/docs/swagger-ui/${file}`));
    assert.equal(createHash("sha256").update(content).digest("hex"), sum, file);
  }
});

/** The page in a browser, with every address it asked for, and what its policy forbade. */
async function opened(scope: Parameters<typeof browserOf>[0]) {
  const page = await (await browserOf(scope)).newPage();
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

/** Addresses that are not this service's. */
const elsewhere = (addresses: readonly string[]): readonly string[] =>
  addresses.filter((address) => new URL(address).origin !== client.url && !address.startsWith("data:"));

async function opening(page: Page, tag: string, id: string): Promise<Locator> {
  const operation = page.locator(`#operations-${tag}-${id}`);
  await operation.locator(".opblock-summary-control").click();
  await operation.locator(".execute").waitFor();
  return operation;
}

/** Signs in with a key, as people do. */
async function authorized(page: Page): Promise<void> {
  await page.locator(".auth-wrapper .authorize").click();
  const dialog = page.locator(".modal-ux");
  await dialog.locator("input").fill(client.customer.bearer.Authorization.replace("Bearer ", ""));
  await dialog.locator("button.authorize").click();
  await dialog.locator("button.btn-done").click();
}

/** Sends the request of an operation's form, and gives its address, the status and the body of the answer. */
async function tried(operation: Locator) {
  await operation.locator(".execute").click();
  const answer = operation.locator(".live-responses-table");
  await answer.waitFor();
  return {
    address: (await operation.locator(".request-url pre").textContent()) ?? "",
    status: await answer.locator("tbody .response-col_status").first().textContent(),
    body: JSON.parse((await answer.locator(".highlight-code pre").first().textContent()) ?? ""),
  };
}

describe("in a browser", { skip: withoutBrowser }, () => {
  test("the docs page shows every operation with an example request, and asks this service alone", async (scope) => {
    const { page, requests, faults } = await opened(scope);
    assert.equal(await page.locator(".opblock").count(), operations.size);
    for (const { path } of operations.values()) {
      assert.equal(await page.locator(`.opblock-summary [data-path="${path}"]`).count(), 1, path);
    }
    const operation = await opening(page, "Dealers", "searchDealers");
    assert.match((await operation.locator(".opblock-description").textContent()) ?? "", /GET \/v1\/dealers\?/);
    assert.match((await operation.locator(".responses-table").textContent()) ?? "", /"listing_count": \d+/);
    assert.deepEqual(faults, []);
    assert.ok(requests.length >= 6);
    assert.deepEqual(elsewhere(requests), []);
  });

  test("operations can be tried on the docs page, without their filters being filled in", async (scope) => {
    const { page, requests, faults } = await opened(scope);
    await authorized(page);
    const search = await opening(page, "Listings", "searchListings");
    const make = search.locator('tr[data-param-name="make"]');
    for (const [index, word] of ["honda", "toyota"].entries()) {
      await make.locator("button.json-schema-form-item-add").click();
      await make.locator("input").nth(index).fill(word);
    }
    const found = await tried(search);
    const asked = new URL(found.address).searchParams;
    assert.deepEqual([...asked.keys()], ["limit", "offset", "sort", "fields", "make"]);
    assert.equal(asked.get("make"), "honda,toyota");
    assert.equal(found.status, "200");
    const makes = found.body.data.map((listing: { make: string }) => listing.make);
    assert.deepEqual(new Set(makes), new Set(["Honda", "Toyota"]));

    const { id } = found.body.data[0];
    const detail = await opening(page, "Listings", "getListing");
    await detail.locator('tr[data-param-name="listing_id"] input').fill(id);
    const one = await tried(detail);
    assert.deepEqual([one.status, one.body.data.id], ["200", id]);

    assert.deepEqual(faults, []);
    assert.deepEqual(elsewhere(requests), []);
  });
});
