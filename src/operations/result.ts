/**
 * The result of an operation: its parts in the shapes of the document, and its forms: JSON text for HTTP, an object for callers within the process, and the
 * table of operations that have one.
 */
import { redactKeys } from "../accounts/keys/api-key.ts";
import type { Json, Row } from "../base/json.ts";
import { forEachInTurns } from "../base/turns.ts";
import { type Table, tableColumns } from "../contract/tables.ts";
import type { AnswerOf, OperationId, QueryOf } from "../contract/types.ts";
import { resolveFields } from "../query/fields.ts";
import type { ListingLookUp, VinLookUp } from "../query/look-ups.ts";
import type { UnmatchedMeta } from "../query/unmatched.ts";
import type { EndpointId } from "./caller.ts";

interface PageWindow {
  readonly limit: number;
  readonly offset: number;
}

/** Schema `Pagination`. */
export type Pagination = AnswerOf<"searchListings">["pagination"];

/** Returns schema `Pagination`; `cursorAt` returns the cursor of an offset, of operations that have them. */
export function pagination(
  { limit, offset }: PageWindow,
  total: number,
  cursorAt?: (offset: number) => string,
): Pagination {
  const next = offset + limit;
  const next_offset = next < total ? next : null;
  const cursor = cursorAt && { next_cursor: next_offset === null ? null : cursorAt(next_offset) };
  return { limit, offset, total, next_offset, ...cursor };
}

/** The items of a page, each as JSON text: listings in the encoding of the row store, or changes. */
export class JsonTexts {
  constructor(readonly texts: readonly string[]) {}
}

/** Schema `ChangePagination`. */
type CursorPagination = AnswerOf<"listChanges">["pagination"];

export interface Result {
  readonly data: object;
  readonly pagination?: Pagination | CursorPagination;
  readonly meta: object;
}

/** Returns the body of a response in JSON. Texts are joined without parsing. */
export function jsonOf({ data, pagination, meta }: Result): string {
  const text = data instanceof JsonTexts ? `[${data.texts.join()}]` : JSON.stringify(data);
  return `{"data":${text},${JSON.stringify({ pagination, meta }).slice(1)}`;
}

/** Returns the body of a response as an object. Tests check the results of endpoints against the document's schemas; the compiler does not. */
export const bodyOf = <Id extends EndpointId>(json: string | Buffer): AnswerOf<Id> => JSON.parse(String(json));

/** Returns schema `ListingDetail`. */
export function listingDetail({ vin, status, vinState, build, listing }: ListingLookUp): object {
  const { id, price_history, ...rest } = listing;
  return { id, vin, status, ...rest, vehicle: { vin, status: vinState, build }, price_history };
}

/** Returns schema `VinRecord`. */
export function vinRecord({ vin, state, build, listing }: VinLookUp): object {
  if (listing === null) return { vin, status: state, build, latest_listing: null };
  const { vin: _, ...latest } = listing;
  return { vin, status: state, build, latest_listing: latest };
}

/** Returns unmatched values without the API keys that were sent as values by mistake. */
export function redactApiKeys({ unmatched }: UnmatchedMeta): UnmatchedMeta {
  if (unmatched === undefined) return {};
  return { unmatched: unmatched.map((entry) => ({ ...entry, value: redactKeys(entry.value) })) };
}

type FacetResult = AnswerOf<"getFacets">["data"];
type FacetBucket = FacetResult["facets"][string][number];

const emptyRow: Row = Object.fromEntries(tableColumns("getFacets").map(({ name }) => [name, null]));

/**
 * Returns the rows of operation `getFacets`, its `x-row` in the document: a row for the total, for each bucket of each categorical facet, and for the
 * statistics and each range of each numeric facet.
 */
export function facetRows({ total, facets, range_facets, stats }: FacetResult): readonly Row[] {
  return [
    rowOf("total", { count: total }),
    ...Object.entries(facets).flatMap(([facet, buckets]) =>
      buckets.length === 0
        ? [rowOf("value", { facet, count: 0 })]
        : buckets.map((bucket) => rowOf("value", { facet, ...bucketCells(bucket) })),
    ),
    ...Object.entries(range_facets).flatMap(([facet, { buckets, interval }]) => [
      rowOf("stats", { facet, ...stats[facet], interval }),
      ...buckets.map((bucket) => rowOf("range", { facet, ...bucket })),
    ]),
  ];
}

const rowOf = (kind: "total" | "value" | "range" | "stats", cells: Readonly<Record<string, Json>>): Row => ({
  ...emptyRow,
  kind,
  ...cells,
});

const bucketCells = ({ metric, ...bucket }: FacetBucket): Row =>
  metric === undefined ? bucket : { ...bucket, ...metricCells(metric) };

const metricCells = ({ name, value, sample, null_reason }: NonNullable<FacetBucket["metric"]>): Row => ({
  metric: name,
  metric_value: value,
  metric_sample: sample,
  metric_null_reason: null_reason ?? null,
});

type GroupRow = AnswerOf<"getGroups">["data"][number];

/** Returns the rows of operation `getGroups`, its `x-row` in the document: a row for each metric of each group, or for each group without metrics. */
export const groupRows = (groups: readonly GroupRow[]): readonly Row[] =>
  groups.flatMap(({ values, metrics, ...group }) =>
    metrics.length === 0
      ? [{ ...values, ...group }]
      : metrics.map((metric) => ({ ...values, ...group, ...metricCells(metric) })),
  );

export const metricColumns = ["metric", "metric_value", "metric_sample", "metric_null_reason"];

const groupColumns = ({ group_by, metric = [] }: QueryOf<"getGroups">): readonly string[] => [
  ...group_by,
  ...(group_by.includes("dealer_id") ? ["dealer_name"] : []),
  "count",
  ...(metric.length === 0 ? [] : metricColumns),
];

type TrendSeries = AnswerOf<"getTrends">["data"][number];

/** Returns the rows of operation `getTrends`, its `x-row` in the document: a row for each metric of each point of each series. */
export const trendRows = (series: readonly TrendSeries[]): readonly Row[] =>
  series.flatMap(({ facet, value, points }) =>
    points.flatMap(({ metrics, ...point }) =>
      metrics.map(({ name, value: metric_value, sample: metric_sample, null_reason: metric_null_reason = null }) => ({
        facet,
        value,
        start: point.start,
        end: point.end,
        days: point.days,
        level_day: point.level_day,
        metric: name,
        metric_value,
        metric_sample,
        metric_null_reason,
      })),
    ),
  );

interface TableRule<Id extends EndpointId> {
  readonly rows: (data: AnswerOf<Id>["data"]) => readonly Row[];
  /** Returns the names of the columns that a request selects. Without it, all columns are served. */
  readonly select?: (query: QueryOf<Id>) => readonly string[];
}

const items = (data: readonly object[]): readonly Row[] => data.map((item) => ({ ...item }));

const selectFields = ({
  fields,
  include = [],
}: QueryOf<"searchListings" | "searchDealerListings">): readonly string[] => [...resolveFields(fields), ...include];

const rules: { readonly [Id in EndpointId]?: TableRule<Id> } = {
  searchListings: { rows: items, select: selectFields },
  searchDealerListings: { rows: items, select: selectFields },
  searchDealers: { rows: items },
  getFacets: { rows: facetRows },
  getGroups: { rows: groupRows, select: groupColumns },
  getTrends: { rows: trendRows },
};

/** Returns the rows of an operation's `data`; undefined if it has no table. */
export function tableRowsOf(id: OperationId, data: Json | object): readonly Row[] | undefined {
  const byId: Readonly<Partial<Record<OperationId, { readonly rows: (data: never) => readonly Row[] }>>> = rules;
  return byId[id]?.rows(data as never);
}

/** Returns the body of a response in JSON as a table, with `meta` and `pagination` as its metadata. */
export async function resultTable<Id extends EndpointId>(id: Id, query: QueryOf<Id>, json: Buffer): Promise<Table> {
  const rule: TableRule<Id> | undefined = rules[id];
  if (rule === undefined) throw new TypeError(`No table of ${id}: expected a row in src/operations/result.ts.`);
  const { data, meta, pagination }: Result = bodyOf(json);
  const selected = rule.select === undefined ? undefined : new Set(rule.select(query));
  const rows: Row[] = [];
  await forEachInTurns(Array.isArray(data) ? data.map((item: Json) => [item]) : [data], (some) =>
    rows.push(...(tableRowsOf(id, some) ?? [])),
  );
  return {
    columns: tableColumns(id).filter(({ name }) => selected?.has(name) ?? true),
    rows,
    metadata: {
      "carquet.meta": JSON.stringify(meta),
      ...(pagination === undefined ? {} : { "carquet.pagination": JSON.stringify(pagination) }),
    },
  };
}
