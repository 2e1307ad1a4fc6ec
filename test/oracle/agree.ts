/** Whether the service and the oracle answer the same requests with the same listings. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { Client } from "../support/service.ts";
import { search } from "./listings.ts";
import type { Market } from "./market.ts";
import { numberOf, pathOf, type Query } from "./query.ts";

export interface Agreed {
  readonly requests: number;
  /** Requests that found something. */
  readonly found: number;
  /** Listings whose every field was compared. */
  readonly listings: number;
}

const concurrentRequests = 8;

/** Sends each request and compares the answers; fails with the first request that is answered differently. */
export async function agree(client: Client, market: Market, requests: Iterable<Query>): Promise<Agreed> {
  let agreed: Agreed = { requests: 0, found: 0, listings: 0 };
  for (const queries of inGroups(requests, concurrentRequests)) {
    const outcomes = await Promise.all(queries.map((query) => compareOne(client, market, query)));
    for (const { difference, total, listings } of outcomes) {
      if (difference !== undefined) assert.fail(difference);
      agreed = {
        requests: agreed.requests + 1,
        found: agreed.found + Number(total > 0),
        listings: agreed.listings + listings,
      };
    }
  }
  return agreed;
}

function* inGroups<Item>(items: Iterable<Item>, size: number): Generator<readonly Item[]> {
  let group: Item[] = [];
  for (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

interface Outcome {
  /** The first difference, in words; undefined when there is none. */
  readonly difference: string | undefined;
  readonly total: number;
  readonly listings: number;
}

/** Sends a request and says how its answer differs from the oracle's, if it does. */
export async function compareOne(client: Client, market: Market, query: Query): Promise<Outcome> {
  const path = pathOf(query);
  const { total, page } = search(market, query);
  const { data, pagination } = await client.found("searchListings", path);
  const limit = numberOf(query, "limit") ?? 50;
  const offset = numberOf(query, "offset") ?? 0;
  const next_offset = offset + limit < total ? offset + limit : null;
  const ids = (listings: readonly { readonly id?: unknown }[]): readonly unknown[] => listings.map(({ id }) => id);
  const difference =
    differenceIn("pagination", pagination, { limit, offset, total, next_offset }) ??
    differenceIn("ids", ids(data), ids(page)) ??
    data
      .map((listing, index) => differenceIn(`data[${index}]`, listing, page[index]))
      .find((found) => found !== undefined);
  return { difference: difference && `${path}\n${difference}`, total, listings: data.length };
}

/** The first place in which two values differ; undefined when they are the same. */
function differenceIn(place: string, served: unknown, expected: unknown): string | undefined {
  if (isDeepStrictEqual(served, expected)) return undefined;
  if (!isKeyed(served) || !isKeyed(expected)) {
    return `${place}: served ${JSON.stringify(served)}, expected ${JSON.stringify(expected)}`;
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(served)]);
  for (const key of keys) {
    const difference = differenceIn(`${place}.${key}`, served[key], expected[key]);
    if (difference !== undefined) return difference;
  }
  return `${place}: served the keys ${Object.keys(served)}, expected ${Object.keys(expected)}`;
}

/** Whether a value has parts: a list or an object. */
function isKeyed(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
