/** A feed with markup and scripts in every text: pages show them as texts, and follow none of its URLs. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { type FeedTable, feed } from "../../src/ingest/feed/feed-schema.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { startService } from "../support/http/service.ts";
import { dealerIdOf, type FeedRow, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, signedInBrowser } from "../support/web/site.ts";

/** Texts that would run a script if one were not escaped, at most 32 characters long. */
const payloads = ["<img src=x onerror=alert(1)>", '"><script>alert(1)</script>', "'-alert(1)-'</script>"];
const urls = ["javascript:alert(1)", "https://evil.example/x.png", "data:text/html,<script>alert(1)</script>"];

/** Returns a row with a payload in every text of a table that takes any text, and a URL in every URL. */
function hostileRow(table: FeedTable, index: number): FeedRow {
  const texts = Object.entries(feed[table].properties).flatMap(([name, schema]) => {
    const value: object = "items" in schema && schema.items !== undefined ? schema.items : schema;
    if (!("type" in value) || value.type !== "string" || "enum" in value || "pattern" in value) return [];
    return [[name, ("format" in value && value.format === "uri" ? urls : payloads)[index] ?? ""] as const];
  });
  return Object.fromEntries(texts);
}

const numbers = { year: 2024, price: 20000, miles: 10, base_msrp: 25000, displayed_provider_current_price_usd: 20000 };

const { lake } = await createLake(
  fileScope,
  await writeFeeds(join(await temporaryFolder(fileScope), "feeds"), "2026-11-19", {
    dealers: payloads.map((_, index) => ({
      ...hostileRow("dealers", index),
      dealer_id: dealerIdOf(index),
      state: "CA",
    })),
    inventory: payloads.map((label, index) => ({
      ...hostileRow("inventory", index),
      ...numbers,
      vin: vinOf(index),
      dealer_id: dealerIdOf(index),
      observed_at: "",
      line_items: JSON.stringify([{ amount_usd: 1, raw_label: label, role: label, applicability: label }]),
    })),
    options: payloads.map((text) => ({ make: text, code: text, name: text, msrp: 100 })),
  }),
);
const client = await startService(fileScope, lake);

/** Fails if a page has an element, an attribute or a link that a feed has written. */
async function assertHarmless(page: Page): Promise<void> {
  const found = await page.evaluate(() =>
    [...document.querySelectorAll("img, iframe, script:not([src]), [onerror]")].map(({ outerHTML }) => outerHTML),
  );
  assert.deepEqual(found, [], page.url());
  const links = await page
    .locator("a[href]:not([download])")
    .evaluateAll((all) =>
      all.flatMap((link) =>
        link instanceof HTMLAnchorElement ? [{ protocol: link.protocol, host: link.host, rel: link.rel }] : [],
      ),
    );
  for (const { protocol, host, rel } of links) {
    assert.match(protocol, /^https?:$/, page.url());
    if (host !== new URL(client.url).host) assert.equal(rel, "noopener noreferrer nofollow", page.url());
  }
}

test("scripts and markup in the texts of a feed are shown, not run", { skip: skipWithoutBrowser }, async (scope) => {
  const site = await signedInBrowser(scope, client);
  const { data } = await client.getBody("searchListings", "/v1/listings");
  assert.equal(data.length, payloads.length);
  assert.deepEqual(new Set(data.map(({ trim }) => trim)), new Set(payloads));
  const paths = data.flatMap(({ id, dealer_id }) => [`/listings/${id}`, `/dealers/${dealer_id}`]);
  const search = payloads.map((text) => `/find?q=${encodeURIComponent(text)}`);
  const kept = `/shop?ids=${data.map(({ id }) => id).join()}&view=table`;
  const view = `/shop?trim=${encodeURIComponent(payloads[1] ?? "")}&make=${encodeURIComponent(payloads[0] ?? "")}`;
  for (const path of ["/", "/shop", "/shop?view=table", view, kept, ...search, ...paths]) {
    const page = await site.open(path);
    await assertHarmless(page);
    await page.close();
  }
  const page = await site.open(paths[0] ?? "");
  const text = (await page.locator("main").textContent()) ?? "";
  assert.ok(payloads.some((payload) => text.includes(payload)));
  await assertAccessible(page);
  assert.deepEqual(site.faults, []);
});
