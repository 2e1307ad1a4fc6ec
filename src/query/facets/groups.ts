/** Groups for operation `getGroups`: the combinations of the values of up to three attributes, each with its count and metrics. */
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import { metricListingsMin } from "../../listing/aggregates.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { filtersOf } from "../filters.ts";
import { modeOf } from "../modes.ts";
import { definitionsOf, metricsOf, refuseSortWithoutMetric, servedMetrics, supplyDayOf } from "./metrics.ts";

type GroupQuery = QueryOf<"getGroups">;

/** Returns schema `GroupRow` of each group, and schema `GroupMeta` without the version. Refuses parameters that cannot be combined. */
export async function findGroups(query: GroupQuery, version: LakeVersion) {
  const { group_by: attributes, metric: names = [], sort, limit } = query;
  refuseSortWithoutMetric(sort, names);
  const { listings, filters } = modeOf(query, version);
  const supplyDay = supplyDayOf(names, attributes, query, version);
  const { total, totalGroups, groups } = await listings.measureGroups({
    attributes,
    metrics: metricsOf(names),
    supplyDay,
    limit,
    sort,
    filters: [...filters, ...filtersOf(query, version.dimensions)],
  });
  const data = groups.map((group): AnswerOf<"getGroups">["data"][number] => ({
    values: Object.fromEntries(attributes.map((attribute, place) => [attribute, group.values[place] ?? null])),
    ...dealerOf(attributes, group.values, version),
    count: group.count,
    metrics: servedMetrics(names, group, supplyDay),
  }));
  return {
    data,
    meta: {
      group_by: attributes,
      metric: names,
      sort,
      limit,
      total,
      total_groups: totalGroups,
      truncated: totalGroups > groups.length,
      minimum_metric_count: metricListingsMin,
      ...definitionsOf(names),
    },
  };
}

function dealerOf(
  attributes: GroupQuery["group_by"],
  values: readonly (string | null)[],
  { dealers }: LakeVersion,
): { readonly dealer_name?: string | null } {
  const place = attributes.indexOf("dealer_id");
  return place < 0 ? {} : { dealer_name: dealers.nameOf(values[place] ?? "") };
}
