/**
 * The facets of the explorer. Each is counted without its own filter, so that it shows what else could be chosen: all facets without a
 * chosen value share one API request, each of the others has its own.
 */
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import { type AttributeName, attributes, rangedNames, shownIn } from "../../listing/schema.ts";
import { fromUnits } from "../../listing/values.ts";
import type { TextParameters } from "../../operations/operation-request.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { titleOf } from "./attributes.ts";
import { apiFilters, type ViewParameters } from "./view.ts";

type FacetName = QueryOf<"getFacets">["facets"][number];

export interface FacetDefinition {
  /** The name of the facet in the API. */
  readonly name: FacetName;
  readonly title: string;
  /** The parameters of the view that filter by it: the one with the values, or those with the lower and the upper bound. */
  readonly parameters: readonly [name: string, max?: string];
  /** Facets in ranges: the least difference of two values. */
  readonly step?: number;
  /** Whether its values are shown before one is chosen. */
  readonly isOpen: boolean;
}

/** The names of bounds, by facet. The API counts years by value; the page shows them as ranges. */
const boundNames: Readonly<Partial<Record<FacetName, string>>> = {
  ...Object.fromEntries(rangedNames.map((name) => [name, attributes[name].range])),
  year: "year",
};

/** How many facets at the top of the page are open. */
const openFacets = 7;

const shownFacets: readonly (FacetName & AttributeName)[] = shownIn("facet");

/** All facets in the order of the page. */
export const facetDefinitions: readonly FacetDefinition[] = shownFacets.map((name, index) => {
  const bound = boundNames[name];
  const shown = { name, title: titleOf(name), isOpen: index < openFacets };
  if (bound === undefined) return { ...shown, parameters: [name] };
  const ranged = rangedNames.find((one) => one === name);
  const step = ranged === undefined ? 1 : fromUnits(ranged, 1);
  return { ...shown, parameters: [`min_${bound}`, `max_${bound}`], step };
});

/** The most values of a facet that are shown. */
const valuesMax = 50;

type FacetCounts = AnswerOf<"getFacets">["data"];
export type ValueBucket = NonNullable<FacetCounts["facets"][string]>[number];
/** A range, `min <= value < max`, and the number of listings in it. */
export interface CountedRange {
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

/** The counts of all facets, each without its own filter. */
export interface ViewFacets {
  readonly values: Readonly<Record<string, readonly ValueBucket[]>>;
  readonly ranges: Readonly<Record<string, readonly CountedRange[]>>;
}

/** The counts of a view whose facets cannot be counted. */
export const noFacets: ViewFacets = { values: {}, ranges: {} };

/** Returns the parameters of the facet requests of a view. */
function facetRequests(view: ViewParameters, asOf: string): readonly TextParameters[] {
  const isFiltered = (facet: FacetDefinition): boolean => namesOf(facet).some((name) => view[name] !== undefined);
  const unfiltered = facetDefinitions.filter((facet) => !isFiltered(facet));
  return [
    ...(unfiltered.length === 0 ? [] : [requestOf(view, unfiltered, asOf)]),
    ...facetDefinitions.filter(isFiltered).map((facet) => requestOf(withoutFilter(view, facet), [facet], asOf)),
  ];
}

const requestOf = (view: ViewParameters, facets: readonly FacetDefinition[], asOf: string): TextParameters => ({
  facets: facets.map(({ name }) => name).join(),
  facet_value_limit: String(valuesMax),
  ...apiFilters(view, asOf),
});

const withoutFilter = (view: ViewParameters, facet: FacetDefinition): ViewParameters =>
  Object.fromEntries(Object.entries(view).filter(([name]) => !namesOf(facet).includes(name)));

/** Returns the parameters that filter by a facet: its own, and that of its name, such as a list of years beside their bounds. */
const namesOf = ({ name, parameters }: FacetDefinition): readonly string[] =>
  [name, ...parameters].filter((parameter) => parameter !== undefined);

/** Counts the facets of a view of the data at an as-of date. Those that the API refuses to count are missing. */
export async function countViewFacets(requests: PageRequests, view: ViewParameters, asOf: string): Promise<ViewFacets> {
  const loading = facetRequests(view, asOf).map((query) =>
    requests.loadPart("counts beside the filters", () => requests.call("getFacets", query)),
  );
  const answers = (await Promise.all(loading)).filter((answer) => answer !== undefined);
  const values: Record<string, readonly ValueBucket[]> = {};
  const ranges: Record<string, readonly CountedRange[]> = {};
  for (const { data } of answers) {
    for (const [name, buckets = []] of Object.entries(data.facets)) values[name] = buckets;
    for (const [name, facet] of Object.entries(data.range_facets)) ranges[name] = facet?.buckets ?? [];
  }
  return { values, ranges: { ...ranges, year: yearRanges(values.year ?? []) } };
}

/** The number of years with a separate bar; earlier ones share the first bar. */
const yearBars = 20;

/** Returns the counts of years as ranges of one year, in ascending order and without gaps. */
function yearRanges(buckets: readonly ValueBucket[]): readonly CountedRange[] {
  const years = buckets.map(({ value, count }) => ({ year: Number(value), count }));
  if (years.length === 0) return [];
  const [first, last] = [Math.min(...years.map(({ year }) => year)), Math.max(...years.map(({ year }) => year))];
  const start = Math.max(first, last - yearBars + 1);
  const countOf = (min: number, max: number): number =>
    years.filter(({ year }) => year >= min && year < max).reduce((sum, { count }) => sum + count, 0);
  const early = first < start ? [{ min: first, max: start, count: countOf(first, start) }] : [];
  const single = Array.from({ length: last - start + 1 }, (_, index) => start + index);
  return [...early, ...single.map((year) => ({ min: year, max: year + 1, count: countOf(year, year + 1) }))];
}
