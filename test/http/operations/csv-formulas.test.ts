/** Texts of a feed that a spreadsheet would take for formulas, in CSV for people and for machines. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { startService } from "../../support/http/service.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

/** Stock numbers, which are served unchanged, and as CSV has them. */
const texts: readonly (readonly [delivered: string, escaped: string])[] = [
  ["=HYPERLINK(1)", "'=HYPERLINK(1)"],
  ["+1", "'+1"],
  ["-2+3", "'-2+3"],
  ["@SUM(1)", "'@SUM(1)"],
  ["＝1", "'＝1"],
  ["'=1", "'=1"],
  ["1=1", "1=1"],
  ["plain", "plain"],
];

const dealers = [{ dealer_id: dealerIdOf(1), name: "=North", state: "CA" }];
const inventory = texts.map(([stock_number], n) => ({
  vin: vinOf(n),
  dealer_id: dealerIdOf(1),
  make: "Honda",
  model: "Civic",
  price: 20_000 + n,
  msrp: 15_000,
  stock_number,
}));
const feeds = await temporaryFolder(fileScope);
const { lake } = await createLake(fileScope, await writeFeeds(feeds, "2026-03-20", { dealers, inventory }));
const service = await startService(fileScope, lake, { exports: { folder: join(feeds, "spool") } });

type CsvRow = Readonly<Record<string, string>>;

async function rowsOf(path: string): Promise<readonly CsvRow[]> {
  const response = await fetch(`${service.url}${path}&format=csv`, { headers: service.customer.bearer });
  assert.equal(response.status, 200, path);
  const rows: CsvRow[] = parse(await response.text(), { columns: true });
  return rows;
}

const escaped = texts.map(([, text]) => text);
const delivered = texts.map(([text]) => text);

for (const path of ["/v1/listings?", "/v1/exports?", `/v1/dealers/${dealerIdOf(1)}/listings?`])
  test(`formulas in texts are escaped unless csv_raw=true, and numbers never: ${path}`, async () => {
    const query = `${path}sort=price&fields=stock_number,dealer_name,discount_from_msrp`;
    const safe = await rowsOf(query);
    const raw = await rowsOf(`${query}&csv_raw=true`);
    assert.deepEqual(
      safe.map((row) => row.stock_number),
      escaped,
    );
    assert.deepEqual(
      raw.map((row) => row.stock_number),
      delivered,
    );
    assert.deepEqual([safe[0]?.dealer_name, raw[0]?.dealer_name], ["'=North", "=North"]);
    assert.match(safe[0]?.discount_from_msrp ?? "", /^-?0\.3\d+$/);
  });

test("dealers are escaped, too, and other formats never", async () => {
  assert.equal((await rowsOf("/v1/dealers?limit=1"))[0]?.name, "'=North");
  const { data } = await service.getBody("searchListings", "/v1/listings?sort=price&fields=stock_number");
  assert.deepEqual(
    data.map((listing) => listing.stock_number),
    delivered,
  );
});
