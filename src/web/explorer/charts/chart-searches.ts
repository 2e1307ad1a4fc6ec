/** The searches of a chart: that of the view, and an optional second one for comparison, whose filters are in the parameter `beside`. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { queryString, type TextParameters } from "../../../operations/operation-request.ts";
import { filterTitle } from "../search/applied-filters.tsx";
import { filterNames, readView, type ViewParameters } from "../view.ts";

export interface ChartSearch {
  /** Its filters, in words. */
  readonly name: string;
  readonly filters: ViewParameters;
}

/** The search of a view, and the compared one, if any. */
export type ChartSearches = readonly [own: ChartSearch, ...others: readonly ChartSearch[]];

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

/** Returns the columns of a table of several searches that distinguish them: one, or none for a single search. */
export const searchColumns = (searches: readonly ChartSearch[]): readonly { name: string; title: string }[] =>
  searches.length > 1 ? [{ name: "search", title: "Search" }] : [];

export const searchCells = (searches: readonly ChartSearch[], search: ChartSearch): readonly string[] =>
  searches.length > 1 ? [search.name] : [];

/** Returns the total and unmatched values of the first search. */
export const headOf = ([first]: readonly CountedSearch[]): Omit<ChartAnswers, "charts"> => ({
  total: first?.answer.data.total ?? 0,
  unmatched: first?.answer.meta.unmatched,
});
