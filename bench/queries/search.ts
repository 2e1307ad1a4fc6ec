/** Queries for a page of listings or for one listing, with every column that the API returns. */
import { type ColumnName, defaultColumns } from "../dataset/columns.ts";
import type { Zip } from "../dataset/sample-values.ts";
import { assertSameAnswer } from "../measure/assert-same-answer.ts";
import { haversineMiles, quoteString, type SqlPeer, tableExpression } from "../peers/peer.ts";
import { type BenchFilter, filterParameters, sqlCondition } from "./filter.ts";
import { at, type BenchQuery, type LookUpSpec, listAt, type SearchSpec } from "./query.ts";

export interface SearchOptions {
  readonly filters?: readonly BenchFilter[];
  readonly sort?: SearchSpec["sort"];
  readonly path?: string;
  /** Parameters other than filters and sort. */
  readonly parameters?: readonly string[];
  readonly from?: SearchSpec["from"];
  readonly offset?: number;
  readonly expansionColumns?: readonly ColumnName[];
}

const limit = 50;
const defaultSort = "days_on_market";

/** Creates a query for a page of listings. Peers in SQL execute a count and a page. */
export function searchQuery({
  path = "/v1/listings",
  parameters = [],
  expansionColumns = [],
  ...options
}: SearchOptions): BenchQuery {
  const spec: SearchSpec = {
    kind: "search",
    from: "active",
    filters: [],
    sort: defaultSort,
    offset: 0,
    limit,
    ...options,
    columns: [...defaultColumns, ...expansionColumns],
  };
  const sortParameters = spec.sort === defaultSort ? [] : [`sort=${spec.sort}`];
  const queryString = [...filterParameters(spec.filters), ...parameters, ...sortParameters].join("&");
  const url = queryString === "" ? path : `${path}?${queryString}`;
  return {
    path: url,
    spec,
    execute: (peer) => executeSearch(spec, peer),
    compare: (ours, theirs, { name }) => {
      assertSameAnswer(url, totalAndIds(ours), name, totalAndIds(theirs));
      return 0;
    },
    matchCount: totalOf,
  };
}

const totalOf = (body: unknown): number => Number(at(body, "pagination", "total"));

const totalAndIds = (body: unknown) => ({
  total: totalOf(body),
  ids: listAt(body, "data").map((listing) => String(at(listing, "id"))),
});

async function executeSearch({ filters, sort, offset, columns, ...spec }: SearchSpec, peer: SqlPeer): Promise<object> {
  const from = tableExpression(spec.from);
  const where = sqlCondition(filters, peer.dialect);
  const total = await countListings(peer, from, where);
  const order = orderExpression(sort, filters);
  const data = await peer.rows(peer.dialect.page({ columns, from, where, order, limit, offset }));
  return { data, pagination: { limit, offset, total } };
}

/** Sorts distances by thousandths of a mile, so that different rounding of the engines does not change the order. */
function orderExpression(sort: SearchSpec["sort"], filters: readonly BenchFilter[]): string {
  return sort === "distance" ? `round(1000 * (${haversineMiles(distanceOrigin(filters))}))` : sort;
}

/** Returns the origin of the filter `near`. Throws if there is no such filter. */
export function distanceOrigin(filters: readonly BenchFilter[]): Zip {
  const near = filters.find((filter) => filter.kind === "near");
  if (near === undefined) throw new Error('Missing filter "near": expected one with the sort "distance".');
  return near.zip;
}

/** Counts the listings of a table that satisfy a SQL condition. */
export async function countListings(peer: SqlPeer, from: string, where: string): Promise<number> {
  const [row] = await peer.rows(`SELECT count(*) AS total FROM ${from} WHERE ${where}`);
  return Number(row?.total);
}

/** Creates a query for one active listing by its id or VIN. */
export function lookUpQuery(by: LookUpSpec["by"], value: string): BenchQuery {
  const [folder, idPath] =
    by === "id" ? ["/v1/listings", ["data", "id"]] : ["/v1/vins", ["data", "latest_listing", "id"]];
  const path = `${folder}/${value}`;
  const columns = [...defaultColumns, "options_packages"] as const;
  const idOf = (body: unknown): string => String(at(body, ...idPath));
  return {
    path,
    spec: { kind: "lookUp", by, value, columns },
    execute: async ({ rows, dialect }) => {
      const where = `${by} = ${quoteString(value)}`;
      const page = { columns, from: "active", where, order: "position", limit: 1, offset: 0 } as const;
      const [listing] = await rows(dialect.page(page));
      return lookUpBody(by, listing);
    },
    compare: (ours, theirs, { name }) => {
      assertSameAnswer(path, idOf(ours), name, idOf(theirs));
      return 0;
    },
    matchCount: () => 1,
  };
}

/** Returns the body of a look-up in the shape of the API. */
export const lookUpBody = (by: LookUpSpec["by"], listing: unknown): object => ({
  data: by === "id" ? listing : { latest_listing: listing },
});
