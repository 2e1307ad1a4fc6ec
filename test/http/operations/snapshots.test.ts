/** The parameter `snapshot_date` of a listing search. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchListings, fetchTotal } from "../../support/http/paging.ts";
import { sampleService } from "../../support/http/service.ts";
import { queryLake } from "../../support/lakes/lakes.ts";

const { lake, client } = await sampleService();

for (const day of ["2026-11-18", "2026-11-19"]) {
  test(`snapshot_date=${day} is the active inventory of that day`, async () => {
    const rows = await queryLake(
      lake,
      `SELECT id, vin, price, days_on_market FROM active_days WHERE snapshot_date = '${day}' ORDER BY id`,
    );
    const found = await fetchListings(client, `snapshot_date=${day}&fields=price,days_on_market`, 100);
    assert.deepEqual(
      [...found].sort((one, other) => (one.id < other.id ? -1 : 1)),
      rows,
    );
    assert.ok(rows.length > 150);
  });
}

test("the snapshot of the as-of date is the active inventory, in every sort", async () => {
  for (const sort of ["days_on_market", "-price", "discount"]) {
    const today = await fetchListings(client, `sort=${sort}`, 100);
    assert.deepEqual(await fetchListings(client, `sort=${sort}&snapshot_date=2026-11-19`, 100), today);
    assert.deepEqual(await fetchListings(client, `sort=${sort}&inventory_status=active`, 100), today);
  }
});

test("filters apply to a snapshot as they do to active listings", async () => {
  const rows = await queryLake(
    lake,
    "SELECT count(*)::INTEGER AS n FROM active_days WHERE snapshot_date = '2026-11-18' AND make = 'Toyota' AND price <= 40000",
  );
  assert.equal(await fetchTotal(client, "snapshot_date=2026-11-18&make=toyota&max_price=40000"), rows[0]?.n);
});

test("an answer names the published version, also for a past day", async () => {
  const { meta } = await client.getBody("searchListings", "/v1/listings?snapshot_date=2026-11-18");
  assert.deepEqual(meta, { as_of: "2026-11-19", currency: "USD", data_version: "2026-11-19.1" });
});

for (const day of ["2026-11-17", "2026-11-20", "1999-12-31"]) {
  test(`a day without a snapshot, ${day}, is refused with the first and last available day`, async () => {
    const { status, code, message } = await client.getError(`/v1/listings?snapshot_date=${day}`);
    assert.deepEqual([status, code], [400, "snapshot_unavailable"]);
    assert.equal(
      message,
      `No snapshot for snapshot_date ${day}: expected a day with a snapshot, from 2026-11-18 to 2026-11-19.`,
    );
  });
}

test("a snapshot and sold listings cannot be combined", async () => {
  for (const sold of ["inventory_status=sold", "sold_within_days=7", "inventory_status=active&sold_within_days=7"]) {
    const { status, code, message } = await client.getError(`/v1/listings?snapshot_date=2026-11-18&${sold}`);
    assert.deepEqual([status, code], [400, "incompatible_parameters"], sold);
    assert.match(message, /^snapshot_date and (inventory_status=sold|sold_within_days) cannot be combined: /);
  }
});

test("a malformed or impossible snapshot_date is refused", async () => {
  for (const day of ["2026-02-30", "20261118", "18.11.2026", "2026-11-18T00:00:00Z"]) {
    assert.equal((await client.getError(`/v1/listings?snapshot_date=${day}`)).code, "invalid_parameter_value", day);
  }
});
