/**
 * SQL for statistics and metrics of number attributes.
 *
 * Aggregates run over integers (see `unitsOf`), so sums and percentiles are exact and do not depend on the number of threads.
 */
import { bounds } from "../base/bounds.ts";
import { isRow, type Row } from "../base/json.ts";
import { ident, integerLiteral, numberLiteral, type Sql, sql } from "../db/sql.ts";
import { attributeOf, type NumberName } from "./schema.ts";
import type { Aggregate, NumberSummary, Summaries } from "./source.ts";

/** Returns a percentile with linear interpolation. Fractions are hundredths, so two more decimals represent the result exactly. */
const percentile = (percent: number, units: Sql, decimals: number): Sql =>
  sql`round(quantile_cont(${units}, ${numberLiteral(percent / 100)}) / ${integerLiteral(10 ** decimals)}, ${integerLiteral(decimals + 2)})`;

/** Returns an aggregate of the known values of a measure, given in units. */
function aggregateOf(aggregate: Aggregate, units: Sql, decimals: number): Sql {
  if (aggregate === "mean") return sql`avg(${units}) / ${integerLiteral(10 ** decimals)}`;
  return percentile(aggregate === "median" ? 50 : Number(aggregate.slice(1)), units, decimals);
}

/**
 * Returns the metric of a group of listings as a DOUBLE, given the measure in units. It is null if fewer than
 * `bounds.metricListingsMin` of them have the measure.
 */
export function metricOf(measure: NumberName, aggregate: Aggregate, units: Sql): Sql {
  const { decimals = 0 } = attributeOf(measure);
  return sql`CASE WHEN count(${units}) >= ${integerLiteral(bounds.metricListingsMin)} THEN (${aggregateOf(aggregate, units, decimals)})::DOUBLE END`;
}

/** Returns the statistics of one number attribute as a struct, in units; `readSummaries` reads it. */
export const summarySql = (units: Sql): Sql => sql`{
  known: count(${units})::INTEGER, min: min(${units}), max: max(${units}), sum: sum(${units})::DOUBLE,
  variance: if(count(${units}) > 1, (count(${units}) * sum(${units}::BIGINT * ${units}) - sum(${units}) * sum(${units}))::DOUBLE
    / count(${units}) / (count(${units}) - 1), NULL),
  percentiles: quantile_cont(${units}, [0.01, 0.5, 0.99])}`;

/** Returns one select-list item per number attribute: its statistics, named after the attribute. */
export const summariesOf = (numbers: readonly NumberName[], unitsOf: (attribute: NumberName) => Sql): readonly Sql[] =>
  numbers.map((attribute) => sql`${summarySql(unitsOf(attribute))} AS ${ident(attribute)}`);

/** Reads the statistics that `summariesOf` selected. Attributes without a known value are omitted. */
export function readSummaries(row: Row | undefined, numbers: readonly NumberName[]): Summaries {
  const summaries = new Map<NumberName, NumberSummary>();
  for (const attribute of numbers) {
    const summary = row?.[attribute];
    if (!isRow(summary) || summary.known === 0) continue;
    const { known, min, max, sum, variance, percentiles } = summary;
    const [p1, median, p99] = Array.isArray(percentiles) ? percentiles : [];
    summaries.set(attribute, {
      ...{ known: Number(known), min: Number(min), max: Number(max), mean: Number(sum) / Number(known) },
      ...{ p1: Number(p1), median: Number(median), p99: Number(p99) },
      stddev: typeof variance === "number" ? Math.sqrt(variance) : null,
    });
  }
  return summaries;
}
