/**
 * Trend queries: levels of the last day of each interval, and flows of its days. A peer executes one statement for all levels and one for
 * each kind of event, by day; the days are added up to intervals here.
 */
import { bounds } from "../../src/base/bounds.ts";
import { plusDays } from "../../src/base/day.ts";
import type { Row } from "../../src/base/json.ts";
import { type DayRange, intervalsOf } from "../../src/query/intervals.ts";
import { assertSameAnswer } from "../measure/assert-same-answer.ts";
import { quoteString, type SqlPeer } from "../peers/peer.ts";
import { filterParameters } from "./filter.ts";
import { at, type BenchQuery, type BenchTrendMetric, listAt, type TrendSpec } from "./query.ts";

/** The most series of a trend. */
const seriesMax = 50;

/** Creates a query for a trend. */
export function trendQuery(options: Omit<TrendSpec, "kind">): BenchQuery {
  const spec: TrendSpec = { kind: "trends", ...options };
  const { metrics, interval, period, filters, facet } = spec;
  const parameters = [
    `metric=${metrics.map(({ name }) => name).join(",")}`,
    ...[`interval=${interval}`, `from=${period.start}`, `to=${period.end}`],
    ...(facet === undefined ? [] : [`facet=${facet}`, `facet_limit=${seriesMax}`]),
    ...filterParameters(filters),
  ];
  const path = `/v1/trends?${parameters.join("&")}`;
  return {
    path,
    spec,
    execute: (peer) => executeTrend(spec, peer),
    compare: (ours, theirs, { name }) => {
      assertSameAnswer(path, seriesOf(ours), name, seriesOf(theirs));
      return 0;
    },
    matchCount: (body) =>
      listAt(body, "data")
        .flatMap((series) => listAt(series, "points"))
        .reduce((sum: number, point) => sum + Number(at(point, "metrics", 0, "sample")), 0),
  };
}

/** Returns the values of all series. Percentiles are rounded to nine digits. */
const seriesOf = (body: unknown) =>
  listAt(body, "data").map((series) => ({
    value: at(series, "value"),
    points: listAt(series, "points").map((point) => ({
      ...{ start: at(point, "start"), end: at(point, "end") },
      metrics: listAt(point, "metrics").map((metric) => ({
        ...{ name: at(metric, "name"), sample: at(metric, "sample"), value: nineDigits(at(metric, "value")) },
      })),
    })),
  }));

const nineDigits = (value: unknown): unknown => (typeof value === "number" ? Number(value.toPrecision(9)) : value);

/** The rows of one series: levels by day, and numbers of events by kind and day. */
interface SeriesRows {
  readonly value: string | null;
  readonly levels: ReadonlyMap<string, Row>;
  readonly events: Readonly<Record<EventName, ReadonlyMap<string, number>>>;
}

type EventName = "price_drops" | "sold";

async function executeTrend(spec: TrendSpec, peer: SqlPeer): Promise<object> {
  const intervals = [...intervalsOf(spec.period, spec.interval)];
  const levels = await peer.rows(levelStatement(spec, intervals, peer));
  const isRequested = (kind: BenchTrendMetric["kind"]): boolean => spec.metrics.some((metric) => metric.kind === kind);
  const eventRows = async (event: EventName, start: string): Promise<readonly Row[]> =>
    peer.rows(eventStatement(spec, event, { start, end: spec.period.end }));
  const drops = isRequested("price_drops") ? await eventRows("price_drops", spec.period.start) : [];
  const sold = isRequested("days_supply") ? await eventRows("sold", firstSaleDay(spec.period.start)) : [];
  const series = valuesOf(spec, levels).map((value): SeriesRows => {
    const ofValue = (rows: readonly Row[]) => rows.filter((row) => value === null || row.value === value);
    const counts = (rows: readonly Row[]) =>
      new Map(ofValue(rows).map((row) => [String(row.day), Number(row.events)] as const));
    return {
      value,
      levels: new Map(ofValue(levels).map((row) => [String(row.day), row])),
      events: { price_drops: counts(drops), sold: counts(sold) },
    };
  });
  return {
    data: series.map((rows) => ({
      value: rows.value,
      points: intervals.map((range) => ({
        ...range,
        metrics: spec.metrics.map((metric, index) => ({
          name: metric.name,
          ...metricOfPoint(metric, rows, range, { firstDay: spec.firstDay, index }),
        })),
      })),
    })),
  };
}

/** Returns the first of the days whose sales are the denominator of the days of supply of a day. */
const firstSaleDay = (day: string): string => plusDays(day, 1 - bounds.supplyDays);

const condition = ({ filters, facet }: TrendSpec): string =>
  [
    ...filters.map(({ column, value }) => `${column} = ${quoteString(value)}`),
    ...(facet === undefined ? [] : [`${facet} IS NOT NULL`]),
  ]
    .map((predicate) => ` AND ${predicate}`)
    .join("");

const columnsOf = ({ facet }: TrendSpec): string => (facet === undefined ? "day" : `day, ${facet}`);
const selectedColumns = ({ facet }: TrendSpec): string => (facet === undefined ? "day" : `day, ${facet} AS value`);

function levelStatement(spec: TrendSpec, intervals: readonly DayRange[], { dialect }: SqlPeer): string {
  const statistics = spec.metrics.flatMap((metric, index) =>
    metric.kind === "percentile"
      ? [`, ${dialect.percentile("price", metric.fraction)} AS metric_${index}, count(price) AS sample_${index}`]
      : [],
  );
  const days = intervals.map(({ end }) => quoteString(end)).join(", ");
  return `
    SELECT ${selectedColumns(spec)}, count(*) AS listings${statistics.join("")} FROM history
    WHERE day IN (${days})${condition(spec)} GROUP BY ${columnsOf(spec)}`;
}

const eventStatement = (spec: TrendSpec, event: EventName, { start, end }: DayRange): string => `
  SELECT ${selectedColumns(spec)}, count(*) AS events FROM events
  WHERE event = '${event}' AND day BETWEEN '${start}' AND '${end}'${condition(spec)} GROUP BY ${columnsOf(spec)}`;

/** Returns the values of the facet with the most listings over all days; null without a facet. */
function valuesOf({ facet }: TrendSpec, levels: readonly Row[]): readonly (string | null)[] {
  if (facet === undefined) return [null];
  const totals = new Map<string, number>();
  for (const { value, listings } of levels)
    totals.set(String(value), (totals.get(String(value)) ?? 0) + Number(listings));
  return [...totals]
    .sort(([a, aTotal], [b, bTotal]) => bTotal - aTotal || (a < b ? -1 : 1))
    .slice(0, seriesMax)
    .map(([value]) => value);
}

/** Returns the value and the sample of a metric in an interval. */
function metricOfPoint(
  metric: BenchTrendMetric,
  { levels, events }: SeriesRows,
  { start, end }: DayRange,
  { firstDay, index }: { readonly firstDay: string; readonly index: number },
): { readonly value: number | null; readonly sample: number } {
  const level = levels.get(end);
  const listings = Number(level?.listings ?? 0);
  if (metric.kind === "count") return { value: listings, sample: listings };
  if (metric.kind === "price_drops") {
    const drops = sumOf(events.price_drops, { start, end });
    return { value: drops, sample: drops };
  }
  if (metric.kind === "days_supply") {
    if (firstSaleDay(end) < firstDay) return { value: null, sample: 0 };
    const sales = sumOf(events.sold, { start: firstSaleDay(end), end });
    const isKnown = listings >= bounds.metricListingsMin && sales > 0;
    return { value: isKnown ? Math.round((100 * listings * bounds.supplyDays) / sales) / 100 : null, sample: sales };
  }
  const sample = Number(level?.[`sample_${index}`] ?? 0);
  const isKnown = listings >= bounds.metricListingsMin && sample > 0;
  return { value: isKnown ? Number(level?.[`metric_${index}`]) : null, sample };
}

const sumOf = (counts: ReadonlyMap<string, number>, { start, end }: DayRange): number =>
  [...counts].reduce((sum, [day, count]) => (day >= start && day <= end ? sum + count : sum), 0);
