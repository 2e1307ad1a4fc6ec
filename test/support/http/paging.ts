/** Fetches the pages of a search, as a client does. */
import assert from "node:assert/strict";
import type { AnswerOf } from "../../../src/contract/types.ts";
import type { Client } from "./service.ts";

export type Page = AnswerOf<"searchListings">;
export type ServedListing = Page["data"][number];

/** Fetches one page; `query` has neither `limit` nor `offset`. */
export function fetchPage(client: Client, query: string, limit: number, offset: number): Promise<Page> {
  const path = `/v1/listings?${query === "" ? "" : `${query}&`}limit=${limit}&offset=${offset}`;
  return client.getBody("searchListings", path);
}

/** Fetches the listings of a search in order, page after page, at most `pagesMax` pages. */
export async function fetchListings(
  client: Client,
  query: string,
  limit: number,
  pagesMax = Number.POSITIVE_INFINITY,
): Promise<readonly ServedListing[]> {
  const listings: ServedListing[] = [];
  let offset: number | null = 0;
  for (let pages = 0; offset !== null && pages < pagesMax; pages += 1) {
    const page: Page = await fetchPage(client, query, limit, offset);
    const { data } = page;
    const { next_cursor: _, ...pagination } = page.pagination;
    listings.push(...data);
    const nextOffset: number = offset + limit;
    const { total } = pagination;
    const expected: Page["pagination"] = { limit, offset, total, next_offset: nextOffset < total ? nextOffset : null };
    assert.deepEqual(pagination, expected, query);
    assert.equal(data.length, Math.min(limit, Math.max(0, pagination.total - offset)), query);
    offset = pagination.next_offset;
  }
  return listings;
}

/** Fetches the number of listings that a search finds. */
export async function fetchTotal(client: Client, query: string): Promise<number> {
  return (await fetchPage(client, `${query}&fields=id`, 1, 0)).pagination.total;
}
