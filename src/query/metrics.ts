/** Metrics of facets, `<measure>.<aggregate>`: what is measured of the listings of a bucket, and how. */
import { bounds } from "../base/bounds.ts";
import { type Sql, sql, type } from "../base/sql.ts";
import type { QueryOf } from "../contract/types.ts";

export type Metric = NonNullable<QueryOf<"getFacets">["metric"]>;
type MeasureName = Metric extends `${infer Name}.${string}` ? Name : never;
type AggregateName = Metric extends `${string}.${infer Name}` ? Name : never;

/**
 * A measure of a listing of `matches`, as a whole number of its last decimal: sums are then exact, and an answer is the same
 * however the work is shared between threads.
 */
interface Measure {
  readonly units: Sql;
  readonly decimals: number;
}

const measures: Readonly<Record<MeasureName, Measure>> = {
  price: { units: sql`matches.price`, decimals: 0 },
  miles: { units: sql`matches.miles`, decimals: 0 },
  msrp: { units: sql`matches.msrp`, decimals: 0 },
  days_on_market: { units: sql`matches.days_on_market`, decimals: 0 },
  discount_from_msrp: { units: sql`(matches.discount_from_msrp * 10000)::INTEGER`, decimals: 4 },
};

type Aggregate = (units: Sql, decimals: number) => Sql;

/** Percentiles interpolate linearly, here by twentieths, which two more decimals hold exactly. */
const percentile =
  (share: number): Aggregate =>
  (units, decimals) =>
    sql`round(quantile_cont(${units}, ${type(String(share))}) / ${10 ** decimals}, ${type(String(decimals + 2))})`;

const aggregates: Readonly<Record<AggregateName, Aggregate>> = {
  mean: (units, decimals) => sql`avg(${units}) / ${10 ** decimals}`,
  p5: percentile(0.05),
  p25: percentile(0.25),
  median: percentile(0.5),
  p75: percentile(0.75),
  p95: percentile(0.95),
};

export interface Measuring {
  readonly units: Sql;
  /** The metric of some listings, given their units; null when too few of them are known. */
  readonly of: (units: Sql) => Sql;
}

/** How a metric is measured. */
export function measuring(metric: Metric): Measuring {
  const [measure, aggregate] = metric.split(".") as [MeasureName, AggregateName];
  const { units, decimals } = measures[measure];
  return {
    units,
    of: (known) =>
      sql`if(count(${known}) >= ${bounds.metricListingsMin}, ${aggregates[aggregate](known, decimals)}, NULL)`,
  };
}
