/** Statistics of numbers, as SQL over whole units: sums and percentiles are exact, whatever the engine's threads. */
import { bounds } from "../base/bounds.ts";
import { isRow, type Row } from "../base/json.ts";
import { ident, integerLiteral, numberLiteral, type Sql, sql } from "../db/sql.ts";
import { attributeOf, type NumberName } from "./schema.ts";
import type { Aggregate, NumberSummary, Summaries } from "./source.ts";

/** Percentiles interpolate linearly, here by twentieths, which two more decimals hold exactly. */
const percentile =
  (share: number) =>
  (units: Sql, decimals: number): Sql =>
    sql`round(quantile_cont(${units}, ${numberLiteral(share)}) / ${integerLiteral(10 ** decimals)}, ${integerLiteral(decimals + 2)})`;

const aggregates: Readonly<Record<Aggregate, (units: Sql, decimals: number) => Sql>> = {
  mean: (units, decimals) => sql`avg(${units}) / ${integerLiteral(10 ** decimals)}`,
  p5: percentile(0.05),
  p25: percentile(0.25),
  median: percentile(0.5),
  p75: percentile(0.75),
  p95: percentile(0.95),
};

/** The metric of a group of listings, given the units of the measure: null for too few listings, and where none has the measure. */
export function metricOf(measure: NumberName, aggregate: Aggregate, units: Sql): Sql {
  const { decimals = 0 } = attributeOf(measure);
  return sql`CASE WHEN count(*) >= ${integerLiteral(bounds.metricListingsMin)} THEN (${aggregates[aggregate](units, decimals)})::DOUBLE END`;
}

/** The statistics of a number of a group, as a struct; of whole numbers of their last decimal. */
export const summarySql = (units: Sql): Sql => sql`{
  known: count(${units})::INTEGER, min: min(${units}), max: max(${units}), total: sum(${units})::DOUBLE,
  variance: if(count(${units}) > 1, (count(${units}) * sum(${units}::BIGINT * ${units}) - sum(${units}) * sum(${units}))::DOUBLE
    / count(${units}) / (count(${units}) - 1), NULL),
  percentiles: quantile_cont(${units}, [0.01, 0.5, 0.99])}`;

/** The select list of the summaries of some numbers, by name. */
export const summariesOf = (numbers: readonly NumberName[], unitsOf: (attribute: NumberName) => Sql): readonly Sql[] =>
  numbers.map((attribute) => sql`${summarySql(unitsOf(attribute))} AS ${ident(attribute)}`);

/** The summaries in a row, by name; a number that no listing has is left out. */
export function readSummaries(row: Row | undefined, numbers: readonly NumberName[]): Summaries {
  const found = new Map<NumberName, NumberSummary>();
  for (const attribute of numbers) {
    const summary = row?.[attribute];
    if (!isRow(summary) || summary.known === 0) continue;
    const { known, min, max, total, variance, percentiles } = summary;
    const [p1, median, p99] = Array.isArray(percentiles) ? percentiles : [];
    found.set(attribute, {
      ...{ known: Number(known), min: Number(min), max: Number(max), mean: Number(total) / Number(known) },
      ...{ p1: Number(p1), median: Number(median), p99: Number(p99) },
      stddev: typeof variance === "number" ? Math.sqrt(variance) : null,
    });
  }
  return found;
}
