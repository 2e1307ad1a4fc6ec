/** Metrics of trends: their names, their definitions, and which of them the listing source measures or counts. */
import { type NumberName, numberNames } from "../../listing/schema.ts";
import type { Aggregate, Statistic } from "../../listing/source.ts";
import { supplyDays } from "../../listing/supply.ts";
import type { ListingEvent } from "../../listing/trend-source.ts";

/** A requested metric. */
export type TrendMetric = { readonly name: string } & (
  | { readonly kind: "count" }
  | { readonly kind: "days_supply" }
  | { readonly kind: "sell_through" }
  | { readonly kind: "statistic"; readonly statistic: Statistic }
  | { readonly kind: "event"; readonly event: ListingEvent }
);

/** Schema `TrendDefinition`. */
interface Definition {
  readonly name: string;
  readonly kind: "level" | "flow";
  readonly formula: string;
  readonly denominator: string;
  readonly sample: string;
}

const events: Readonly<Record<ListingEvent, Pick<Definition, "formula" | "sample">>> = {
  new_listings: {
    formula: "number of listings whose listed_at is in the interval, by their last observed attributes",
    sample: "the counted listings",
  },
  sold: {
    formula: "number of listings whose sale is in the interval, on the day by which sold_within_days counts it",
    sample: "the counted listings",
  },
  price_drops: {
    formula:
      "number of price changes to a lower price whose changed_at is in the interval, of listings by their last observed attributes",
    sample: "the counted price changes",
  },
};

const isEvent = (name: string): name is ListingEvent => name in events;

/** Returns the metric with a name that the document accepts. */
export function trendMetricOf(name: string): TrendMetric {
  if (name === "count" || name === "days_supply" || name === "sell_through") return { name, kind: name };
  if (isEvent(name)) return { name, kind: "event", event: name };
  const [measureName, aggregateName = ""] = name.split(".");
  const measure = numberNames.find((number) => number === measureName);
  const aggregate = aggregateOfName(aggregateName);
  if (measure === undefined || aggregate === undefined)
    throw new TypeError(`Unknown metric ${name}: expected one that the document accepts.`);
  return { name, kind: "statistic", statistic: { measure, aggregate } };
}

function aggregateOfName(name: string): Aggregate | undefined {
  if (name === "mean" || name === "median") return name;
  return /^p\d{1,2}$/.test(name) ? `p${Number(name.slice(1))}` : undefined;
}

export function definitionOf(metric: TrendMetric): Definition {
  const { name } = metric;
  if (metric.kind === "event") return flowOf(name, metric.event);
  const active = "listings that are active on level_day";
  if (metric.kind === "count")
    return { name, kind: "level", formula: `number of ${active}`, denominator: "none", sample: "the counted listings" };
  if (metric.kind === "days_supply" || metric.kind === "sell_through") return supplyOf(metric.kind, active);
  const { measure, aggregate } = metric.statistic;
  const sample = `${active} with a known ${measure}`;
  const denominator = aggregate === "mean" ? `number of ${sample}` : "none";
  return { name, kind: "level", formula: `${wordsOf(aggregate, measure)} of the ${sample}`, denominator, sample };
}

function supplyOf(name: "days_supply" | "sell_through", active: string): Definition {
  const sold = `listings sold in the ${supplyDays} days that end on level_day`;
  if (name === "sell_through") {
    const sample = `${active}, and ${sold}`;
    return {
      name,
      kind: "level",
      formula: `number of ${sold}, per listing of the sample`,
      denominator: `number of ${sample}`,
      sample,
    };
  }
  const denominator = `number of ${sold}, divided by ${supplyDays}`;
  return { name, kind: "level", formula: `number of ${active}, per sale a day`, denominator, sample: sold };
}

function flowOf(name: string, event: ListingEvent): Definition {
  const { formula, sample } = events[event];
  return { name, kind: "flow", formula, denominator: "none", sample };
}

function wordsOf(aggregate: Aggregate, measure: NumberName): string {
  if (aggregate === "mean") return `arithmetic mean of the ${measure}`;
  const percentile = aggregate === "median" ? "median" : `percentile ${aggregate.slice(1)}`;
  return `linearly interpolated ${percentile} of the ${measure}`;
}
