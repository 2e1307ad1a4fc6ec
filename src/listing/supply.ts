/** Supply of a group of listings: its active listings beside the sales that became known in a window of days. */
import { plusDays } from "../base/day.ts";

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
