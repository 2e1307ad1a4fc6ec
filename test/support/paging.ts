/** Walks through a search page by page, as a client would. */
import assert from "node:assert/strict";
import type { AnswerOf } from "../../src/contract/types.ts";
import type { Client } from "./service.ts";

export type Page = AnswerOf<"searchListings">;
export type ServedListing = Page["data"][number];

/** One page of a search; `query` is without `limit` and `offset`. */
export function servedPage(client: Client, query: string, limit: number, offset: number): Promise<Page> {
  const path = `/v1/listings?${query === "" ? "" : `${query}&`}limit=${limit}&offset=${offset}`;
  return client.found("searchListings", path);
}

/** The listings of a search in their order, page after page, at most so many pages. */
export async function walk(
  client: Client,
  query: string,
  limit: number,
  pagesMost = Number.POSITIVE_INFINITY,
): Promise<readonly ServedListing[]> {
  const listings: ServedListing[] = [];
  let offset: number | null = 0;
  for (let pages = 0; offset !== null && pages < pagesMost; pages += 1) {
    const { data, pagination }: Page = await servedPage(client, query, limit, offset);
    listings.push(...data);
    const end: number = offset + limit;
    const { total } = pagination;
    const expected: Page["pagination"] = { limit, offset, total, next_offset: end < total ? end : null };
    assert.deepEqual(pagination, expected, query);
    assert.equal(data.length, Math.min(limit, Math.max(0, pagination.total - offset)), query);
    offset = pagination.next_offset;
  }
  return listings;
}

/** How many listings a search finds. */
export async function servedTotal(client: Client, query: string): Promise<number> {
  return (await servedPage(client, `${query}&fields=id`, 1, 0)).pagination.total;
}
