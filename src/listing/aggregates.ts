/**
 * SQL for statistics and metrics of number attributes, and for the supply of a group: its active listings beside the sales of a window of days.
 *
 * Aggregates run over integers (see `unitsOf`), so sums and percentiles are exact and do not depend on the number of threads.
 */
import { plusDays } from "../base/day.ts";
import type { Row } from "../base/json.ts";
import { ident, integerLiteral, join, numberLiteral, type Sql, sql } from "../db/sql.ts";
import type { NumberName } from "./schema.ts";
import type { Aggregate, NumberSummary, Summaries, SupplyMetric } from "./source.ts";
import { decimalsOf, fromUnits } from "./values.ts";

/** The fewest listings with a known value that have a metric; fewer have `insufficient_sample`. */
export const metricListingsMin = 10;

/** Returns an aggregate of the known values of a measure, given in units. Fractions are hundredths, so two more decimals represent a percentile exactly. */
function aggregateOf(aggregate: Aggregate, units: Sql, decimals: number): Sql {
  if (aggregate === "mean") return sql`avg(${units}) / ${integerLiteral(10 ** decimals)}`;
  const fraction = numberLiteral((aggregate === "median" ? 50 : Number(aggregate.slice(1))) / 100);
  return sql`round(quantile_cont(${units}, ${fraction}) / ${integerLiteral(10 ** decimals)}, ${integerLiteral(decimals + 2)})`;
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

/** The length of the window, whose last day is the day of the active listings. */
export const supplyDays = 30;

/** Returns the first day of the window that ends on a day. */
export const supplyWindowStart = (day: string): string => plusDays(day, 1 - supplyDays);

/** Returns `active / (sold / supplyDays)`, rounded to 2 decimals: the days in which sales at the rate of the window sell the active listings. */
export const daysSupplyOf = (active: number, sold: number): number | null =>
  sold === 0 ? null : Math.round((100 * active * supplyDays) / sold) / 100;

/** Returns `sold / (active + sold)`, rounded to 4 decimals: the share of the listings on sale in the window that were sold. */
export const sellThroughOf = (active: number, sold: number): number | null =>
  active + sold === 0 ? null : Math.round((10_000 * sold) / (active + sold)) / 10_000;

const listingsMin = integerLiteral(metricListingsMin);

/** `daysSupplyOf` and `sellThroughOf` in SQL, with their sample, of a group with the integers `listings` and `sold`; null of too few listings. */
export const supplyMetrics: Readonly<Record<SupplyMetric, { readonly sample: Sql; readonly value: Sql }>> = {
  days_supply: {
    sample: sql`sold`,
    value: sql`CASE WHEN listings >= ${listingsMin} THEN round(${integerLiteral(100 * supplyDays)} * listings::BIGINT / nullif(sold, 0)) / 100 END`,
  },
  sell_through: {
    sample: sql`(listings + sold)`,
    value: sql`CASE WHEN listings + sold >= ${listingsMin} THEN round(10000 * sold::BIGINT / (listings + sold)) / 10000 END`,
  },
};

export const isSupplyMetric = (name: string): name is SupplyMetric => name in supplyMetrics;
