/** Charts over time: days on market, and trends over the snapshot days. */
import type { JSX } from "preact";
import { isDay, plusDays } from "../../../base/day.ts";
import type { AnswerOf } from "../../../contract/types.ts";
import type { TextParameters } from "../../../operations/operation-request.ts";
import { timeOfDay } from "../../charts/axis.ts";
import { ChartFigure } from "../../charts/chart-figure.tsx";
import { LinePlot, type LinePoint, type ShadedDays } from "../../charts/line-plot.tsx";
import { count, day, dollars, shortCount, shortDollars } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import type { SnapshotDays } from "../search/market-control.tsx";
import { apiFilters, type ViewParameters } from "../view.ts";
import {
  besidePart,
  type ChartSearch,
  type ChartSearches,
  type CountedSearch,
  headOf,
  type RemainingCharts,
  searchCells,
  searchColumns,
} from "./chart-searches.ts";
import { countBeside, countRanges, RangeChart } from "./range-chart.tsx";

export const trendPeriods: readonly string[] = ["30", "90", "365"];

/** Periods up to this many days have a point for each day, longer ones for each week. */
const dailyMax = 45;

type TrendPoint = AnswerOf<"getTrends">["data"][number]["points"][number];

interface TrendedSearch {
  readonly search: ChartSearch;
  readonly points: readonly TrendPoint[];
  readonly missingDays: AnswerOf<"getTrends">["meta"]["missing_days"];
}

/** Sends the first request for the charts over time. */
export async function loadTimeCharts(
  requests: PageRequests,
  [own, ...others]: ChartSearches,
  { view, days }: { readonly view: ViewParameters; readonly days: SnapshotDays },
): Promise<RemainingCharts> {
  const query = { asOf: days.last, facet: "days_on_market", query: { facets: "days_on_market" } } as const;
  const first = await countRanges(requests, own, query);
  const trendsOf = (search: ChartSearch): Promise<TrendedSearch | undefined> =>
    requests.loadPart(search === own ? "trends" : besidePart, () => loadTrends(requests, search, { view, days }));
  return async () => {
    const [counted, trended] = await Promise.all([
      countBeside(requests, first, others, query),
      Promise.all([own, ...others].map(trendsOf)),
    ]);
    const known = trended.filter((one) => one !== undefined);
    return {
      ...headOf(counted),
      charts: <TimeCharts view={view} counted={counted} trended={known} firstDay={days.first} />,
    };
  };
}

interface TimeChartsProps {
  readonly view: ViewParameters;
  readonly counted: readonly CountedSearch[];
  readonly trended: readonly TrendedSearch[];
  readonly firstDay: string;
}

const TimeCharts = ({ view, counted, trended, firstDay }: TimeChartsProps): JSX.Element => (
  <>
    <RangeChart
      view={view}
      id="days-on-market"
      title="Days on market"
      facet="days_on_market"
      unit="days on market"
      counted={counted}
      format={count}
      tickFormat={shortCount}
    />
    {trended.some(({ search }) => search.filters.value_rating !== undefined) ? (
      <p class="muted">Trends have no value ratings: they show listings of every rating.</p>
    ) : null}
    {trended.length === 0
      ? null
      : trendDefinitions.map((definition) => (
          <TrendChart key={definition.metric} definition={definition} trended={trended} firstDay={firstDay} />
        ))}
  </>
);

/** Parameters that trends do not have: those of inventory views, and ratings, which only the published day has. */
const presentNames: ReadonlySet<string> = new Set([
  ...["inventory_status", "sold_within_days", "snapshot_date", "value_rating"],
]);

/** Loads the trends of a search until the day that it shows. */
async function loadTrends(
  requests: PageRequests,
  search: ChartSearch,
  { view, days }: { readonly view: ViewParameters; readonly days: SnapshotDays },
): Promise<TrendedSearch> {
  const { snapshot_date: past } = search.filters;
  const filters = Object.entries(apiFilters(search.filters, days.last)).filter(([name]) => !presentNames.has(name));
  const period = Number(trendPeriods.includes(view.period ?? "") ? view.period : "90");
  const { data, meta } = await requests.call("getTrends", {
    metric: trendDefinitions.map(({ metric }) => metric).join(),
    ...periodQuery(past ?? days.last, period, days),
    ...Object.fromEntries(filters),
  });
  return { search, points: data[0]?.points ?? [], missingDays: meta.missing_days };
}

/** Returns the period and the interval of trends that end on a day. An invalid day is left to the API to refuse. */
function periodQuery(to: string, period: number, { first }: SnapshotDays): TextParameters {
  if (!isDay(to)) return { to };
  const start = plusDays(to, 1 - period);
  const from = start < first && first <= to ? first : start;
  return { from, to, interval: plusDays(from, dailyMax) > to ? "day" : "week" };
}

interface TrendDefinition {
  readonly metric: string;
  readonly title: string;
  /** A description of the metric, with its unit. */
  readonly note: string;
  /** Whether it is the sum of an interval's events, shown for each day. */
  readonly isFlow?: boolean;
  readonly isFromZero?: boolean;
  readonly format: (value: number) => string;
  readonly tickFormat: (value: number) => string;
}

const rate = (value: number): string => (Number.isInteger(value) ? count(value) : value.toFixed(1));
const rounded = (value: number): string => count(Math.round(value));

const trendDefinitions: readonly TrendDefinition[] = [
  {
    ...{ metric: "price.median", title: "Median price", note: "US dollars, of the listings for sale on each day." },
    ...{ format: (value) => dollars(Math.round(value)), tickFormat: shortDollars },
  },
  {
    ...{ metric: "count", title: "Inventory", note: "Listings for sale on each day." },
    ...{ isFromZero: true, format: count, tickFormat: shortCount },
  },
  {
    ...{
      metric: "days_on_market.median",
      title: "Median days on market",
      note: "Of the listings for sale on each day.",
    },
    ...{ isFromZero: true, format: rounded, tickFormat: shortCount },
  },
  {
    ...{
      metric: "new_listings",
      title: "New listings a day",
      note: "First observed; without the first day of the data.",
    },
    ...{ isFlow: true, isFromZero: true, format: rate, tickFormat: shortCount },
  },
  {
    ...{ metric: "sold", title: "Sold a day", note: "By the day on which the sale became known." },
    ...{ isFlow: true, isFromZero: true, format: rate, tickFormat: shortCount },
  },
];

interface TrendChartProps {
  readonly definition: TrendDefinition;
  readonly trended: readonly TrendedSearch[];
  readonly firstDay: string;
}

const TrendChart = ({ definition, trended, firstDay }: TrendChartProps): JSX.Element => {
  const { metric, title, note, isFromZero = false, format, tickFormat } = definition;
  const searches = trended.map(({ search }) => search);
  const shaded = shadedDays(trended);
  const lines = trended.map(({ search, points }) => ({
    search,
    name: searches.length > 1 ? search.name : "",
    points: points.map((point) => linePoint(point, definition, firstDay)),
  }));
  return (
    <ChartFigure
      id={`trend-${metric.replaceAll(/[._]/g, "-")}`}
      title={title}
      note={shaded.length === 0 ? note : `${note} Days without a delivery are shaded.`}
      names={searches.map(({ name }) => name)}
      numbers={{
        columns: [
          ...searchColumns(searches),
          { name: "day", title: "Until" },
          { name: metric.replaceAll(".", "_"), title, format },
        ],
        rows: lines.flatMap(({ search, points }) =>
          points.map((point) => [...searchCells(searches, search), point.day, point.value]),
        ),
      }}
    >
      <LinePlot title={title} lines={lines} format={tickFormat} isFromZero={isFromZero} shaded={shaded} />
    </ChartFigure>
  );
};

/** Returns the days without a delivery in the periods of all searches. */
function shadedDays(trended: readonly TrendedSearch[]): readonly ShadedDays[] {
  const ranges = trended.flatMap(({ missingDays }) => missingDays);
  return [...new Map(ranges.map((range) => [range.start, range])).values()].map(({ start, end }) => ({
    ...{ start, end },
    title: start === end ? `No delivery on ${day(start)}` : `No delivery from ${day(start)} to ${day(end)}`,
  }));
}

/** Returns the point of a metric on the last day of an interval. On the first day of the data, every listing is new. */
function linePoint(point: TrendPoint, definition: TrendDefinition, firstDay: string): LinePoint {
  const { metric, isFlow = false, format } = definition;
  const found = point.metrics.find(({ name }) => name === metric)?.value ?? null;
  const isUnknown =
    found === null || (isFlow && point.days === 0) || (metric === "new_listings" && point.start <= firstDay);
  const value = isUnknown ? null : isFlow ? found / point.days : found;
  const days = 1 + (timeOfDay(point.end) - timeOfDay(point.start)) / (24 * 60 * 60 * 1000);
  const published = point.days < days ? `, ${point.days} of ${days} days delivered` : "";
  return {
    day: point.end,
    value,
    title: `${day(point.end)}: ${value === null ? "unknown" : format(value)}${published}`,
  };
}
