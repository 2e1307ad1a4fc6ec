/** The map of a market: the states in shades of their stock, each a link to its cars; and the same as a table. */
import type { JSX } from "preact";
import type { ChartColor } from "../charts/marks.tsx";
import { mapSize, stateShapes } from "../charts/us-states.ts";
import { Figure } from "../components/figure.tsx";
import { sortingOf } from "../components/numbers.tsx";
import { mapTitle } from "../sentences/market.ts";
import { amountOf, count, dollars } from "../shell/format.ts";
import { acceptedFilters } from "../shell/page-parameters.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { carsPath, isOfAddress, type MarketSearch } from "./market-search.ts";

interface StateNumbers {
  readonly code: string;
  readonly name: string;
  readonly cars: number;
  /** Unknown for fewer than 10 prices. */
  readonly median: number | null;
}

/** The states of a search. */
interface StateCounts {
  readonly search: MarketSearch;
  readonly states: readonly StateNumbers[];
}

/** Counts the states of a search. Returns undefined if they cannot be counted. Throws refusals of filters of the address. */
export async function countStates(requests: PageRequests, search: MarketSearch): Promise<StateCounts | undefined> {
  const { filters } = acceptedFilters("getFacets", search.filters);
  const query = { ...filters, facets: "state", metric: "price.median", facet_value_limit: "100" };
  const call = () => requests.call("getFacets", query);
  const answer = await requests.loadPart(`map of ${search.plural}`, call, isOfAddress(search));
  if (answer === undefined) return undefined;
  const states = (answer.data.facets.state ?? []).map(({ value: code, count: cars, metric }) => ({
    code,
    name: nameOfState(code) ?? code,
    cars,
    median: metric?.value == null ? null : Math.round(metric.value),
  }));
  return { search, states };
}

const nameOfState = (state: string): string | undefined => stateShapes().find(({ code }) => code === state)?.name;

interface MapProps {
  readonly counted: StateCounts;
  readonly query: URLSearchParams;
  readonly color: ChartColor;
}

/** The map of the states: the stronger the color, the more cars. Keyboards reach the same cars in its table. */
export const MapFigure = ({ counted: { search, states }, query, color }: MapProps): JSX.Element => {
  const counts = states.map(({ cars }) => cars);
  const total = counts.reduce((sum, cars) => sum + cars, 0);
  const outside = states.filter(({ code }) => nameOfState(code) === undefined).map(({ code }) => code);
  const beyond = outside.length === 0 ? "" : ` Not on the map: ${outside.join(", ")}.`;
  const id = color === "petrol" ? "map" : "map-against";
  const title = mapTitle(total, states[0]);
  const drawn = stateShapes().map((shape) => ({ ...shape, state: states.find(({ code }) => code === shape.code) }));
  return (
    <Figure
      id={id}
      title={title}
      of={`Cars for sale in each state, the stronger the color the more: ${count(total)} ${total === 1 ? search.name : search.plural}.${beyond}`}
      numbers={{
        columns: [
          {
            title: "State",
            sort: "state",
            value: ({ name }) => name,
            path: ({ code: state }) => carsPath(search, { state }),
          },
          { title: "For sale", sort: "cars", value: ({ cars }) => cars, format: count },
          { title: "Median price", sort: "median", value: ({ median }) => median, format: dollars },
        ],
        rows: states,
        sorting: sortingOf(id, "/market", query),
      }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing is no set of fields, and an image may not contain links */}
      <svg class="map" viewBox={`0 0 ${mapSize.width} ${mapSize.height}`} role="group" aria-label={title}>
        {drawn.map(({ code, name, path, state }) =>
          state === undefined ? (
            <path key={code} d={path} fill="var(--sunken)" stroke="var(--sheet)">
              <title>{`${name}: none`}</title>
            </path>
          ) : (
            <a key={code} href={carsPath(search, { state: code })} tabIndex={-1} aria-label={wordsOf(state)}>
              <path
                d={path}
                fill={`var(--${color})`}
                fill-opacity={shadeOf(state.cars, Math.max(...counts))}
                stroke="var(--sheet)"
              >
                <title>{wordsOf(state)}</title>
              </path>
            </a>
          ),
        )}
      </svg>
    </Figure>
  );
};

const wordsOf = ({ name, cars, median }: StateNumbers): string =>
  `${name}: ${amountOf(cars, "car")}, median ${dollars(median)}`;

/** Returns the opacity of a state. By the root of its cars, since most states have few beside the largest. */
const shadeOf = (cars: number, most: number): string => (0.1 + 0.85 * Math.sqrt(cars / most)).toFixed(2);
