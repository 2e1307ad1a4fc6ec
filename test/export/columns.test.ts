/** The columns of exports: every served field has one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { resolve, vocabulary } from "../../src/contract/document.ts";
import { exportColumns } from "../../src/export/columns.ts";
import { flatColumns } from "../../src/lake/analyst/flat-listings.ts";

test("every field that is served, to clients or to analysts, is a column of exports", () => {
  const names = exportColumns.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  const ofRequests = ["status", "inventory_status", "distance_miles", "options"];
  // `filled_from_vin` says where values of other columns come from: in details, `build.derived`.
  const ofListings = Object.keys(flatColumns).filter((name) => name !== "row_number" && name !== "filled_from_vin");
  assert.deepEqual(names.filter((name) => !ofRequests.includes(name)).sort(), ofListings.sort());
  const fields = vocabulary("exportListings", "fields").filter((field) => field !== "default");
  assert.deepEqual(
    fields,
    names.filter((name) => name !== "price_history" && name !== "options"),
  );
  const otherNames: Readonly<Record<string, string>> = {
    name: "dealer_name",
    phone: "dealer_phone",
    combined_msrp: "msrp",
    photo_url_primary: "photo_urls",
    inventory_date: "listed_at",
    price_change_total: "price_drop",
    unknown_costs: "all_in_price",
  };
  for (const schema of ["ListingSummary", "ListingDetail", "DealerBrief", "Build"]) {
    const { properties } = resolve<{ readonly properties: object }>({ $ref: `#/components/schemas/${schema}` });
    for (const property of Object.keys(properties).filter((name) => !["dealer", "vehicle", "derived"].includes(name)))
      assert.ok(names.includes(otherNames[property] ?? property), `${schema}.${property}`);
  }
});
