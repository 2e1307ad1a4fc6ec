/** The searches of a chart: that of the view, and an optional second one for comparison, whose filters are in the parameter `beside`. */
import type { JSX } from "preact";
import { operation } from "../../../contract/document.ts";
import type { AnswerOf } from "../../../contract/types.ts";
import { type CalledId, queryString, type TextParameters } from "../../../operations/caller.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { filterTitle } from "../../shop/filter-words.ts";
import {
  apiFilters,
  filterNames,
  listText,
  readView,
  type ViewParameters,
  viewPath,
  withParameters,
} from "../../shop/view.ts";

/** The first and the last day of the data. */
export interface SnapshotDays {
  readonly first: string;
  readonly last: string;
}

export interface ChartSearch {
  /** Its filters, in words. */
  readonly name: string;
  readonly filters: ViewParameters;
}

type ChartSearches = readonly [own: ChartSearch, ...others: readonly ChartSearch[]];

export interface CountedSearch {
  readonly search: ChartSearch;
  readonly answer: AnswerOf<"getFacets">;
}

/** The charts of a view, with the total and unmatched values of its search. */
export interface ChartAnswers {
  readonly total: number;
  readonly unmatched: AnswerOf<"getFacets">["meta"]["unmatched"];
  readonly charts: JSX.Element;
}

/** Loads the charts of a view, whose first request has been answered. */
export type RemainingCharts = () => Promise<ChartAnswers>;

/** The value of `beside` for a search without filters. */
const noFilters = "all";

/** The name of the compared search in messages about missing parts. */
export const besidePart = "search beside this one";

/** Returns the search of a view, and the compared one if it differs. */
export function chartSearches(view: ViewParameters, asOf: string): ChartSearches {
  const own = searchOf(view);
  if (view.beside === undefined) return [own];
  const other = searchOf(readView(new URLSearchParams(view.beside), asOf));
  return besideValue(other.filters) === besideValue(own.filters) ? [own] : [own, other];
}

/** Returns the value of `beside` for the filters of a view. */
export const besideValue = (view: ViewParameters): string => queryString(filtersOf(view)) || noFilters;

/** Returns the filters of a view, as parameters of the page, in a fixed order. */
const filtersOf = (view: ViewParameters): TextParameters =>
  Object.fromEntries([...filterNames(view)].sort().map((name): readonly [string, string] => [name, view[name] ?? ""]));

function searchOf(view: ViewParameters): ChartSearch {
  const filters = filtersOf(view);
  const words = Object.entries(filters).map(([name, value]) => `${filterTitle(name)} ${value.replaceAll(",", ", ")}`);
  return { name: words.length === 0 ? "All listings" : words.join(" · "), filters };
}

/** Returns the filters of a search that an operation has, and the names of the others. */
export function acceptedFilters(id: CalledId, { filters }: ChartSearch, asOf: string) {
  const known = new Set(operation(id).parameters.map(({ name }) => name));
  const all = Object.entries(apiFilters(filters, asOf));
  return {
    filters: Object.fromEntries(all.filter(([name]) => known.has(name))),
    others: all.flatMap(([name]) => (known.has(name) ? [] : [name])),
  };
}

/** What the charts of a view are loaded by. */
export class ChartsRequest {
  /** The search of the view, and the compared one, if any. */
  readonly searches: ChartSearches;

  constructor(
    readonly requests: PageRequests,
    readonly view: ViewParameters,
    readonly days: SnapshotDays,
  ) {
    this.searches = chartSearches(view, days.last);
  }

  /** Counts the facets of a query for a search. Throws the Refusal of the API. */
  async count(search: ChartSearch, query: TextParameters): Promise<CountedSearch> {
    const filters = apiFilters(search.filters, this.days.last);
    return { search, answer: await this.requests.call("getFacets", { ...query, ...filters }) };
  }

  /** Loads an optional part of the page for each of some searches, without those that the API refuses. */
  async loadEach<Search, Part>(
    name: string,
    searches: readonly Search[],
    load: (search: Search) => Promise<Part>,
  ): Promise<readonly Part[]> {
    const parts = await Promise.all(searches.map((search) => this.requests.loadPart(name, () => load(search))));
    return parts.filter((part) => part !== undefined);
  }
}

/** Returns the path of a view that is filtered by a value. */
export const valuePath = (view: ViewParameters, name: string, value: string): string =>
  viewPath(withParameters(view, { [name]: listText(name, value) }));

/** Returns the total and unmatched values of a search. */
export const headOf = ({ answer: { data, meta } }: CountedSearch): Omit<ChartAnswers, "charts"> => ({
  total: data.total,
  unmatched: meta.unmatched,
});
