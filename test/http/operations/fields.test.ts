/** The `fields` of a listing search, and their values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "../../../src/base/json.ts";
import { vocabulary } from "../../../src/contract/document.ts";
import { extensionNames } from "../../../src/listing/schema.ts";
import { fetchListings, fetchPage } from "../../support/http/paging.ts";
import { sampleService } from "../../support/http/service.ts";
import { queryLake } from "../../support/lakes/lakes.ts";

const { lake, client } = await sampleService();

const onRequest = ["features", "keywords", "options_packages", ...extensionNames];
const every = vocabulary("searchListings", "fields").filter((field) => field !== "default");
const summary = every.filter((field) => !onRequest.includes(field));
const all = await fetchListings(client, `fields=default,${onRequest.join(",")}`, 100);
const sorted = (list: readonly string[]): readonly string[] => [...list].sort();

const cases: readonly (readonly [query: string, served: readonly string[]])[] = [
  ["", summary],
  ["fields=default", summary],
  ["fields=Default,Features", [...summary, "features"]],
  ["fields=features,default,options_packages", [...summary, "features", "options_packages"]],
  ["fields=default,price", summary],
  [`fields=${every.join(",")}`, every],
  ["fields=id", ["id", "vin"]],
  ["fields=vin", ["id", "vin"]],
  ["fields=price", ["id", "vin", "price"]],
  ["fields=price,make", ["id", "vin", "make", "price"]],
  ["fields=make,price", ["id", "vin", "make", "price"]],
  ["fields=features", ["id", "vin", "features"]],
  ["fields=options_packages,distance_miles", ["id", "vin", "distance_miles", "options_packages"]],
  ["fields=status,inventory_status", ["id", "vin", "status", "inventory_status"]],
];

for (const [query, served] of cases) {
  test(`${query === "" ? "without fields" : query.slice(0, 60)}: each listing has exactly the expected keys`, async () => {
    const { data } = await fetchPage(client, query, 40, 0);
    assert.equal(data.length, 40);
    for (const listing of data) assert.deepEqual(sorted(Object.keys(listing)), sorted(served));
  });
}

for (const field of every) {
  test(`the field ${field} requested alone has the values it has among all fields`, async () => {
    const alone = (await fetchPage(client, `fields=${field}`, 100, 0)).data;
    assert.deepEqual(
      alone,
      all
        .slice(0, 100)
        .map((listing) => ({ id: listing.id, vin: listing.vin, [field]: listing[field as keyof typeof listing] })),
    );
  });
}

test("filters, expansions and unknown names are not fields", async () => {
  for (const field of ["model_code", "assembly_country", "price_history", "options", "base_msrp", "*"]) {
    const { status, code, message } = await client.getError(`/v1/listings?fields=id,${field}`);
    assert.deepEqual([status, code], [400, "invalid_parameter_value"], field);
    assert.ok(message.startsWith(`Invalid value "${field}" for fields: expected one of default, id, `), message);
  }
});

const stamp = (stored: unknown): string => `${String(stored).slice(0, 19).replace(" ", "T")}Z`;

/** Fields that are served in another form than the lake's. */
const servedForm: Readonly<Record<string, (row: Row) => unknown>> = {
  status: () => "active",
  inventory_status: () => "active",
  distance_miles: () => null,
  listed_at: (row) => stamp(row.listed_at),
  price_changed_at: (row) => (row.price_changed_at === null ? null : stamp(row.price_changed_at)),
};

test("every served field matches the lake", async () => {
  const rows = new Map((await queryLake(lake, "FROM active")).map((row) => [row.id, row]));
  assert.equal(all.length, rows.size);
  for (const listing of all) {
    const row = rows.get(listing.id);
    assert.ok(row);
    assert.deepEqual(
      listing,
      Object.fromEntries(every.map((field) => [field, (servedForm[field] ?? ((of: Row) => of[field]))(row)])),
    );
  }
});

test("a discount is (price - MSRP) / MSRP, rounded to 4 decimals", async () => {
  const found = await fetchListings(client, "fields=price,msrp,discount_from_msrp", 100);
  for (const { price, msrp, discount_from_msrp, id } of found) {
    if (price == null || msrp == null || msrp === 0) {
      assert.equal(discount_from_msrp, null, id);
      continue;
    }
    assert.ok(typeof discount_from_msrp === "number", id);
    assert.ok(Math.abs(discount_from_msrp - (price - msrp) / msrp) <= 0.00005 + 1e-12, id);
    assert.equal(discount_from_msrp, Number(discount_from_msrp.toFixed(4)), id);
  }
  assert.ok(found.some(({ discount_from_msrp }) => (discount_from_msrp ?? 0) < 0));
});

test("whole numbers are served as numbers, times with a zone, lists as arrays", async () => {
  const [listing] = await fetchListings(
    client,
    "fields=default,features,options_packages&min_price=1&min_msrp=1",
    100,
    1,
  );
  assert.ok(listing);
  for (const field of ["year", "price", "miles", "msrp", "days_on_market"] as const)
    assert.ok(Number.isInteger(listing[field]), field);
  assert.match(String(listing.listed_at), /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
  for (const field of ["photo_urls", "features", "options_packages"] as const)
    assert.ok(Array.isArray(listing[field]), field);
});
