/** The map: states in shades of their inventory or median price, and dealers, or the ZIP codes of one state, as dots. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { queryString, type TextParameters } from "../../../operations/operation-request.ts";
import { ChartFigure, type Numbers, type NumbersCell } from "../../charts/chart-figure.tsx";
import { Panels } from "../../charts/plot-area.tsx";
import { type ShadedState, ShadeKey, shadesMax, UsMap } from "../../charts/us-map.tsx";
import { stateShapes } from "../../charts/us-states.ts";
import { count, dollars } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { apiFilters, listOf, type ViewParameters, viewPath, withParameters } from "../view.ts";
import {
  besidePart,
  type ChartSearch,
  type ChartSearches,
  type CountedSearch,
  type RemainingCharts,
  searchCells,
  searchColumns,
} from "./chart-searches.ts";
import { DealerChart, dealerFilters, loadDealers, type MappedDealers, mapDots, noDealers } from "./dealer-places.tsx";

type Shading = "count" | "median";

interface MappedSearch extends CountedSearch {
  readonly dealers: MappedDealers;
}

interface StateNumbers {
  readonly code: string;
  readonly name: string;
  readonly listings: number;
  readonly median: number | null;
}

/** Sends the first request for the map of each search. */
export async function loadMapCharts(
  requests: PageRequests,
  [own, ...others]: ChartSearches,
  { view, asOf }: { readonly view: ViewParameters; readonly asOf: string },
): Promise<RemainingCharts> {
  const dealers = new Map<string, Promise<MappedDealers>>();
  const loadOnce = (filters: TextParameters): Promise<MappedDealers> => {
    const key = queryString(filters);
    const loading = dealers.get(key) ?? findDealers(requests, filters);
    dealers.set(key, loading);
    return loading;
  };
  const mapBeside = (search: ChartSearch): Promise<MappedSearch | undefined> =>
    requests.loadPart(besidePart, async () => {
      const [answer, found] = await Promise.all([
        loadStates(requests, search, asOf),
        loadOnce(dealerFilters(search.filters)),
      ]);
      return { search, answer, dealers: found };
    });
  const answer = await loadStates(requests, own, asOf);
  return async () => {
    const [found, ...beside] = await Promise.all([loadOnce(dealerFilters(own.filters)), ...others.map(mapBeside)]);
    const first = { search: own, answer, dealers: found };
    const mapped = [first, ...beside.filter((one) => one !== undefined)];
    return {
      ...{ total: totalOf(first), unmatched: answer.meta.unmatched },
      charts: <MapCharts view={view} mapped={mapped} />,
    };
  };
}

/** Loads dealers, once the states of a search are known. Returns none if the API refuses. */
const findDealers = async (requests: PageRequests, filters: TextParameters): Promise<MappedDealers> =>
  (await requests.loadPart("dealers", () => loadDealers(requests, filters))) ?? noDealers;

const MapCharts = ({ view, mapped }: StateMapProps): JSX.Element => {
  const listed = mapped.filter(
    ({ dealers }, index) => dealers !== noDealers && (index === 0 || dealers !== mapped[0]?.dealers),
  );
  return (
    <>
      <StateMap view={view} mapped={mapped} />
      {listed.length === 0 ? null : <DealerChart searches={listed} />}
    </>
  );
};

/** Counts the states of a search without its filter by state. */
function loadStates(requests: PageRequests, search: ChartSearch, asOf: string): Promise<AnswerOf<"getFacets">> {
  const { state: _, ...filters } = apiFilters(search.filters, asOf);
  const query = { facets: "state", metric: "price.median", facet_value_limit: "100" };
  return requests.call("getFacets", { ...query, ...filters });
}

/** Returns the total of a search, whose states were counted without its filter by state. */
function totalOf({ search, answer }: MappedSearch): number {
  const chosen = chosenStates(search);
  if (chosen.length === 0) return answer.data.total;
  return statesOf(answer)
    .filter(({ code }) => chosen.includes(code))
    .reduce((sum, { listings }) => sum + listings, 0);
}

const chosenStates = ({ filters }: ChartSearch): readonly string[] =>
  listOf(filters, "state").map((code) => code.toUpperCase());

function statesOf({ data }: AnswerOf<"getFacets">): readonly StateNumbers[] {
  const names = new Map(stateShapes().map(({ code, name }) => [code, name]));
  return (data.facets.state ?? []).map(({ value, count: listings, metric }) => ({
    ...{ code: value, name: names.get(value) ?? value, listings, median: metric?.value ?? null },
  }));
}

interface StateMapProps {
  readonly view: ViewParameters;
  readonly mapped: readonly MappedSearch[];
}

const StateMap = ({ view, mapped }: StateMapProps): JSX.Element => {
  const shading: Shading = view.shade === "median" ? "median" : "count";
  const format = shading === "median" ? dollars : count;
  const values = mapped.flatMap(({ answer }) => statesOf(answer).flatMap((state) => shadedValue(state, shading) ?? []));
  const bounds = shadeBounds(values);
  const link = (text: string, shade: string | undefined) => (
    <a href={viewPath(withParameters(view, { shade }))}>{text}</a>
  );
  return (
    <ChartFigure
      id="states"
      title={shading === "median" ? "Median price by state" : "Inventory by state"}
      note={
        <>
          {`${noteOf(shading)} ${dotsNote(mapped)}${unmappedNote(mapped)} `}
          {shading === "median" ? link("Shade by inventory", undefined) : link("Shade by median price", "median")}
        </>
      }
      isWide
      numbers={stateNumbers(view, mapped)}
    >
      <Panels
        panels={mapped.map((one) => [
          one.search.name,
          <UsMap
            key={one.search.name}
            label={`Map of the US: ${summaryOf(one)}`}
            states={shadedStates(view, one, { shading, bounds })}
            dots={mapDots(one.dealers)}
            focus={one.dealers.state}
          />,
        ])}
      />
      <ShadeKey texts={bounds.map((bound) => `up to ${format(bound)}`)} />
    </ChartFigure>
  );
};

function stateNumbers(view: ViewParameters, mapped: readonly MappedSearch[]): Numbers {
  const searches = mapped.map(({ search }) => search);
  return {
    columns: [
      ...searchColumns(searches),
      { name: "state", title: "State" },
      { name: "listings", title: "Listings", format: count },
      { name: "median_price", title: "Median price", format: dollars },
    ],
    rows: mapped.flatMap(({ search, answer }) =>
      statesOf(answer).map(({ code, name, listings, median }): readonly NumbersCell[] => [
        ...searchCells(searches, search),
        ...[{ text: name, path: viewPath(withParameters(view, { state: code })) }, listings, median],
      ]),
    ),
  };
}

const noteOf = (shading: Shading): string =>
  shading === "median"
    ? "Median price in US dollars of the listings in each state, if at least 10 have one."
    : "Listings in each state.";

const dotsNote = ([first]: readonly MappedSearch[]): string =>
  first?.dealers === noDealers ? "" : first?.dealers.state === undefined ? "Dots are dealers." : "Dots are ZIP codes.";

/** Names the states that have listings, but no shape, such as Puerto Rico. */
function unmappedNote(mapped: readonly MappedSearch[]): string {
  const shapes = new Set(stateShapes().map(({ code }) => code));
  const codes = mapped.flatMap(({ answer }) => statesOf(answer).map(({ code }) => code));
  const unmapped = [...new Set(codes)].filter((code) => !shapes.has(code));
  return unmapped.length === 0 ? "" : ` Not on the map: ${unmapped.join(", ")}.`;
}

const summaryOf = ({ answer }: MappedSearch): string => {
  const [fullest] = statesOf(answer);
  return fullest === undefined ? "no listings" : `most listings in ${fullest.name}, ${count(fullest.listings)}`;
};

const shadedValue = ({ listings, median }: StateNumbers, shading: Shading): number | null =>
  shading === "median" ? median : listings;

/** Returns the upper bounds of the shades, so that each has about as many states. */
function shadeBounds(values: readonly number[]): readonly number[] {
  const sorted = [...values].sort((one, other) => one - other);
  const bounds = Array.from(
    { length: shadesMax },
    (_, index) => sorted[Math.ceil(((index + 1) * sorted.length) / shadesMax) - 1] ?? 0,
  );
  return [...new Set(bounds)];
}

interface MapShading {
  readonly shading: Shading;
  readonly bounds: readonly number[];
}

function shadedStates(
  view: ViewParameters,
  { search, answer }: MappedSearch,
  { shading, bounds }: MapShading,
): readonly ShadedState[] {
  const chosen = chosenStates(search);
  return statesOf(answer).map((state) => {
    const value = shadedValue(state, shading);
    const isChosen = chosen.includes(state.code);
    return {
      code: state.code,
      shade: value === null ? 0 : bounds.findIndex((bound) => value <= bound) + 1,
      title: `${state.name}: ${count(state.listings)} listings, median ${dollars(state.median)}`,
      path: viewPath(withParameters(view, { state: isChosen && chosen.length === 1 ? undefined : state.code })),
      isChosen,
    };
  });
}
