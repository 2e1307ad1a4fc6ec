/** Compares the answers of a service, or of an open version, with the oracle's. */
import assert from "node:assert/strict";
import { isObject } from "../../../src/base/json.ts";
import type { AnswerOf } from "../../../src/contract/types.ts";
import { oracleFacets, type TooNarrowWidth, tooNarrowWidths } from "../answers/facets.ts";
import { oracleGroups } from "../answers/groups.ts";
import type { OracleInventory } from "../answers/inventory.ts";
import { oracleSearch } from "../answers/search.ts";
import { oracleTrends } from "../answers/trends.ts";
import { oracleUnmatched } from "../answers/unmatched.ts";
import { type Operation, pathOf, type Query } from "../random-requests/query.ts";
import type { RandomRequest } from "../random-requests/requests.ts";
import { differenceIn } from "./differences.ts";

/** A service or an open version; answers of the latter have no headers. */
export interface ApiClient {
  get(path: string): Promise<ComparedAnswer>;
}

export interface ComparedAnswer {
  readonly status: number;
  readonly headers?: Headers;
  readonly body: unknown;
}

export interface ComparisonSummary {
  readonly requests: number;
  /** Requests that found something. */
  readonly found: number;
  /** Requests that the oracle refuses too. */
  readonly refused: number;
  /** Listings or facet buckets that were compared. */
  readonly compared: number;
}

export const nothingCompared: ComparisonSummary = { requests: 0, found: 0, refused: 0, compared: 0 };

/** Returns a summary with one more comparison. */
export const addComparison = (
  { requests, found, refused, ...summary }: ComparisonSummary,
  { total, compared, isRefused }: Comparison,
): ComparisonSummary => ({
  requests: requests + 1,
  found: found + Number(total > 0),
  refused: refused + Number(isRefused === true),
  compared: summary.compared + compared,
});

const concurrentRequests = 8;

/** Sends requests and compares the answers; fails at the first difference. */
export async function compareWithOracle(
  client: ApiClient,
  inventory: OracleInventory,
  requests: Iterable<RandomRequest>,
): Promise<ComparisonSummary> {
  let summary = nothingCompared;
  await forEachConcurrently(requests, async (request) => {
    const answer = await client.get(pathOf(request.operation, request.query));
    const comparison = oracleComparison(inventory, request)(answer);
    if (comparison.difference !== undefined) assert.fail(comparison.difference);
    summary = addComparison(summary, comparison);
  });
  return summary;
}

/** Processes items with limited concurrency; fails with the first failure. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: concurrentRequests }, worker));
}

export interface Comparison {
  /** The first difference, or undefined. */
  readonly difference: string | undefined;
  readonly total: number;
  readonly compared: number;
  /** Whether the oracle refuses the request. */
  readonly isRefused?: boolean;
}

/** Returns a function that compares answers to a request with the oracle's. */
export function oracleComparison(
  inventory: OracleInventory,
  { operation, query }: RandomRequest,
): (answer: ComparedAnswer) => Comparison {
  const path = pathOf(operation, query);
  const withPath = ({ difference, ...rest }: Comparison): Comparison => ({
    difference: difference && `${path}\n${difference}`,
    ...rest,
  });
  const refusals = operation === "getFacets" ? tooNarrowWidths(inventory, query) : [];
  if (refusals.length > 0)
    return (answer) =>
      withPath({ difference: refusalDifference(answer, refusals), total: 0, compared: 0, isRefused: true });
  const compare = comparisons[operation](inventory, query);
  return (answer) =>
    answer.status === 200
      ? withPath(compare(answer))
      : withPath({ difference: `answered ${answer.status} ${JSON.stringify(answer.body)}`, total: 0, compared: 0 });
}

/** Computes the oracle's answer to a query; returns a function that compares others with it. */
type Comparer = (inventory: OracleInventory, query: Query) => (answer: ComparedAnswer) => Comparison;

const comparisons: Readonly<Record<Operation, Comparer>> = {
  searchListings: compareListings,
  searchListingsByPage: (inventory, query) => {
    const compare = compareListings(inventory, query);
    return (answer) => {
      const { difference, ...counts } = compare(answer);
      return { difference: difference ?? deprecationDifference(answer), ...counts };
    };
  },
  getFacets: (inventory, query) => {
    const expected = oracleFacets(inventory, query);
    const { total, facets } = expected.data;
    const compared = Object.values(facets).reduce((sum, buckets) => sum + buckets.length, 0);
    return ({ body }) => ({ difference: differenceIn("body", withNames(body), expected), total, compared });
  },
  getGroups: (inventory, query) => {
    const expected = oracleGroups(inventory, query);
    const { total } = expected.meta;
    return ({ body }) => {
      const difference = differenceIn("body", withNames(body), expected);
      return { difference, total, compared: expected.data.length };
    };
  },
  getTrends: (inventory, query) => {
    const { data, ...rest } = oracleTrends(inventory, query);
    const meta = { ...rest.meta, ...oracleUnmatched(inventory, query) };
    const points = data.flatMap((series) => series.points);
    const known = points.flatMap(({ metrics }) => metrics).filter(({ value }) => value !== null && value > 0);
    return ({ body }) => {
      const { definitions, ...servedMeta } = (body as AnswerOf<"getTrends">).meta;
      const served = { ...(body as AnswerOf<"getTrends">), meta: servedMeta };
      const defined = definitions.map(({ name }) => name);
      const difference = differenceIn("body", served, { data, meta }) ?? differenceIn("defined", defined, meta.metric);
      return { difference, total: known.length, compared: points.length };
    };
  },
};

/** Returns an answer with the names of the defined metrics instead of their definitions. */
function withNames(body: unknown): unknown {
  const { meta, ...rest } = body as AnswerOf<"getFacets" | "getGroups">;
  const { definitions, ...others } = meta;
  const names = definitions === undefined ? {} : { definitions: definitions.map(({ name }) => name) };
  return { ...rest, meta: { ...others, ...names } };
}

function deprecationDifference({ headers }: ComparedAnswer): string | undefined {
  if (headers === undefined) return undefined;
  const served = { Link: headers.get("Link"), isDated: /^@\d+$/.test(headers.get("Deprecation") ?? "") };
  return differenceIn("headers", served, { Link: '</v1/listings>; rel="successor-version"', isDated: true });
}

/** Returns how an answer differs from the refusal of a width; it may name any of the refused facets. */
function refusalDifference({ status, body }: ComparedAnswer, refusals: readonly TooNarrowWidth[]): string | undefined {
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  const isNamed = refusals.some(({ facet, leastWidth }) =>
    new RegExp(`\\b${facet}\\b.*\\b${leastWidth}\\b`).test(String(error.message)),
  );
  if (status === 400 && error.code === "invalid_parameter_value" && isNamed) return undefined;
  return `answered ${status} ${JSON.stringify(body)}, expected a refusal of interval: ${JSON.stringify(refusals)}`;
}

function compareListings(inventory: OracleInventory, query: Query): (answer: ComparedAnswer) => Comparison {
  const { pagination, data } = oracleSearch(inventory, query);
  const ids = (listings: readonly { readonly id?: unknown }[]): readonly unknown[] => listings.map(({ id }) => id);
  const meta = {
    as_of: inventory.asOf,
    currency: inventory.currency,
    data_version: inventory.version,
    ...oracleUnmatched(inventory, query),
  };
  return ({ body }) => {
    const served = body as {
      readonly data: readonly { readonly id: string }[];
      readonly pagination: { readonly next_cursor?: string | null };
    };
    const { next_cursor, ...servedPagination } = served.pagination;
    const difference =
      differenceIn("pagination", servedPagination, pagination) ??
      (next_cursor === undefined
        ? undefined
        : differenceIn("a next page", next_cursor !== null, pagination.next_offset !== null)) ??
      differenceIn("ids", ids(served.data), ids(data)) ??
      differenceIn("body", { ...served, pagination: servedPagination }, { data, pagination, meta });
    return { difference, total: pagination.total, compared: data.length };
  };
}
