/** Whether a service, or an open version, and the oracle answer the same requests alike. */
import assert from "node:assert/strict";
import { isObject } from "../../../src/base/json.ts";
import { facetsOf, type TooNarrow, tooNarrow } from "../answers/facets.ts";
import { oracleSearch } from "../answers/listings.ts";
import type { Market } from "../answers/market.ts";
import { type Operation, pathOf, type Query } from "../random-requests/query.ts";
import type { Request } from "../random-requests/requests.ts";
import { differenceIn } from "./differences.ts";

/** What answers requests: a service, or an open version, whose answers have no headers. */
export interface Answering {
  get(path: string): Promise<ComparedAnswer>;
}

export interface ComparedAnswer {
  readonly status: number;
  readonly headers?: Headers;
  readonly body: unknown;
}

export interface Agreed {
  readonly requests: number;
  /** Requests that found something. */
  readonly found: number;
  /** Requests that the oracle refuses too. */
  readonly refused: number;
  /** Listings, or buckets of facets, that were compared. */
  readonly compared: number;
}

const concurrentRequests = 8;

/** Sends each request and compares the answers; fails with the first request that is answered differently. */
export async function agree(client: Answering, market: Market, requests: Iterable<Request>): Promise<Agreed> {
  let agreed: Agreed = { requests: 0, found: 0, refused: 0, compared: 0 };
  await eachOf(requests, async (request) => {
    const { difference, total, compared, isRefused } = await compareOne(client, market, request);
    if (difference !== undefined) assert.fail(difference);
    agreed = {
      requests: agreed.requests + 1,
      found: agreed.found + Number(total > 0),
      refused: agreed.refused + Number(isRefused === true),
      compared: agreed.compared + compared,
    };
  });
  return agreed;
}

/** Does something with each of many things, some at a time; fails with the first failure. */
export async function eachOf<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: concurrentRequests }, worker));
}

export interface Comparison {
  /** The first difference, in words; undefined when there is none. */
  readonly difference: string | undefined;
  readonly total: number;
  readonly compared: number;
  /** Whether the oracle refuses the request. */
  readonly isRefused?: boolean;
}

/** Sends a request and says how its answer differs from the oracle's, if it does. */
export async function compareOne(client: Answering, market: Market, request: Request): Promise<Comparison> {
  return oracleOf(market, request)(await client.get(pathOf(request.operation, request.query)));
}

/** Compares answers to a request with the oracle's. */
export function oracleOf(market: Market, { operation, query }: Request): (answer: ComparedAnswer) => Comparison {
  const path = pathOf(operation, query);
  const at = ({ difference, ...rest }: Comparison): Comparison => ({
    difference: difference && `${path}\n${difference}`,
    ...rest,
  });
  const refusals = operation === "getFacets" ? tooNarrow(market, query) : [];
  if (refusals.length > 0)
    return (answer) => at({ difference: refusalDifference(answer, refusals), total: 0, compared: 0, isRefused: true });
  const compare = comparisons[operation](market, query);
  return (answer) =>
    answer.status === 200
      ? at(compare(answer))
      : at({ difference: `answered ${answer.status} ${JSON.stringify(answer.body)}`, total: 0, compared: 0 });
}

/** Answers a request as the oracle does, and compares others with that. */
type Comparer = (market: Market, query: Query) => (answer: ComparedAnswer) => Comparison;

const comparisons: Readonly<Record<Operation, Comparer>> = {
  searchListings: compareListings,
  searchListingsByPage: (market, query) => {
    const compare = compareListings(market, query);
    return (answer) => {
      const { difference, ...counts } = compare(answer);
      return { difference: difference ?? deprecationDifference(answer), ...counts };
    };
  },
  getFacets: (market, query) => {
    const expected = facetsOf(market, query);
    const { total, facets } = expected.data;
    const compared = Object.values(facets).reduce((sum, buckets) => sum + buckets.length, 0);
    return ({ body }) => ({ difference: differenceIn("body", body, expected), total, compared });
  },
};

function deprecationDifference({ headers }: ComparedAnswer): string | undefined {
  if (headers === undefined) return undefined;
  const served = { Link: headers.get("Link"), isDated: /^@\d+$/.test(headers.get("Deprecation") ?? "") };
  return differenceIn("headers", served, { Link: '</v1/listings>; rel="successor-version"', isDated: true });
}

/** Describes how an answer differs from the refusal of a width that gives too many buckets; any one of them may be named. */
function refusalDifference({ status, body }: ComparedAnswer, refusals: readonly TooNarrow[]): string | undefined {
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  const isNamed = refusals.some(({ facet, leastWidth }) =>
    new RegExp(`\\b${facet}\\b.*\\b${leastWidth}\\b`).test(String(error.message)),
  );
  if (status === 400 && error.code === "invalid_parameter_value" && isNamed) return undefined;
  return `answered ${status} ${JSON.stringify(body)}, expected a refusal of interval: ${JSON.stringify(refusals)}`;
}

function compareListings(market: Market, query: Query): (answer: ComparedAnswer) => Comparison {
  const { pagination, data } = oracleSearch(market, query);
  const ids = (listings: readonly { readonly id?: unknown }[]): readonly unknown[] => listings.map(({ id }) => id);
  const meta = { as_of: market.asOf, version: market.version };
  return ({ body }) => {
    const served = body as { readonly data: readonly { readonly id: string }[]; readonly pagination: unknown };
    const difference =
      differenceIn("pagination", served.pagination, pagination) ??
      differenceIn("ids", ids(served.data), ids(data)) ??
      differenceIn("body", body, { data, pagination, meta });
    return { difference, total: pagination.total, compared: data.length };
  };
}
