/**
 * Sales speed: how many days on market groups of sold listings had, and how that of a dealer compares with a market's. Few sales are pulled towards the
 * market: `expected_days` is the median as if the dealer had had `pull` more sales that took as long as the market's median.
 */
import { plusDays } from "../../base/day.ts";
import type { Json } from "../../base/json.ts";
import { metricListingsMin } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import type { CountedName } from "../../listing/schema.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";

/** The numbers of fit; answers repeat them. */
export const fitRules = {
  /** Sales that became known in this many days count, the published day included. */
  soldDays: 180,
  dealerSalesMin: 3,
  marketSalesMin: metricListingsMin,
  pull: 5,
} as const;

/** What sales are compared by, besides the inventory type: the first step with enough sales decides. */
export const fitSteps = { model: ["make", "model"], make_and_body: ["make", "body_type"] } as const;
export type FitStep = keyof typeof fitSteps;
export const fitStepNames = Object.keys(fitSteps) as readonly FitStep[];

/** Sales with the same values of some attributes. */
export interface SalesGroup {
  readonly values: readonly string[];
  readonly sales: number;
  readonly medianDays: number;
}

/** More than there are groups of any market. */
const groupsMax = 1_000_000;

/** Returns the groups of known values of the matching sales in the window. */
export async function salesBy(
  attributes: readonly CountedName[],
  filters: readonly Filter[],
  version: LakeVersion,
): Promise<readonly SalesGroup[]> {
  const day = plusDays(version.manifest.as_of, -fitRules.soldDays);
  const { groups } = await version.soldSince(day).measureGroups({
    filters: [{ kind: "soldAfter", day }, ...filters],
    attributes,
    metrics: [{ measure: "days_on_market", aggregate: "median" }],
    sampleMin: 1,
    supplyDay: undefined,
    limit: groupsMax,
    sort: "-count",
  });
  return groups.flatMap(({ values, metrics: [metric] }) => {
    const known = values.filter((value) => value !== null);
    const medianDays = metric?.value ?? null;
    return medianDays === null || known.length < values.length
      ? []
      : [{ values: known, sales: metric?.sample ?? 0, medianDays }];
  });
}

/** How fast a dealer sells, beside a market: part of schemas `FittingDealer` and `FittingModel`. */
export interface RelativeSpeed {
  readonly sales: number;
  readonly median_days: number;
  readonly expected_days: number;
  readonly relative: number | null;
}

/** Returns the speed of a dealer; undefined if it or the market has too few sales. */
export function relativeSpeed(dealer: SalesGroup, market: SalesGroup | undefined): RelativeSpeed | undefined {
  const { dealerSalesMin, marketSalesMin, pull } = fitRules;
  if (market === undefined || market.sales < marketSalesMin || dealer.sales < dealerSalesMin) return undefined;
  const { sales, medianDays } = dealer;
  const expected = (sales * medianDays + pull * market.medianDays) / (sales + pull);
  return {
    sales,
    median_days: medianDays,
    expected_days: Math.round(10 * expected) / 10,
    relative: market.medianDays === 0 ? null : Math.round((1000 * expected) / market.medianDays) / 1000,
  };
}

/** Orders the fastest first, of equally fast ones those with the most sales. */
export const bySpeed = (a: RelativeSpeed, b: RelativeSpeed): number =>
  (a.relative ?? Number.MAX_VALUE) - (b.relative ?? Number.MAX_VALUE) ||
  a.expected_days - b.expected_days ||
  b.sales - a.sales;

/** Returns filters for the values of categories; undefined if one is unknown. */
export function filtersFor(
  names: readonly FittedName[],
  values: Readonly<Record<string, Json>>,
): readonly Filter[] | undefined {
  const filters = names.flatMap((attribute): Filter[] => {
    const value = values[attribute];
    return typeof value === "string" ? [{ kind: "anyOf", attribute, values: [value] }] : [];
  });
  return filters.length === names.length ? filters : undefined;
}

type FittedName = "make" | "model" | "body_type" | "inventory_type";
