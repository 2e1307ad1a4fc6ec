/** The map of a market: the states in shades of their stock, each a link to its cars; and the same as a table. */
import type { JSX } from "preact";
import type { ChartColor } from "../charts/marks.tsx";
import { mapSize, stateShapes } from "../charts/us-states.ts";
import { Figure } from "../components/figure.tsx";
import { sortingOf } from "../components/numbers.tsx";
import { mapTitle } from "../sentences/market.ts";
import { amountOf, count, dollars } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { acceptedFilters, carsPath, isOfAddress, type MarketSearch } from "./market-search.ts";

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
  const { filters } = acceptedFilters("getFacets", search);
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

const shades = 5;

/** Returns the upper bounds of the shades, so that each has about as many states. */
export function shadeBounds(values: readonly number[]): readonly number[] {
  const sorted = [...values].sort((one, other) => one - other);
  const bounds = Array.from(
    { length: shades },
    (_, index) => sorted[Math.ceil(((index + 1) * sorted.length) / shades) - 1] ?? 0,
  );
  return [...new Set(bounds)];
}

const opacities = [0.14, 0.3, 0.48, 0.68, 0.92];

interface MapProps {
  readonly counted: StateCounts;
  readonly query: URLSearchParams;
  readonly color: ChartColor;
}

export const MapFigure = ({ counted, query, color }: MapProps): JSX.Element => {
  const { search, states } = counted;
  const bounds = shadeBounds(states.map(({ cars }) => cars));
  const total = states.reduce((sum, { cars }) => sum + cars, 0);
  const outside = states.filter(({ code }) => nameOfState(code) === undefined).map(({ code }) => code);
  const beyond = outside.length === 0 ? "" : ` Not on the map: ${outside.join(", ")}.`;
  const id = color === "petrol" ? "map" : "map-against";
  const title = mapTitle(total, states[0]);
  return (
    <Figure
      id={id}
      title={title}
      of={`Cars for sale in each state: ${count(total)} ${total === 1 ? search.name : search.plural}.${beyond}`}
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
      controls={<Shades bounds={bounds} color={color} />}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing is no set of fields, and an image may not contain links */}
      <svg class="map" viewBox={`0 0 ${mapSize.width} ${mapSize.height}`} role="group" aria-label={title}>
        {stateShapes().map((shape) => (
          <StateShape key={shape.code} shape={shape} counted={counted} bounds={bounds} color={color} />
        ))}
      </svg>
    </Figure>
  );
};

interface ShapeProps extends Omit<MapProps, "query"> {
  readonly shape: ReturnType<typeof stateShapes>[number];
  readonly bounds: readonly number[];
}

/** A state in the shade of its cars. Keyboards reach the same cars in the table of the map. */
const StateShape = ({ shape: { code, name, path }, counted, bounds, color }: ShapeProps): JSX.Element => {
  const state = counted.states.find((one) => one.code === code);
  const shade = state === undefined ? -1 : bounds.findIndex((bound) => state.cars <= bound);
  const words =
    state === undefined ? `${name}: none` : `${name}: ${amountOf(state.cars, "car")}, median ${dollars(state.median)}`;
  const fill = shade < 0 ? "var(--sunken)" : `var(--${color})`;
  const outline = (
    <path d={path} fill={fill} fill-opacity={opacities[shade]} stroke="var(--sheet)">
      <title>{words}</title>
    </path>
  );
  if (state === undefined) return <g>{outline}</g>;
  return (
    <a href={carsPath(counted.search, { state: code })} tabIndex={-1} aria-label={words}>
      {outline}
    </a>
  );
};

/** The bounds of the shades, after that of states without cars. */
const Shades = ({ bounds, color }: Pick<ShapeProps, "bounds" | "color">): JSX.Element => (
  <div class="shades">
    {[0, ...bounds].map((bound, at) => (
      <span key={bound}>
        <svg width="14" height="14" aria-hidden="true">
          <rect
            width="14"
            height="14"
            rx="3"
            fill={at === 0 ? "var(--sunken)" : `var(--${color})`}
            fill-opacity={opacities[at - 1]}
          />
        </svg>
        {at === 0 ? "none" : `up to ${count(bound)}`}
      </span>
    ))}
  </div>
);
