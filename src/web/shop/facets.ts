/** The facets of the shop. Each is counted without its own filter, so that it shows what else could be chosen. */
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import { type AttributeName, attributeOf, attributes, rangedNames, shownIn } from "../../listing/schema.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { apiFilters, type ViewParameters } from "./view.ts";

type FacetName = QueryOf<"getFacets">["facets"][number];

/** Returns what people call an attribute. */
export const titleOf = (name: AttributeName): string => attributeOf(name).title ?? name.replaceAll("_", " ");

export interface FacetDefinition {
  /** The name of the facet in the API. */
  readonly name: FacetName;
  readonly title: string;
  /** The parameters of the view that filter by it: the one with the values, or those with the lower and the upper bound. */
  readonly parameters: readonly [name: string, max?: string];
  /** Whether it is shown before one of its values is chosen, outside "More filters". */
  readonly isOpen: boolean;
}

/** The names of bounds, by facet. The API counts years by value; the page shows them as ranges. */
const boundNames: Readonly<Partial<Record<FacetName, string>>> = {
  ...Object.fromEntries(rangedNames.map((name) => [name, attributes[name].range])),
  year: "year",
};

/** How many facets at the top of the form are open. */
const openFacets = 8;

const attributeFacets: readonly (FacetName & AttributeName)[] = shownIn("facet");

/** All facets in the order of the page. The values of the last one are ids of dealers, which are shown and found by their names. */
export const facetDefinitions: readonly FacetDefinition[] = [
  ...attributeFacets.map((name, index): FacetDefinition => {
    const bound = boundNames[name];
    const parameters = bound === undefined ? ([name] as const) : ([`min_${bound}`, `max_${bound}`] as const);
    return { name, title: titleOf(name), parameters, isOpen: index < openFacets };
  }),
  { name: "dealer_id", title: "Dealer", parameters: ["dealer_id"], isOpen: false },
];

/** The most values of a facet that are shown; others can be typed. */
export const valuesMax = 40;

type FacetCounts = AnswerOf<"getFacets">["data"];
export type ValueBucket = NonNullable<FacetCounts["facets"][string]>[number];
/** A range, `min <= value < max`, and the number of listings in it. */
type CountedRange = Readonly<Record<"min" | "max" | "count", number>>;

/** The counts of all facets, each without its own filter. */
export interface ViewFacets {
  readonly values: FacetCounts["facets"];
  readonly ranges: Readonly<Record<string, readonly CountedRange[]>>;
  /** The distribution of each number, under all filters but those of the number. */
  readonly stats: FacetCounts["stats"];
}

/** Returns how many listings have some values of a facet. */
export const countIn = (buckets: readonly ValueBucket[], ...values: readonly string[]): number =>
  buckets.filter(({ value }) => values.includes(value)).reduce((sum, { count }) => sum + count, 0);

/** The counts of a view whose facets cannot be counted. */
export const noFacets: ViewFacets = { values: {}, ranges: {}, stats: {} };

/** Counts the facets of a view of the data at an as-of date. There are none if the API refuses to count them. */
export async function countViewFacets(requests: PageRequests, view: ViewParameters, asOf: string): Promise<ViewFacets> {
  const query = {
    facets: facetDefinitions.map(({ name }) => name).join(),
    facet_mode: "disjunctive",
    facet_value_limit: String(valuesMax),
    ...apiFilters(view, asOf),
  };
  const answer = await requests.loadPart("counts beside the filters", () => requests.call("getFacets", query));
  if (answer === undefined) return noFacets;
  const { facets, range_facets, stats } = answer.data;
  const ranges = Object.fromEntries(Object.entries(range_facets).map(([name, facet]) => [name, facet?.buckets ?? []]));
  return { values: facets, ranges: { ...ranges, year: yearRanges(facets.year ?? []) }, stats };
}

/** Returns the counts of years as ranges of one year, in ascending order. */
const yearRanges = (buckets: readonly ValueBucket[]): readonly CountedRange[] =>
  buckets
    .map(({ value, count }) => ({ min: Number(value), max: Number(value) + 1, count }))
    .sort((one, other) => one.min - other.min);
