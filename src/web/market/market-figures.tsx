/** The figures of the market: median prices, the facts side by side, what a model loses with age, and days on the lot. */
import type { JSX } from "preact";
import { Chart } from "../charts/chart.tsx";
import { seriesColors as colors, type Mark } from "../charts/marks.tsx";
import { dayScale, numberScale, valueOfDay } from "../charts/scale.ts";
import { Figure } from "../components/figure.tsx";
import { type Numbers, sortingOf } from "../components/numbers.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import {
  isUnfinished,
  lossNote,
  lossTitle,
  type MarketSide,
  mediansNote,
  paceTitle,
  pricesMovedTitle,
  standingTitle,
} from "../sentences/market.ts";
import { capital } from "../sentences/words.ts";
import { amountOf, count, dollars, inPercent, shortPrice } from "../shell/format.ts";
import { numbersOfDays, tenths } from "./days-table.tsx";
import { carsPath, type MarketSearch } from "./market-search.ts";
import { chartMin, type MarketPoint, type SearchTrend, type ShownMarket, soldDays, soldPath } from "./market-trends.ts";

/** The figures over the days. */
const dayFigures = {
  price: {
    metric: "price.median",
    width: 760,
    format: dollars,
    tick: shortPrice,
    titleOf: pricesMovedTitle,
    noteOf: mediansNote,
  },
  days: {
    metric: "days_on_market.median",
    width: 560,
    format: (value: number) => `${tenths(value)} ${value === 1 ? "day" : "days"}`,
    tick: tenths,
    titleOf: standingTitle,
    noteOf: (_: unknown, __: unknown, { interval }: MarketPoint) =>
      `Typical (median) days on the lot of the cars for sale ${interval === "week" ? "on the last day of each week" : "each day"}.`,
  },
} as const;

interface DaysProps {
  readonly market: ShownMarket;
  readonly id: keyof typeof dayFigures;
}

/** A series of each search over the days. Weeks are said; an unfinished one is dotted, with a question mark. */
export const DaysFigure = ({ market, id }: DaysProps): JSX.Element => {
  const { trends, sides, period, query, sql } = market;
  const { metric, width, format, tick, titleOf, noteOf } = dayFigures[id];
  const points = trends[0]?.points ?? [];
  const last = points.at(-1);
  const title = titleOf(sides, period);
  const of = last === undefined ? "" : noteOf(sides, period, last);
  const valuesOf = (trend: SearchTrend) => trend.points.flatMap((point) => point[metric] ?? []);
  const known = trends.flatMap(valuesOf);
  const marks = trends.map((trend, index): Mark => {
    const value = valuesOf(trend).at(-1);
    return {
      mark: "line",
      points: trend.points.map((point) => [valueOfDay(point.end), point[metric]] as const),
      color: colors[index] ?? "field",
      name: capital(trend.search.name),
      ...(value === undefined ? {} : { value: format(value) }),
      isUnfinished: last !== undefined && last.interval !== "day" && isUnfinished(last),
      hasArea: trends.length === 1,
    };
  });
  return (
    <Figure
      id={id}
      title={title}
      of={of}
      numbers={{ ...numbersOfDays(market, metric), sorting: sortingOf(id, "/market", query) }}
      sql={sql}
    >
      {trends.some((trend) => valuesOf(trend).length >= chartMin) ? (
        <Chart
          label={`${title}. ${of}`}
          width={width}
          x={dayScale(points.map(({ end }) => end))}
          y={numberScale(known, { format: tick })}
          marks={marks}
        />
      ) : (
        <p>
          {known.length === 0
            ? `No median is known: each needs ${chartMin} cars or more.`
            : `Fewer than ${chartMin} medians are known, which are no line: the table has them.`}
        </p>
      )}
    </Figure>
  );
};

interface FactRow {
  readonly title: string;
  readonly numberOf: (side: MarketSide, trend: SearchTrend) => number | null | undefined;
  readonly format: (value: number) => string;
  readonly pathOf?: (search: MarketSearch) => string;
}

const factRows: readonly FactRow[] = [
  { title: "For sale", numberOf: ({ cars }) => cars, format: count, pathOf: (search) => carsPath(search) },
  {
    title: `Sold in ${soldDays} days`,
    numberOf: (_, { points }) => points.at(-1)?.sold30,
    format: count,
    pathOf: (search) => soldPath(search, soldDays),
  },
  { title: "Days until the stock is sold", numberOf: ({ supplyDays }) => supplyDays, format: count },
  {
    title: "Typical days on the lot",
    numberOf: ({ days }) => days,
    format: tenths,
    pathOf: (search) => carsPath(search, { sort: "-days_on_market" }),
  },
  {
    title: "Median price",
    numberOf: ({ median }) => median,
    format: dollars,
    pathOf: (search) => carsPath(search, { sort: "price" }),
  },
  {
    title: "Loses a year",
    numberOf: ({ yearLoss }) => yearLoss,
    format: (loss) => inPercent(loss / 100),
    pathOf: () => "#loss",
  },
];

/** The facts of the searches, side by side. Numbers with rows link to them. */
export const FactsSheet = ({ market: { trends, sides } }: { readonly market: ShownMarket }): JSX.Element => (
  <Sheet title={paceTitle(sides)} id="facts">
    <div class="facts-table">
      <DataTable
        label="Facts side by side"
        rows={factRows}
        columns={[
          { title: <span class="vh">Fact</span>, cell: ({ title }) => title },
          ...trends.map((trend, index) => ({
            title: <span class={`ink-${colors[index]}`}>{capital(trend.search.name)}</span>,
            isNumber: true,
            cell: ({ numberOf, format, pathOf }: FactRow) => {
              const value = numberOf(sides[index] ?? { name: "" }, trend) ?? null;
              if (value === null) return <b>–</b>;
              return <b>{pathOf === undefined ? format(value) : <a href={pathOf(trend.search)}>{format(value)}</a>}</b>;
            },
          })),
        ]}
      />
    </div>
  </Sheet>
);

const yearText = (age: number): string => (age === 1 ? "1 year" : `${age} yr`);

/** What the models lose with age, on one basis: the fitted curve of each. */
export const LossFigure = ({ market }: { readonly market: ShownMarket }): JSX.Element => {
  const { trends, sides, lossSql } = market;
  const followed = trends.flatMap((trend, index) =>
    trend.loss === undefined ? [] : [{ trend, loss: trend.loss, color: colors[index] ?? "field" }],
  );
  const medians = followed.flatMap(({ loss }) => loss.points.filter(({ median }) => median !== null));
  const ages = medians.map(({ from }) => from);
  const title = lossTitle(sides);
  const marks = followed.flatMap(({ trend, loss, color }): readonly Mark[] => {
    const within = loss.points.filter(({ from }) => from >= Math.min(...ages) && from <= Math.max(...ages));
    return [
      ...within.flatMap((point): readonly Mark[] => {
        const { from, median } = point;
        if (median === null) return [];
        const named = `${trend.search.plural} of ${amountOf(from, "year")}: median ${dollars(median)}, ${amountOf(point.sample, "car")}`;
        return [{ mark: "dot", x: from, y: median, r: 4, color, opacity: 0.45, title: named }];
      }),
      {
        mark: "line",
        isFitted: true,
        name: trend.search.name,
        points: within.map(({ from, fitted }) => [from, fitted] as const),
        color,
      },
    ];
  });
  const sample = followed.reduce((sum, { loss }) => sum + loss.curve.sample, 0);
  const isDrawn = sample >= chartMin && ages.length > 1;
  const prices = [...medians.map(({ median }) => median ?? 0), ...medians.map(({ fitted }) => fitted ?? 0)];
  return (
    <Figure id="loss" title={title} of={isDrawn ? lossNote : undefined} numbers={numbersOfLoss(market)} sql={lossSql}>
      {isDrawn ? (
        <Chart
          label={`${title}. ${lossNote}`}
          x={numberScale(ages, { format: yearText })}
          y={numberScale(prices, { format: shortPrice, isFromZero: true })}
          marks={marks}
        />
      ) : (
        <p>Too few used cars have a known price and age for a curve.</p>
      )}
    </Figure>
  );
};

/** A point of a curve, with the search and the model year that it is of. */
type LossRow = NonNullable<SearchTrend["loss"]>["points"][number] & {
  readonly search: MarketSearch;
  readonly year: number;
};

/** Returns the table of the points of all curves. */
const numbersOfLoss = ({ trends, query }: ShownMarket): Numbers<LossRow> => ({
  columns: [
    { title: "Model", sort: "model", value: ({ search }) => search.name },
    {
      title: "Years",
      sort: "age",
      value: ({ from }) => from,
      format: count,
      path: ({ search, year }) => carsPath(search, { inventory_type: "used,certified", year: String(year) }),
    },
    { title: "Cars", sort: "cars", value: ({ sample }) => sample, format: count },
    { title: "Median", sort: "median", value: ({ median }) => median, format: dollars },
    { title: "Curve", sort: "fitted", value: ({ fitted }) => fitted, format: dollars },
  ],
  rows: trends.flatMap(({ search, loss }) =>
    (loss?.points ?? []).map((point) => ({ ...point, search, year: (loss?.newest_year ?? 0) - point.from })),
  ),
  sorting: sortingOf("loss", "/market", query),
});
