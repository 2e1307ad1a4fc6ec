/** The map of a market: the states in shades of their stock or median price, each a link to its cars; and the same as a table. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import type { ChartColor } from "../charts/marks.tsx";
import { mapSize, stateShapes } from "../charts/us-states.ts";
import { Segments } from "../components/chips.tsx";
import { Figure } from "../components/figure.tsx";
import { sortingOf } from "../components/numbers.tsx";
import { mapTitle } from "../sentences/market.ts";
import { amountOf, count, dollars } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { acceptedFilters, carsPath, type MarketSearch, marketPath } from "./market-search.ts";

interface StateNumbers {
  readonly code: string;
  readonly name: string;
  readonly cars: number;
  /** Unknown for fewer than 10 prices. */
  readonly median: number | null;
}

/** The states of a search. */
export interface StateCounts {
  readonly search: MarketSearch;
  readonly states: readonly StateNumbers[];
}

/** Counts the states of a search. Returns undefined if the API refuses it. */
export async function countStates(requests: PageRequests, search: MarketSearch): Promise<StateCounts | undefined> {
  const { filters } = acceptedFilters("getFacets", search);
  const query = { ...filters, facets: "state", metric: "price.median", facet_value_limit: "100" };
  const answer = await requests.loadPart(`map of ${search.plural}`, () => requests.call("getFacets", query));
  return answer === undefined ? undefined : { search, states: (answer.data.facets.state ?? []).map(numbersOf) };
}

type Bucket = NonNullable<AnswerOf<"getFacets">["data"]["facets"][string]>[number];

const nameOfState = (state: string): string | undefined => stateShapes().find(({ code }) => code === state)?.name;

const numbersOf = ({ value, count: cars, metric }: Bucket): StateNumbers => ({
  code: value,
  name: nameOfState(value) ?? value,
  cars,
  median: metric?.value ?? null,
});

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

export const MapFigure = ({ counted: { search, states }, query, color }: MapProps): JSX.Element => {
  const isMedian = query.get("shade") === "median";
  const shadedBy = ({ cars, median }: StateNumbers): number | null => (isMedian ? median : cars);
  const bounds = shadeBounds(states.flatMap((state) => shadedBy(state) ?? []));
  const total = states.reduce((sum, { cars }) => sum + cars, 0);
  const outside = states.filter(({ code }) => nameOfState(code) === undefined).map(({ code }) => code);
  const id = color === "petrol" ? "map" : "map-against";
  const title = mapTitle(total, states[0]);
  const wording = isMedian ? "Median price of each state with 10 prices or more" : "Cars for sale in each state";
  return (
    <Figure
      id={id}
      title={title}
      of={`${wording}. ${amountOf(total, "car")}: ${search.plural}.${outside.length === 0 ? "" : ` Not on the map: ${outside.join(", ")}.`}`}
      numbers={{
        columns: [
          { name: "state", title: "State" },
          { name: "cars", title: "For sale", format: count },
          { name: "median", title: "Median price", format: dollars },
        ],
        rows: states.map(({ code, name, cars, median }) => [
          { text: name, path: carsPath(search, { state: code }) },
          cars,
          median === null ? null : Math.round(median),
        ]),
        sorting: sortingOf(id, "/market", query),
      }}
      controls={<Shades query={query} isMedian={isMedian} bounds={bounds} color={color} plural={search.plural} />}
    >
      <StatesMap
        title={title}
        states={states}
        color={color}
        search={search}
        shadeOf={(state) => {
          const value = shadedBy(state);
          return value === null ? 0 : bounds.findIndex((bound) => value <= bound) + 1;
        }}
      />
    </Figure>
  );
};

interface StatesMapProps {
  readonly title: string;
  readonly states: readonly StateNumbers[];
  readonly search: MarketSearch;
  readonly color: ChartColor;
  readonly shadeOf: (state: StateNumbers) => number;
}

const StatesMap = ({ title, states, search, color, shadeOf }: StatesMapProps): JSX.Element => {
  const byCode = new Map(states.map((state) => [state.code, state]));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing is no set of fields, and an image may not contain links
    <svg class="map" viewBox={`0 0 ${mapSize.width} ${mapSize.height}`} role="group" aria-label={title}>
      {stateShapes().map(({ code, name, path }) => {
        const state = byCode.get(code);
        const shade = state === undefined ? 0 : shadeOf(state);
        const words =
          state === undefined
            ? `${name}: none`
            : `${name}: ${amountOf(state.cars, "car")}, median ${dollars(state.median)}`;
        const outline = (
          <path
            d={path}
            fill={shade === 0 ? "var(--sunken)" : `var(--${color})`}
            fill-opacity={opacities[shade - 1]}
            stroke="var(--sheet)"
          >
            <title>{words}</title>
          </path>
        );
        // Keyboards reach the same cars in the table of the map.
        return state === undefined ? (
          <g key={code}>{outline}</g>
        ) : (
          <a key={code} href={carsPath(search, { state: code })} tabIndex={-1} aria-label={words}>
            {outline}
          </a>
        );
      })}
    </svg>
  );
};

interface ShadesProps extends Pick<MapProps, "query" | "color"> {
  readonly isMedian: boolean;
  readonly plural: string;
  readonly bounds: readonly number[];
}

/** What states are shaded by, and the bounds of the shades. */
const Shades = ({ query, isMedian, bounds, color, plural }: ShadesProps): JSX.Element => (
  <div class="shades">
    <Segments
      label={`Shade the map of ${plural} by`}
      segments={[
        { path: marketPath(query, { shade: undefined }), text: "Cars", isCurrent: !isMedian },
        { path: marketPath(query, { shade: "median" }), text: "Median price", isCurrent: isMedian },
      ]}
    />
    {bounds.map((bound, index) => (
      <span key={bound}>
        <svg width="14" height="14" aria-hidden="true">
          <rect width="14" height="14" rx="3" fill={`var(--${color})`} fill-opacity={opacities[index]} />
        </svg>
        up to {isMedian ? dollars(Math.round(bound)) : count(bound)}
      </span>
    ))}
  </div>
);
