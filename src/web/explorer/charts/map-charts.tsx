/** The map: states in shades of their inventory or median price, and dealers, or the ZIP codes of one state, as dots. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { ChartFigure, type Numbers, type NumbersCell } from "../../charts/chart-figure.tsx";
import { Panels } from "../../charts/plot-area.tsx";
import { type ShadedState, ShadeKey, shadeBounds, shadeOf, UsMap } from "../../charts/us-map.tsx";
import { stateShapes } from "../../charts/us-states.ts";
import { count, dollars } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { dealerDots, findMarketDealers, type MarketDealers, placeDealers } from "../dealers/market-dealers.ts";
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

type Shading = "count" | "median";

interface MappedSearch extends CountedSearch {
  readonly found: MarketDealers | undefined;
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
  const mapBeside = (search: ChartSearch): Promise<MappedSearch | undefined> =>
    requests.loadPart(besidePart, async () => {
      const [answer, found] = await Promise.all([
        loadStates(requests, search, asOf),
        findDealers(requests, search, asOf),
      ]);
      return { search, answer, found };
    });
  const answer = await loadStates(requests, own, asOf);
  return async () => {
    const [found, ...beside] = await Promise.all([findDealers(requests, own, asOf), ...others.map(mapBeside)]);
    const first = { search: own, answer, found };
    const mapped = [first, ...beside.filter((one) => one !== undefined)];
    return {
      ...{ total: totalOf(first), unmatched: answer.meta.unmatched },
      charts: <StateMap view={view} mapped={mapped} />,
    };
  };
}

/** Finds the dealers of a search, and where the largest are. Returns undefined if the API refuses. */
const findDealers = (requests: PageRequests, search: ChartSearch, asOf: string): Promise<MarketDealers | undefined> =>
  requests.loadPart("dealers", async () => {
    const found = await findMarketDealers(requests, apiFilters(search.filters, asOf));
    return {
      ...found,
      placed: await placeDealers(
        requests,
        found.dealers.map(({ id }) => id),
      ),
    };
  });

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
            dots={one.found === undefined ? [] : dealerDots(one.found)}
            focus={chosenStates(one.search).length === 1 ? chosenStates(one.search)[0] : undefined}
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
  first?.found === undefined
    ? ""
    : `Dots are ${count(dealerDots(first.found).length)} of ${count(first.found.total)} dealers, by their listings.`;

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
      shade: value === null ? 0 : shadeOf(value, bounds),
      title: `${state.name}: ${count(state.listings)} listings, median ${dollars(state.median)}`,
      path: viewPath(withParameters(view, { state: isChosen && chosen.length === 1 ? undefined : state.code })),
      isChosen,
    };
  });
}
