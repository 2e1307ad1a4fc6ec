/** Compares paging through a search with the oracle's order. */
import assert from "node:assert/strict";
import { vocabulary } from "../../../src/contract/document.ts";
import { fetchListings } from "../../support/http/paging.ts";
import type { Client } from "../../support/http/service.ts";
import type { OracleInventory } from "../answers/inventory.ts";
import { oracleSearch } from "../answers/search.ts";
import { pathOf, type Query } from "../random-requests/query.ts";

export const sorts = vocabulary("searchListings", "sort");

/** Pages through all matches of a query; returns their number. Fails if a listing repeats or is out of order. */
export async function pageThrough(
  client: Client,
  inventory: OracleInventory,
  query: Query,
  limit: number,
): Promise<number> {
  const expected: unknown[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { data, pagination } = oracleSearch(
      inventory,
      new Map([...query, ["limit", "100"], ["offset", String(offset)]]),
    );
    expected.push(...data.map(({ id }) => id));
    offset = pagination.next_offset;
  }
  const path = pathOf("searchListings", query);
  const found = await fetchListings(client, path.split("?")[1] ?? "", limit);
  assert.equal(new Set(found.map(({ id }) => id)).size, found.length, `${path}: each listing once`);
  assert.deepEqual(
    found.map(({ id }) => id),
    expected,
    `${path}: in its order, ${limit} at a time`,
  );
  return found.length;
}
