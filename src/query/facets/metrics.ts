/** Metrics of facets and groups: their names, what they need of a request, and how they are served. */
import { refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import type { AnswerOf, Filters, QueryOf } from "../../contract/types.ts";
import { isSupplyMetric, metricListingsMin, supplyDays, supplyWindowStart } from "../../listing/aggregates.ts";
import type { NumberName } from "../../listing/schema.ts";
import type { Aggregate, MeasuredGroup, MeasureRequest, Statistic, SupplyMetric } from "../../listing/source.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { firstDefined } from "../modes.ts";

type MetricName = NonNullable<QueryOf<"getGroups">["metric"]>[number];

type FacetOrder = QueryOf<"getGroups">["sort"];

/** Schema `MetricDefinition`. */
type MetricDefinition = NonNullable<AnswerOf<"getGroups">["meta"]["definitions"]>[number];

const sales = `the listings that match the filters as they were last observed, and whose sale became known in the ${supplyDays} days up to the day of the active listings`;

const definitions: Readonly<Record<SupplyMetric, Omit<MetricDefinition, "name">>> = {
  days_supply: {
    formula: `count / (sold / ${supplyDays}), rounded to 2 decimals; sold: the number of ${sales}`,
    sample: "sold",
  },
  sell_through: {
    formula: `sold / (count + sold), rounded to 4 decimals; sold: the number of ${sales}`,
    sample: "count + sold",
  },
};

/** Refuses an order by a metric without one. */
export function refuseSortWithoutMetric(sort: FacetOrder, names: readonly MetricName[]): void {
  if (names.length > 0 || sort === "count" || sort === "-count") return;
  const allowed = "count or -count when metric is not set";
  throw refuse("invalid_parameter_value", { parameter: "sort", value: quoted(sort), allowed, hint: "" });
}

/** Returns the part of `meta` that defines metrics of supply. */
export function definitionsOf(names: readonly MetricName[]): { readonly definitions?: readonly MetricDefinition[] } {
  const defined = names.filter(isSupplyMetric);
  return defined.length === 0 ? {} : { definitions: defined.map((name) => ({ name, ...definitions[name] })) };
}

/** Returns the metrics with some names, as the listing source takes them. */
export const metricsOf = (names: readonly MetricName[]): MeasureRequest["metrics"] =>
  names.map((name) => (isSupplyMetric(name) ? name : statisticOf(name)));

function statisticOf(name: `${NumberName}.${Aggregate}`): Statistic {
  const [measure, aggregate] = name.split(".") as [NumberName, Aggregate];
  return { measure, aggregate };
}

/** The parameters that decide whether there are sales beside active listings. */
type SupplyParameters = Pick<Filters, "inventory_status" | "sold_within_days" | "snapshot_date" | "value_rating">;

/**
 * Returns the day of the active listings if metrics compare them with sales; undefined if none does, or if the days of sales are not all known.
 * Refuses parameters under which there are no active listings, or no sales.
 */
export function supplyDayOf(
  names: readonly MetricName[],
  attributes: readonly string[],
  query: SupplyParameters,
  { snapshotSizes, manifest }: Pick<LakeVersion, "snapshotSizes" | "manifest">,
): string | undefined {
  const metric = names.find(isSupplyMetric);
  if (metric === undefined) return undefined;
  const { inventory_status, sold_within_days, snapshot_date = manifest.as_of, value_rating } = query;
  const sold = firstDefined({ sold_within_days, "inventory_status=sold": inventory_status === "sold" || undefined });
  const valued = attributes.includes("value_rating") || value_rating !== undefined;
  const other = sold ?? (valued ? "value_rating" : undefined);
  if (other !== undefined) {
    const reason =
      sold === undefined ? "sold listings have no values" : "it compares active listings with the sales before";
    throw refuse("incompatible_parameters", { parameters: `metric=${metric} and ${other}`, reason });
  }
  const [firstDay = manifest.as_of] = snapshotSizes.keys();
  return supplyWindowStart(snapshot_date) < firstDay ? undefined : snapshot_date;
}

/** Returns schema `FacetMetric` for each metric of a group. */
export const servedMetrics = (
  names: readonly MetricName[],
  { count, metrics }: Pick<MeasuredGroup, "count" | "metrics">,
  supplyDay: string | undefined,
): AnswerOf<"getGroups">["data"][number]["metrics"] =>
  names.map((name, index) => {
    const { sample = 0, value = null } = metrics[index] ?? {};
    if (value !== null) return { name, value, sample };
    if (isSupplyMetric(name) && supplyDay === undefined) return { name, value, sample, null_reason: "no_data" };
    const isUnknown = count >= metricListingsMin && sample === 0;
    return { name, value, sample, null_reason: isUnknown ? "no_values" : "insufficient_sample" };
  });
