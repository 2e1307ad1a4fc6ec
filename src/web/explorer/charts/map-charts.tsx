/** The map: states in shades of their inventory or median price, and dealers, or the ZIP codes of one state, as dots. */
import type { JSX } from "preact";
import { SeriesName } from "../../charts/plot-area.tsx";
import { ShadeKey, shadeBounds, shadeOf, UsMap } from "../../charts/us-map.tsx";
import { stateShapes } from "../../charts/us-states.ts";
import { count, dollars } from "../../shell/format.ts";
import { apiFilters, listOf, type ViewParameters, viewPath, withParameters } from "../../shop/view.ts";
import { dealerDots, findMarketDealers, type MarketDealers, placeDealers } from "../dealers/market-dealers.ts";
import {
  besidePart,
  type ChartSearch,
  type ChartsRequest,
  type CountedSearch,
  headOf,
  type RemainingCharts,
} from "./chart-searches.ts";
import { listingsColumn, medianColumn, SearchFigure } from "./search-figure.tsx";

interface StateNumbers {
  readonly code: string;
  readonly name: string;
  readonly listings: number;
  readonly median: number | null;
  /** Whether the search is filtered by it. */
  readonly isChosen: boolean;
}

interface MappedSearch {
  readonly search: ChartSearch;
  readonly states: readonly StateNumbers[];
  /** The code of the one state that it is filtered by. */
  readonly focus: string | undefined;
  /** Undefined if the API refuses to count them. */
  readonly found: MarketDealers | undefined;
}

/** Sends the first request for the map of each search. */
export async function loadMapCharts(request: ChartsRequest): Promise<RemainingCharts> {
  const { view, searches } = request;
  const [own, ...others] = searches;
  const first = await countStates(request, own);
  return async () => {
    const beside = await request.loadEach(besidePart, others, (search) => countStates(request, search));
    const mapped = await Promise.all([first, ...beside].map((counted) => mapSearch(request, counted)));
    const chosen = mapped[0]?.states.filter(({ isChosen }) => isChosen) ?? [];
    const head = headOf(first);
    return {
      ...head,
      total: own.filters.state === undefined ? head.total : chosen.reduce((sum, { listings }) => sum + listings, 0),
      charts: <StateMap view={view} mapped={mapped} />,
    };
  };
}

/** Counts the states of a search without its filter by state. */
async function countStates(request: ChartsRequest, search: ChartSearch): Promise<CountedSearch> {
  const everywhere = { ...search, filters: withParameters(search.filters, { state: undefined }) };
  const query = { facets: "state", metric: "price.median", facet_value_limit: "100" };
  return { ...(await request.count(everywhere, query)), search };
}

/** Returns the numbers of a search's states, and its dealers, of which the largest are placed. */
async function mapSearch({ requests, days }: ChartsRequest, { search, answer }: CountedSearch): Promise<MappedSearch> {
  const names = new Map(stateShapes().map(({ code, name }) => [code, name]));
  const found = await requests.loadPart("dealers", async () => {
    const dealers = await findMarketDealers(requests, apiFilters(search.filters, days.last));
    const ids = dealers.dealers.map(({ id }) => id);
    return { ...dealers, placed: await placeDealers(requests, ids) };
  });
  const chosen = listOf(search.filters, "state").map((code) => code.toUpperCase());
  const states = (answer.data.facets.state ?? []).map(({ value: code, count: listings, metric }) => ({
    code,
    name: names.get(code) ?? code,
    listings,
    median: metric?.value ?? null,
    isChosen: chosen.includes(code),
  }));
  return { search, states, found, focus: chosen.length === 1 ? chosen[0] : undefined };
}

/** What states are shaded by, and the value of `shade` and the words that lead to the other shading. */
const shadings = {
  count: {
    title: "Inventory by state",
    note: "Listings in each state.",
    format: count,
    shadedBy: ({ listings }: StateNumbers) => listings,
    other: "median",
    otherText: "Shade by median price",
  },
  median: {
    title: "Median price by state",
    note: "Median price in US dollars of the listings in each state, if at least 10 have one.",
    format: dollars,
    shadedBy: ({ median }: StateNumbers) => median,
    other: undefined,
    otherText: "Shade by inventory",
  },
} as const;

interface StateMapProps {
  readonly view: ViewParameters;
  readonly mapped: readonly MappedSearch[];
}

const StateMap = ({ view, mapped }: StateMapProps): JSX.Element => {
  const { title, note, shadedBy, format, other, otherText } = shadings[view.shade === "median" ? "median" : "count"];
  const bounds = shadeBounds(mapped.flatMap(({ states }) => states.flatMap((state) => shadedBy(state) ?? [])));
  const shadeIn = (state: StateNumbers): number => shadeOf(shadedBy(state) ?? Number.POSITIVE_INFINITY, bounds);
  const isCompared = mapped.length > 1;
  return (
    <SearchFigure
      id="states"
      title={title}
      note={
        <>
          {`${note} ${dotsNote(mapped)}${unmappedNote(mapped)} `}
          <a href={viewPath(withParameters(view, { shade: other }))}>{otherText}</a>
        </>
      }
      isWide
      isNamed
      parts={mapped}
      columns={[{ name: "state", title: "State" }, listingsColumn, medianColumn]}
      rowsOf={({ states }) =>
        states.map(({ code, name, listings, median }) => [
          ...[{ text: name, path: viewPath(withParameters(view, { state: code })) }, listings, median],
        ])
      }
    >
      <div class={isCompared ? "panels several" : "panels"}>
        {mapped.map((one, index) => (
          <div class="panel" key={one.search.name}>
            <h3 hidden={!isCompared}>
              <SeriesName series={index + 1} name={one.search.name} />
            </h3>
            <SearchMap view={view} mapped={one} shadeIn={shadeIn} />
          </div>
        ))}
      </div>
      <ShadeKey texts={bounds.map((bound) => `up to ${format(bound)}`)} />
    </SearchFigure>
  );
};

const dotsNote = ([first]: readonly MappedSearch[]): string =>
  first?.found === undefined
    ? ""
    : `Dots are ${count(dealerDots(first.found).length)} of ${count(first.found.total)} dealers, by their listings.`;

/** Names the states that have listings, but no shape, such as Puerto Rico. */
function unmappedNote(mapped: readonly MappedSearch[]): string {
  const shapes = new Set(stateShapes().map(({ code }) => code));
  const codes = new Set(mapped.flatMap(({ states }) => states.map(({ code }) => code)));
  const unmapped = [...codes].filter((code) => !shapes.has(code));
  return unmapped.length === 0 ? "" : ` Not on the map: ${unmapped.join(", ")}.`;
}

interface SearchMapProps {
  readonly view: ViewParameters;
  readonly mapped: MappedSearch;
  readonly shadeIn: (state: StateNumbers) => number;
}

const SearchMap = ({ view, mapped: { states, focus, found }, shadeIn }: SearchMapProps): JSX.Element => {
  const [fullest] = states;
  const summary =
    fullest === undefined ? "no listings" : `most listings in ${fullest.name}, ${count(fullest.listings)}`;
  return (
    <UsMap
      label={`Map of the US: ${summary}`}
      states={states.map((state) => ({
        code: state.code,
        shade: shadeIn(state),
        isChosen: state.isChosen,
        title: `${state.name}: ${count(state.listings)} listings, median ${dollars(state.median)}`,
        path: viewPath(withParameters(view, { state: state.code === focus ? undefined : state.code })),
      }))}
      dots={found === undefined ? [] : dealerDots(found)}
      focus={focus}
    />
  );
};
