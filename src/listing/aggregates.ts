/**
 * SQL for statistics and metrics of number attributes.
 *
 * Aggregates run over integers (see `unitsOf`), so sums and percentiles are exact and do not depend on the number of threads.
 */
import type { Row } from "../base/json.ts";
import { ident, integerLiteral, join, numberLiteral, type Sql, sql } from "../db/sql.ts";
import type { NumberName } from "./schema.ts";
import type { Aggregate, NumberSummary, Summaries } from "./source.ts";
import { decimalsOf, fromUnits } from "./values.ts";

/** The fewest listings with a known value that have a metric; fewer have `insufficient_sample`. */
export const metricListingsMin = 10;

/** Returns a percentile with linear interpolation. Fractions are hundredths, so two more decimals represent the result exactly. */
const percentile = (percent: number, units: Sql, decimals: number): Sql =>
  sql`round(quantile_cont(${units}, ${numberLiteral(percent / 100)}) / ${integerLiteral(10 ** decimals)}, ${integerLiteral(decimals + 2)})`;

/** Returns an aggregate of the known values of a measure, given in units. */
function aggregateOf(aggregate: Aggregate, units: Sql, decimals: number): Sql {
  if (aggregate === "mean") return sql`avg(${units}) / ${integerLiteral(10 ** decimals)}`;
  return percentile(aggregate === "median" ? 50 : Number(aggregate.slice(1)), units, decimals);
}

/**
 * Returns the metric of a group of listings as a DOUBLE, given the measure in units. It is null if fewer than `listingsMin` of them have the
 * measure.
 */
export function metricOf(measure: NumberName, aggregate: Aggregate, units: Sql, listingsMin = metricListingsMin): Sql {
  const value = aggregateOf(aggregate, units, decimalsOf(measure));
  return sql`CASE WHEN count(${units}) >= ${integerLiteral(listingsMin)} THEN (${value})::DOUBLE END`;
}

/** Returns the mean of a measure, as `metricOf` does, given the number of known values and their sum in units. */
export const meanOf = (measure: NumberName, known: number, sum: number): number | null =>
  known >= metricListingsMin ? fromUnits(measure, sum / known) : null;

/** The percentiles of a summary; the first and the last are the least and the greatest value. */
const summaryPercents = [0, 1, 50, 99, 100];

/** The aggregates of one number attribute, given in units. Separate columns: planning a struct of them takes as long as counting. */
const summaryAggregates: Readonly<Record<string, (units: Sql) => Sql>> = {
  known: (units) => sql`count(${units})`,
  sum: (units) => sql`sum(${units})`,
  squares: (units) => sql`sum(${units}::BIGINT * ${units})`,
  percentiles: (units) =>
    sql`quantile_cont(${units}, [${join(summaryPercents.map((percent) => numberLiteral(percent / 100)))}])`,
};

const columnOf = (attribute: NumberName, aggregate: string): string => `${attribute} ${aggregate}`;

/** Returns the select-list items that summarize some number attributes; `readSummaries` reads them. */
export const summariesOf = (numbers: readonly NumberName[], unitsOf: (attribute: NumberName) => Sql): readonly Sql[] =>
  numbers.flatMap((attribute) =>
    Object.entries(summaryAggregates).map(
      ([name, aggregate]) => sql`${aggregate(unitsOf(attribute))} AS ${ident(columnOf(attribute, name))}`,
    ),
  );

/** Reads the statistics that `summariesOf` selected. Attributes without a known value are omitted. */
export function readSummaries(row: Row | undefined, numbers: readonly NumberName[]): Summaries {
  const summaries = new Map<NumberName, NumberSummary>();
  for (const attribute of numbers) {
    const known = bigintIn(row, columnOf(attribute, "known"));
    const sum = bigintIn(row, columnOf(attribute, "sum"));
    const squares = bigintIn(row, columnOf(attribute, "squares"));
    const percentiles = row?.[columnOf(attribute, "percentiles")];
    if (known === undefined || sum === undefined || squares === undefined || !Array.isArray(percentiles)) continue;
    const inOnes = (units: unknown): number => fromUnits(attribute, Number(units));
    const [min, p1, median, p99, max] = percentiles.map(inOnes);
    const variance = Number(known * squares - sum * sum) / Number(known) / Number(known - 1n);
    summaries.set(attribute, {
      known: Number(known),
      min: Number(min),
      max: Number(max),
      mean: inOnes(Number(sum) / Number(known)),
      p1: Number(p1),
      median: Number(median),
      p99: Number(p99),
      stddev: known > 1n ? inOnes(Math.sqrt(variance)) : null,
    });
  }
  return summaries;
}

/** Returns an integer of any size, which the driver returns as text; undefined for null. */
const bigintIn = (row: Row | undefined, column: string): bigint | undefined => {
  const value = row?.[column];
  return typeof value === "string" ? BigInt(value) : undefined;
};
