/** Supply of a group of listings: its active listings beside the sales that became known in a window of days. */
import { plusDays } from "../base/day.ts";
import { integerLiteral, type Sql, sql } from "../db/sql.ts";
import { metricListingsMin } from "./aggregates.ts";
import type { SupplyMetric } from "./source.ts";

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

/** The sample and the value of a metric in SQL, given integers. The value is null if there are too few listings. */
interface SupplyRule {
  readonly sample: (active: Sql, sold: Sql) => Sql;
  readonly value: (active: Sql, sold: Sql) => Sql;
}

const listingsMin = integerLiteral(metricListingsMin);

/** `daysSupplyOf` and `sellThroughOf` in SQL. */
export const supplyMetrics: Readonly<Record<SupplyMetric, SupplyRule>> = {
  days_supply: {
    sample: (_, sold) => sold,
    value: (active, sold) =>
      sql`CASE WHEN ${active} >= ${listingsMin} THEN round(${integerLiteral(100 * supplyDays)} * ${active}::BIGINT / nullif(${sold}, 0)) / 100 END`,
  },
  sell_through: {
    sample: (active, sold) => sql`(${active} + ${sold})`,
    value: (active, sold) =>
      sql`CASE WHEN ${active} + ${sold} >= ${listingsMin} THEN round(10000 * ${sold}::BIGINT / (${active} + ${sold})) / 10000 END`,
  },
};

export const isSupplyMetric = (name: string): name is SupplyMetric => name in supplyMetrics;
