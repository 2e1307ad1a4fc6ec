/** Range facets: half-open buckets of one round width over the 1st to the 99th percentile, and one for what lies outside on either side. */
import { bounds } from "../base/bounds.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { QueryOf } from "../contract/types.ts";
import { type RangedName, rangedNames } from "../listing/schema.ts";
import type { NumberSummary, Ranges } from "../listing/source.ts";

/** The facets that are counted in ranges. */
export type NumericFacet = RangedName;
export const numericFacets = rangedNames;

/** The widths of ranges that a request has fixed. */
export type FixedWidths = ReadonlyMap<NumericFacet, number>;

/** Widths to choose from: 1, 2 or 5 times a power of ten. */
const widths = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** The widths in parameter `interval`, of facets that are asked for. Refuses others, and a facet that is named twice. */
export function fixedWidths(interval: QueryOf<"getFacets">["interval"], asked: readonly NumericFacet[]): FixedWidths {
  const found = new Map<NumericFacet, number>();
  for (const item of interval ?? []) {
    const [named = "", width = ""] = item.toLowerCase().split(":");
    const facet = asked.find((one) => one === named);
    if (facet === undefined || found.has(facet)) {
      const reason =
        facet === undefined ? `${named} is not among the facets of the request` : `${named} has two intervals`;
      throw refuse("incompatible_parameters", { parameters: "interval and facets", reason });
    }
    found.set(facet, Number(width));
  }
  return found;
}

/** The ranges of a number, of the fixed width if there is one. Refuses a fixed width that makes too many. */
export function rangesOf(attribute: NumericFacet, { p1, p99 }: NumberSummary, fixed: number | undefined): Ranges {
  const [low, high] = [p1, p99].map((percentile) => Math.floor(Math.round(100 * percentile) / 100)) as [number, number];
  const countOf = (width: number): number => Math.floor(high / width) - Math.floor(low / width) + 1;
  const width = fixed ?? widths.find((one) => countOf(one) <= bounds.rangeBuckets) ?? 1;
  if (countOf(width) > bounds.fixedRangeBuckets) {
    let least = Math.floor((high - low) / bounds.fixedRangeBuckets) + 1;
    while (countOf(least) > bounds.fixedRangeBuckets) least += 1;
    throw refuse("invalid_parameter_value", {
      parameter: "interval",
      value: quoted(`${attribute}:${width}`),
      allowed: `a width that gives at most ${bounds.fixedRangeBuckets} buckets, here ${attribute}:${least}`,
      hint: "",
    });
  }
  return { attribute, width, first: Math.floor(low / width), last: Math.floor(high / width) };
}

/** Schema `RangeFacet`, of the counts below, in each of, and above the ranges. */
export function rangeFacet({ width, first, last }: Ranges, counts: readonly number[], { min, max }: NumberSummary) {
  const regular = Array.from({ length: last - first + 1 }, (_, place) => ({
    min: (first + place) * width,
    max: (first + place + 1) * width,
    count: counts[place + 1] ?? 0,
  }));
  const [below = 0, above = 0] = [counts[0], counts.at(-1)];
  const buckets = [
    ...(below > 0 ? [{ min, max: first * width, count: below }] : []),
    ...regular,
    ...(above > 0 ? [{ min: (last + 1) * width, max: max + 1, count: above }] : []),
  ];
  return { buckets, interval: width, min: buckets[0]?.min ?? null, max: buckets.at(-1)?.max ?? null };
}

/** Schema `RangeFacet` of a number that no match has. */
export const emptyRangeFacet = (fixed: number | undefined) => ({
  buckets: [],
  interval: fixed ?? null,
  min: null,
  max: null,
});

/** Schema `FacetStats`, of so many matches. */
export function statsOf(summary: NumberSummary | undefined, total: number) {
  if (summary === undefined)
    return { min: null, max: null, count: 0, missing: total, mean: null, median: null, stddev: null };
  const { min, max, known, mean, median, stddev } = summary;
  return { min, max, count: known, missing: total - known, mean, median, stddev };
}
