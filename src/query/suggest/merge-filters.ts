/** Merges what the words of a question stand for into one set of filters that listing search accepts. */
import { decoderOf } from "../../contract/decode.ts";
import { operation, type Schema } from "../../contract/document.ts";
import { Refusal } from "../../contract/errors.ts";
import { joinList, splitList } from "../../contract/lists.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { planSearch, type SearchPlan } from "../search.ts";
import type { FilterTexts, Understood } from "./reading.ts";

/** The parameters of listing search. */
export const listingParameters: Readonly<Record<string, Schema>> = Object.fromEntries(
  operation("searchListings").parameters.map(({ name, schema }) => [name, schema]),
);

/** The radius around a place in miles, where none is asked for. */
export const placeRadius = 25;

interface MergedFilters {
  readonly filters: FilterTexts;
  /** Why a reading is not among the filters. */
  readonly refused: ReadonlyMap<Understood, string>;
}

/**
 * Merges readings. Values of a list are alternatives, ranges of years are intersected, and of other parameters the first value counts. A reading
 * that listing search would refuse beside the others is left out. The filters are in the order of the readings.
 */
export function mergeFilters(readings: readonly Understood[], version: LakeVersion): MergedFilters {
  const refused = new Map<Understood, string>();
  let filters: FilterTexts = {};
  for (const reading of readings.toSorted((one, other) => turnOf(one) - turnOf(other))) {
    const merged = mergedWith(filters, reading);
    const reason = typeof merged === "string" ? merged : refusalOf(merged, version);
    if (reason !== undefined) refused.set(reading, reason);
    else if (typeof merged !== "string") filters = merged;
  }
  const order = readings.flatMap((reading) => Object.keys(reading.filters));
  return { filters: inOrderOf(order, withRadius(filters)), refused };
}

/** The turn of a reading: places come before what needs one, years before ranges that narrow them. */
function turnOf({ attribute, filters, isRange }: Understood): number {
  if (filters.postal_code !== undefined) return 0;
  return attribute === "sort" ? 3 : isRange === true ? 2 : 1;
}

/** Returns filters with those of a reading, or why they cannot be combined. */
function mergedWith(filters: FilterTexts, { filters: added, isRange }: Understood): FilterTexts | string {
  const merged: Record<string, string> = { ...filters };
  for (const [name, value] of Object.entries(added)) {
    const known = filters[name];
    if (known === undefined || known === value) merged[name] = value;
    else if (listingParameters[name]?.type !== "array") return `${name} is ${known} by other words.`;
    else {
      const values = splitList(known, ",");
      const others = splitList(value, ",");
      const isNarrowed = name === "year" && isRange === true;
      const items = isNarrowed ? values.filter((item) => others.includes(item)) : [...new Set([...values, ...others])];
      if (items.length === 0) return `${name} is ${known} by other words.`;
      merged[name] = joinList(items);
    }
  }
  return merged;
}

/** Plans the search of filters. */
export const planOf = (filters: FilterTexts, version: LakeVersion): SearchPlan =>
  planSearch(decoderOf("searchListings")(new URLSearchParams(filters).toString(), {}).query, version);

/** Returns why listing search refuses filters; undefined if it accepts them. */
function refusalOf(filters: FilterTexts, version: LakeVersion): string | undefined {
  try {
    planOf(filters, version);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown.message;
    throw thrown;
  }
}

const withRadius = (filters: FilterTexts): FilterTexts =>
  filters.postal_code === undefined || filters.radius !== undefined
    ? filters
    : { ...filters, radius: String(placeRadius) };

/** Returns filters in the order of names; those without one come last. */
function inOrderOf(names: readonly string[], filters: FilterTexts): FilterTexts {
  const ordered = [...new Set([...names, ...Object.keys(filters)])];
  return Object.fromEntries(ordered.flatMap((name) => (filters[name] === undefined ? [] : [[name, filters[name]]])));
}
