/** The rows of operation `getFacets`, its `x-row` in the document. */
import type { Json, Row } from "../base/json.ts";
import { tableColumns } from "../contract/tables.ts";
import type { AnswerOf } from "../contract/types.ts";

type FacetResult = AnswerOf<"getFacets">["data"];
type FacetBucket = FacetResult["facets"][string][number];

const emptyRow: Row = Object.fromEntries(tableColumns("getFacets").map(({ name }) => [name, null]));

/** Returns a row for the total, for each bucket of each categorical facet, and for the statistics and each range of each numeric facet. */
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

function bucketCells({ value, count, metric }: FacetBucket): Readonly<Record<string, Json>> {
  if (metric === undefined) return { value, count };
  const { name, value: metric_value, sample: metric_sample, null_reason: metric_null_reason = null } = metric;
  return { value, count, metric: name, metric_value, metric_sample, metric_null_reason };
}
