/**
 * Range facets: half-open buckets of equal width from the 1st to the 99th percentile, plus one bucket for the values below and one for the
 * values above.
 */
import { refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import type { QueryOf } from "../../contract/types.ts";
import { edgeOf, type RangeChoice, smallestWidth } from "../../listing/ranges.ts";
import { type RangedName, rangedNames } from "../../listing/schema.ts";
import type { CountResult, NumberSummary } from "../../listing/source.ts";
import { fromUnits, toUnits } from "../../listing/values.ts";

/** The most ranges of a range facet, and of one with a requested `interval`. */
const rangesMax = 20;
const fixedRangesMax = 100;

/** Facets that are counted in ranges. */
export type NumericFacet = RangedName;
export const numericFacets = rangedNames;

/** Bucket widths that parameter `interval` fixes, by facet. */
export type FixedWidths = ReadonlyMap<NumericFacet, number>;

/** Returns the widths of parameter `interval`. Refuses a facet that the request does not contain, and a facet with two intervals. */
export function fixedWidths(
  interval: QueryOf<"getFacets">["interval"],
  requested: readonly NumericFacet[],
): FixedWidths {
  const fixed = new Map<NumericFacet, number>();
  for (const item of interval ?? []) {
    const [name = "", width = ""] = item.toLowerCase().split(":");
    const facet = requested.find((candidate) => candidate === name);
    if (facet === undefined || fixed.has(facet)) {
      const reason =
        facet === undefined
          ? `interval sets a width for ${name}, which is not in facets`
          : `interval sets the width of ${name} twice`;
      throw refuse("incompatible_parameters", { parameters: "interval and facets", reason });
    }
    fixed.set(facet, Number(width));
  }
  return fixed;
}

export function rangeChoice(attribute: NumericFacet, widths: FixedWidths): RangeChoice {
  const width = widths.get(attribute);
  return { attribute, width, bucketsMax: width === undefined ? rangesMax : fixedRangesMax };
}

/** Refuses a fixed width with more than `fixedRangesMax` buckets. */
export function requireRanges(
  widths: FixedWidths,
  { summaries, ranges }: Pick<CountResult, "summaries" | "ranges">,
): void {
  for (const [facet, width] of widths) {
    const summary = summaries.get(facet);
    if (summary === undefined || ranges.has(facet)) continue;
    const bucketsMax = fixedRangesMax;
    throw refuse("invalid_parameter_value", {
      parameter: "interval",
      value: quoted(`${facet}:${width}`),
      allowed: `a width with at most ${bucketsMax} buckets, for example ${facet}:${smallestWidth(facet, summary, bucketsMax)}`,
      hint: "",
    });
  }
}

/** Returns schema `RangeFacet` of a numeric facet; without buckets if the number is unknown for every match. */
export function rangeFacetOf(facet: NumericFacet, counts: CountResult | undefined, widths: FixedWidths) {
  const summary = counts?.summaries.get(facet);
  const found = counts?.ranges.get(facet);
  if (summary === undefined || found === undefined)
    return { buckets: [], interval: widths.get(facet) ?? null, min: null, max: null };
  const { ranges } = found;
  const { first, last } = ranges;
  const regular = Array.from({ length: last - first + 1 }, (_, index) => ({
    min: edgeOf(ranges, first + index),
    max: edgeOf(ranges, first + index + 1),
    count: found.counts[index + 1] ?? 0,
  }));
  const below = found.counts[0] ?? 0;
  const above = found.counts.at(-1) ?? 0;
  const end = fromUnits(facet, toUnits(facet, summary.max) + 1);
  const buckets = [
    ...(below > 0 ? [{ min: summary.min, max: edgeOf(ranges, first), count: below }] : []),
    ...regular,
    ...(above > 0 ? [{ min: edgeOf(ranges, last + 1), max: end, count: above }] : []),
  ];
  const interval = fromUnits(facet, ranges.width);
  return { buckets, interval, min: buckets[0]?.min ?? null, max: buckets.at(-1)?.max ?? null };
}

/** Returns schema `FacetStats`, given the statistics and the number of matches. */
export function statsOf(summary: NumberSummary | undefined, total: number) {
  if (summary === undefined)
    return { min: null, max: null, count: 0, missing: total, mean: null, median: null, stddev: null };
  const { min, max, known, mean, median, stddev } = summary;
  return { min, max, count: known, missing: total - known, mean, median, stddev };
}
