/** Charts over time: days on market, and trends over the snapshot days. */
import type { JSX } from "preact";
import { isDay, plusDays } from "../../../base/day.ts";
import type { AnswerOf } from "../../../contract/types.ts";
import type { TextParameters } from "../../../operations/caller.ts";
import { timeOfDay } from "../../charts/axis.ts";
import { LinePlot, type LinePoint, type ShadedDays } from "../../charts/line-plot.tsx";
import { count, day, dollars, shortCount, shortPrice } from "../../shell/format.ts";
import type { ViewParameters } from "../../shop/view.ts";
import {
  acceptedFilters,
  type ChartSearch,
  type ChartsRequest,
  headOf,
  type RemainingCharts,
  type SnapshotDays,
} from "./chart-searches.ts";
import { countBeside, RangeChart, type RangeQuery } from "./range-chart.tsx";
import { SearchFigure } from "./search-figure.tsx";

/** The periods of trends, in days. */
export const trendPeriods: readonly string[] = ["30", "90", "365"];

export const trendPeriod = ({ period = "" }: ViewParameters): string => (trendPeriods.includes(period) ? period : "90");

/** Periods up to this many days have a point for each day, longer ones for each week. */
const dailyMax = 45;

type TrendPoint = AnswerOf<"getTrends">["data"][number]["points"][number];

interface TrendedSearch {
  readonly search: ChartSearch;
  readonly points: readonly TrendPoint[];
  readonly missingDays: AnswerOf<"getTrends">["meta"]["missing_days"];
}

/** Sends the first request for the charts over time. */
export async function loadTimeCharts(request: ChartsRequest): Promise<RemainingCharts> {
  const { view, days, searches } = request;
  const query: RangeQuery = { facet: "days_on_market", query: { facets: "days_on_market" } };
  const first = await request.count(searches[0], query.query);
  return async () => {
    const [counted, trended] = await Promise.all([
      countBeside(request, first, query),
      request.loadEach("trends", searches, (search) => loadTrends(request, search)),
    ]);
    return {
      ...headOf(first),
      charts: (
        <>
          <RangeChart view={view} facet="days_on_market" counted={counted} />
          {trended.some(({ search }) => search.filters.value_rating !== undefined) ? (
            <p class="muted">Trends have no value ratings: they show listings of every rating.</p>
          ) : null}
          {trended.length === 0
            ? null
            : trendMetrics.map((metric) => (
                <TrendChart key={metric.name} metric={metric} trended={trended} firstDay={days.first} />
              ))}
        </>
      ),
    };
  };
}

/** Loads the trends of a search until the day that it shows. */
async function loadTrends({ requests, view, days }: ChartsRequest, search: ChartSearch): Promise<TrendedSearch> {
  const { data, meta } = await requests.call("getTrends", {
    metric: trendMetrics.map(({ name }) => name).join(),
    ...periodQuery(search.filters.snapshot_date ?? days.last, Number(trendPeriod(view)), days),
    ...acceptedFilters("getTrends", search, days.last).filters,
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

interface TrendMetric {
  /** Its name in the API. */
  readonly name: string;
  readonly title: string;
  /** A description of the metric, with its unit. */
  readonly note: string;
  /** Whether it is the sum of an interval's events, shown for each day. */
  readonly isFlow?: boolean;
  readonly isFromZero?: boolean;
  readonly format: (value: number) => string;
  readonly tickFormat: (value: number) => string;
}

const level = { isFromZero: true, format: count, tickFormat: shortCount };
const flow = {
  isFlow: true,
  isFromZero: true,
  tickFormat: shortCount,
  format: (value: number) => (Number.isInteger(value) ? count(value) : value.toFixed(1)),
};

const trendMetrics: readonly TrendMetric[] = [
  {
    name: "price.median",
    title: "Median price",
    note: "US dollars, of the listings for sale on each day.",
    format: dollars,
    tickFormat: shortPrice,
  },
  { name: "count", title: "Inventory", note: "Listings for sale on each day.", ...level },
  {
    name: "days_on_market.median",
    title: "Median days on market",
    note: "Of the listings for sale on each day.",
    ...level,
  },
  {
    name: "new_listings",
    title: "New listings a day",
    note: "First observed; without the first day of the data.",
    ...flow,
  },
  { name: "sold", title: "Sold a day", note: "By the day on which the sale became known.", ...flow },
];

interface TrendChartProps {
  readonly metric: TrendMetric;
  readonly trended: readonly TrendedSearch[];
  readonly firstDay: string;
}

const TrendChart = ({ metric, trended, firstDay }: TrendChartProps): JSX.Element => {
  const { name, title, note, isFromZero = false, format, tickFormat } = metric;
  const shaded = shadedDays(trended);
  const lines = trended.map(({ search, points }) => ({
    search,
    name: trended.length > 1 ? search.name : "",
    points: points.map((point) => linePoint(point, metric, firstDay)),
  }));
  return (
    <SearchFigure
      id={`trend-${name.replaceAll(/[._]/g, "-")}`}
      title={title}
      note={shaded.length === 0 ? note : `${note} Days without a delivery are shaded.`}
      parts={lines}
      columns={[
        { name: "day", title: "Until" },
        { name: name.replaceAll(".", "_"), title, format },
      ]}
      rowsOf={({ points }) => points.map((point) => [point.day, point.value])}
    >
      <LinePlot title={title} lines={lines} format={tickFormat} isFromZero={isFromZero} shaded={shaded} />
    </SearchFigure>
  );
};

/** Returns the days without a delivery in the periods of all searches. */
function shadedDays(trended: readonly TrendedSearch[]): readonly ShadedDays[] {
  const ranges = new Map(trended.flatMap(({ missingDays }) => missingDays).map((range) => [range.start, range]));
  return [...ranges.values()].map(({ start, end }) => ({
    start,
    end,
    title: start === end ? `No delivery on ${day(start)}` : `No delivery from ${day(start)} to ${day(end)}`,
  }));
}

const dayMs = 24 * 60 * 60 * 1000;

/** Returns the point of a metric on the last day of an interval. On the first day of the data, every listing is new. */
function linePoint(point: TrendPoint, { name, isFlow = false, format }: TrendMetric, firstDay: string): LinePoint {
  const { start, end, days: delivered, metrics } = point;
  const found = metrics.find((metric) => metric.name === name)?.value ?? null;
  const isUnknown = found === null || (isFlow && delivered === 0) || (name === "new_listings" && start <= firstDay);
  const value = isUnknown ? null : isFlow ? found / delivered : found;
  const days = 1 + (timeOfDay(end) - timeOfDay(start)) / dayMs;
  const published = delivered < days ? `, ${delivered} of ${days} days delivered` : "";
  return { day: end, value, title: `${day(end)}: ${value === null ? "unknown" : format(value)}${published}` };
}
