/** Exports from the explorer, in a browser and without its scripts, and the requests that they stand for. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { vocabulary } from "../../src/contract/document.ts";
import { exportColumns } from "../../src/export/columns.ts";
import { exportFormats } from "../../src/formats/table-formats.ts";
import { fieldsAmong } from "../../src/query/fields.ts";
import { equivalentSql } from "../../src/web/explorer/equivalent-sql.ts";
import { type CustomerOptions, createCustomer } from "../support/accounts.ts";
import { eventually } from "../support/eventually.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { responseReaders } from "../support/http/read-formats.ts";
import { sampleService, startService } from "../support/http/service.ts";
import { queryLake } from "../support/lakes/lakes.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const { lake, client } = await sampleService();

const totalOf = async (query: string): Promise<number> =>
  (await client.getBody("searchListings", `/v1/listings?${query}&limit=1`)).pagination.total;

test("an export is priced, written, charged and downloaded from its dialog, in each format", {
  skip: skipWithoutBrowser,
}, async (scope) => {
  const site = await signedInBrowser(scope, client);
  const page = await site.open("/?make=Toyota");
  await page.evaluate(() => {
    const link = document.querySelector("#results")?.appendChild(document.createElement("a"));
    link?.setAttribute("href", `/export${location.search}`);
    link?.setAttribute("data-export", "");
    link?.append("Export this");
  });
  const total = await totalOf("make=Toyota");
  const readers = await responseReaders(scope);
  const fields: readonly string[] = fieldsAmong(vocabulary("exportListings", "fields"), ["default"]);
  const columns = exportColumns.filter(({ name }) => fields.includes(name));
  const read: number[] = [];
  for (const format of exportFormats) {
    await page.getByText("Export this").click();
    const dialog = page.getByRole("dialog", { name: `Export ${total} listings` });
    await dialog.locator(`input[value=${format}]`).check();
    await dialog.getByRole("button", { name: "Export for $0.01" }).click();
    const written = page.getByRole("dialog", { name: `Exported ${total} listings` });
    await written.getByText("$0.01 charged.").waitFor();
    const started = page.waitForEvent("download");
    await written.getByRole("link", { name: "Download" }).click();
    const body = await readFile(await (await started).path());
    const { rows } = await readers[format](body, columns);
    read.push(rows.length);
    await written.getByRole("link", { name: "Close" }).click();
  }
  assert.deepEqual(read, [total, total, total, total]);
  await page.getByText("Export this").click();
  await page.locator(".export summary").first().click();
  await assertAccessible(page);
  await assertFitsPhone(page);
  assert.deepEqual(site.faults, []);
});

test("an export that is stopped has no file, and another account cannot see it", async (t) => {
  // Without quick exports, a process writes each one, and takes a second to start.
  const slow = await startService(t, lake, { exports: { quickRowsMax: 0 } });
  const sessionOf = async (accountId: string) => `carquet-session=${await slow.sessions.create(accountId)}`;
  const own = await sessionOf(slow.customer.accountId);
  const send = (path: string, cookie: string, fields?: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(new URL(path, slow.url), {
      headers: { Cookie: cookie, Accept: "text/html", "Sec-Fetch-Site": "same-origin" },
      redirect: "manual",
      ...(fields === undefined ? {} : { method: "POST", body: new URLSearchParams(fields) }),
    });
  const page = await (await send("/export?make=Toyota", own)).text();
  const [, token = ""] = /name="csrf_token" value="([^"]+)"/.exec(page) ?? [];
  const started = await send("/export", own, { csrf_token: token, make: "Toyota", format: "csv" });
  const location = started.headers.get("Location") ?? "";
  assert.match(await (await send(location, own)).text(), /Exporting \d+ listings/);
  assert.equal((await send(`${location}/file`, own)).status, 404);
  assert.equal((await send(location, await sessionOf(createCustomer(slow.accounts).accountId))).status, 404);
  assert.equal((await send(`${location}/stop`, own, { csrf_token: token })).status, 303);
  assert.match(await (await send(location, own)).text(), /Stopped exporting \d+ listings.*cost \$0\.00/s);
  assert.equal((await send("/export", own, { csrf_token: "forged", make: "Toyota" })).status, 403);
});

/** A new account, signed in, which exports without a browser. */
async function visitorOf(options: CustomerOptions = {}) {
  const { accountId } = createCustomer(client.accounts, options);
  const cookie = `carquet-session=${await client.sessions.create(accountId)}`;
  const open = (path: string): Promise<Response> => fetch(`${client.url}${path}`, { headers: { Cookie: cookie } });
  const csrf_token = csrfTokenIn(await (await open("/export?make=Toyota")).text());
  const start = async (): Promise<string> => {
    const started = await sendForm(client.url, "/export", { csrf_token, make: "Toyota", format: "csv" }, { cookie });
    return started.headers.get("Location") ?? assert.fail(String(started.status));
  };
  return { open, start };
}

test("the newest fifty exports of an account are remembered, however many others have", async () => {
  const one = await visitorOf();
  const other = await visitorOf();
  const first = await one.start();
  const ofOther = await other.start();
  for (let count = 1; count < 50; count += 1) await one.start();
  assert.equal((await one.open(first)).status, 200);
  await one.start();
  assert.deepEqual([(await one.open(first)).status, (await other.open(ofOther)).status], [404, 200]);
});

test("the page before an export counts as one request, and so does its form", async () => {
  const { open, start } = await visitorOf({ override: { per10s: 2, per60s: 2 } });
  const location = await start();
  await eventually("exported", async () => /Exported \d+ listings/.test(await (await open(location)).text()));
  assert.equal((await open("/export?make=Toyota")).status, 429);
});

test("the statement of a search finds as many listings as the search", async () => {
  const queries = [
    "make=toyota,HONDA&min_price=20000&sort=-price",
    "model=f-150&exclude_state=CA&snapshot_date=2026-11-18",
    "year=2022,2023&body_type=SUV&max_mileage=60000&inventory_type=used",
    "exclude_make=ford",
  ];
  for (const query of queries) {
    const statement = equivalentSql("/v1/listings", new URLSearchParams(query)) ?? "";
    const { pagination } = await client.getBody("searchListings", `/v1/listings?${query}&limit=1`);
    const [found] = await queryLake(lake, `SELECT count(*) AS total FROM (${statement})`);
    assert.equal(Number(found?.total), pagination.total, statement);
  }
  for (const query of ["postal_code=98109&radius=50", "features=sunroof", "sort=distance", "inventory_status=sold"])
    assert.equal(equivalentSql("/v1/listings", new URLSearchParams(query)), undefined, query);
  assert.equal(equivalentSql("/v1/facets", new URLSearchParams("facets=make")), undefined);
});
