/** The TypeScript client in a page of another origin, in Chromium, and what the service allows such pages. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { buildSync } from "esbuild";
import type { Page } from "playwright-core";
import { projectPath } from "../../src/base/project-files.ts";
import { createCustomer } from "../support/accounts.ts";
import { launchBrowser, skipWithoutBrowser } from "../support/http/browser.ts";
import { fetchTotal } from "../support/http/paging.ts";
import { type Client, sampleService, startService } from "../support/http/service.ts";
import { fileScope, onScopeEnd } from "../support/scope.ts";

const { client: closed, lake } = await sampleService();
const elsewhere = await servePage();
const open = await startService(fileScope, lake, { corsOrigins: ["https://app.example", elsewhere] });
const openToAll = await startService(fileScope, lake, { corsOrigins: ["*"] });

/** Serves a page with the bundled client from another port. Returns its origin. */
async function servePage(): Promise<string> {
  const entryPoints = [projectPath("clients/typescript/src/index.ts")];
  const { outputFiles } = buildSync({ entryPoints, bundle: true, format: "esm", platform: "browser", write: false });
  const server = createServer(({ url }, response) => {
    response.setHeader("Content-Type", url === "/client.js" ? "text/javascript" : "text/html");
    response.end(url === "/client.js" ? outputFiles[0]?.text : "<!doctype html><title>A page</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onScopeEnd(fileScope, async () => {
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

/** Runs the body of an async function in the page, with `carquet` and `CarquetError` of the client. */
const run = (page: Page, { url, customer }: Client, body: string): Promise<unknown> =>
  page.evaluate(`import("/client.js").then(async ({ CarquetClient, CarquetError }) => {
    const settings = ${JSON.stringify({ baseUrl: url, apiKey: customer.key, retries: 0 })};
    const carquet = new CarquetClient(settings);
    ${body}
  })`);

describe("in a page of another origin", { skip: skipWithoutBrowser }, async () => {
  const context = skipWithoutBrowser ? undefined : await launchBrowser(fileScope);
  const openPage = async (): Promise<Page> => {
    if (context === undefined) throw new TypeError("No browser.");
    const page = await context.newPage();
    await page.goto(elsewhere);
    return page;
  };
  const readFirst = "return (await carquet.listings({ limit: 1 }).pages().next()).value.pagination.total;";

  test("the client reads pages, headers of limits and charges, and errors, if the settings name the origin", async () => {
    const page = await openPage();
    const total = await fetchTotal(open, "");
    assert.equal(
      await run(page, open, "return (await carquet.listings({ limit: 30, fields: ['id'] }).toArray()).length;"),
      total,
    );
    assert.equal(await run(page, openToAll, readFirst), total);
    const headers = await run(
      page,
      open,
      `const { response } = await carquet.http.GET("/v1/listings", { params: { query: { limit: 1 } } });
       return Object.fromEntries(response.headers);`,
    );
    assert.ok(typeof headers === "object" && headers !== null);
    for (const name of [
      "X-RateLimit-Remaining-10s",
      "X-Usage-Cost-Micros",
      "Carquet-Version",
      "ETag",
      "Link",
      "X-Request-Id",
    ])
      assert.ok(name.toLowerCase() in headers, name);
    const code = await run(
      page,
      open,
      `try { await carquet.listing("none"); } catch (error) {
         return [error instanceof CarquetError, error.code, typeof error.requestId];
       }`,
    );
    assert.deepEqual(code, [true, "not_found", "string"]);
  });

  test("the client learns when to retry", async () => {
    const customer = await createCustomer(open.accounts, { override: { per10s: 1, per60s: 60 } });
    const retryAfter = await run(
      await openPage(),
      { ...open, customer },
      `await carquet.usage();
       return carquet.usage().catch(({ code, retryAfter }) => [code, retryAfter > 0]);`,
    );
    assert.deepEqual(retryAfter, ["rate_limit_exceeded", true]);
  });

  test("every request fails if no setting names the origin", async () => {
    const page = await openPage();
    await assert.rejects(run(page, closed, readFirst), /Failed to fetch/);
  });
});
