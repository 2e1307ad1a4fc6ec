/**
 * Trend queries: levels of the last day of each interval, and flows of its days. For each facet, a peer executes one statement for all levels
 * (see `trend-levels.ts`) and one for each kind of event, by day; the days are added up to intervals here.
 */
import type { Row } from "../../src/base/json.ts";
import { daysSupplyOf, metricListingsMin, supplyWindowStart } from "../../src/listing/aggregates.ts";
import { type DayRange, intervalsOf, trendValuesMax } from "../../src/query/trends/trends.ts";
import { assertSameAnswer } from "../measure/assert-same-answer.ts";
import type { SqlPeer } from "../peers/peer.ts";
import { filterParameters } from "./filter.ts";
import { at, type BenchQuery, type BenchTrendMetric, listAt, type TrendFacet, type TrendSpec } from "./query.ts";
import { queryLevels, trendCondition } from "./trend-levels.ts";

/** Returns the most series of a facet that Carquet accepts. */
function seriesMax({ metrics, interval, period, facets = [] }: Omit<TrendSpec, "kind">): number {
  const intervals = [...intervalsOf(period, interval)].length;
  const values = intervals * metrics.length * Math.max(1, facets.length);
  return Math.min(50, Math.floor(trendValuesMax / values));
}

export function trendQuery(options: Omit<TrendSpec, "kind">): BenchQuery {
  const spec: TrendSpec = { kind: "trends", ...options };
  const { metrics, interval, period, filters, facets = [] } = spec;
  const parameters = [
    `metric=${metrics.map(({ name }) => name).join(",")}`,
    ...[`interval=${interval}`, `from=${period.start}`, `to=${period.end}`],
    ...(facets.length === 0 ? [] : [`facet=${facets.join(",")}`, `facet_limit=${seriesMax(spec)}`]),
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
    facet: at(series, "facet"),
    value: at(series, "value"),
    points: listAt(series, "points").map((point) => ({
      start: at(point, "start"),
      end: at(point, "end"),
      metrics: listAt(point, "metrics").map((metric) => ({
        name: at(metric, "name"),
        sample: at(metric, "sample"),
        value: nineDigits(at(metric, "value")),
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
  const facets: readonly (TrendFacet | undefined)[] = spec.facets ?? [undefined];
  const series = await Promise.all(facets.map((facet) => executeFacet(spec, facet, peer)));
  return { data: series.flat() };
}

async function executeFacet(spec: TrendSpec, facet: TrendFacet | undefined, peer: SqlPeer): Promise<readonly object[]> {
  const { metrics, filters } = spec;
  const intervals = [...intervalsOf(spec.period, spec.interval)];
  const levels = await queryLevels({ metrics, filters, facet, days: intervals.map(({ end }) => end) }, peer);
  const isRequested = (kind: BenchTrendMetric["kind"]): boolean => spec.metrics.some((metric) => metric.kind === kind);
  const eventRows = async (event: EventName, start: string): Promise<readonly Row[]> =>
    peer.rows(eventStatement(spec, { event, facet }, { start, end: spec.period.end }));
  const drops = isRequested("price_drops") ? await eventRows("price_drops", spec.period.start) : [];
  const sold = isRequested("days_supply") ? await eventRows("sold", supplyWindowStart(spec.period.start)) : [];
  const series = valuesOf(spec, facet, levels).map((value): SeriesRows => {
    const ofValue = (rows: readonly Row[]) => rows.filter((row) => value === null || row.value === value);
    const counts = (rows: readonly Row[]) =>
      new Map(ofValue(rows).map((row) => [String(row.day), Number(row.events)] as const));
    return {
      value,
      levels: new Map(ofValue(levels).map((row) => [String(row.day), row])),
      events: { price_drops: counts(drops), sold: counts(sold) },
    };
  });
  return series.map((rows) => ({
    facet: facet ?? null,
    value: rows.value,
    points: intervals.map((range) => ({
      ...range,
      metrics: metrics.map((metric, index) => ({
        name: metric.name,
        ...metricOfPoint(metric, rows, range, { firstDay: spec.firstDay, index }),
      })),
    })),
  }));
}

function eventStatement(
  { filters }: TrendSpec,
  { event, facet }: { readonly event: EventName; readonly facet: TrendFacet | undefined },
  { start, end }: DayRange,
): string {
  const [value, column] = facet === undefined ? ["", ""] : [`, ${facet} AS value`, `, ${facet}`];
  return `
    SELECT day${value}, count(*) AS events FROM events
    WHERE event = '${event}' AND day BETWEEN '${start}' AND '${end}'${trendCondition(filters, facet)} GROUP BY day${column}`;
}

/** Returns the values of the facet with the most listings over all days; null without a facet. */
function valuesOf(spec: TrendSpec, facet: TrendFacet | undefined, levels: readonly Row[]): readonly (string | null)[] {
  if (facet === undefined) return [null];
  const totals = new Map<string, number>();
  for (const { value, listings } of levels)
    totals.set(String(value), (totals.get(String(value)) ?? 0) + Number(listings));
  return [...totals]
    .sort(([a, aTotal], [b, bTotal]) => bTotal - aTotal || (a < b ? -1 : 1))
    .slice(0, seriesMax(spec))
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
    if (supplyWindowStart(end) < firstDay) return { value: null, sample: 0 };
    const sales = sumOf(events.sold, { start: supplyWindowStart(end), end });
    const isKnown = listings >= metricListingsMin && sales > 0;
    return { value: isKnown ? daysSupplyOf(listings, sales) : null, sample: sales };
  }
  const sample = Number(level?.[`sample_${index}`] ?? 0);
  const isKnown = sample >= metricListingsMin;
  return { value: isKnown ? Number(level?.[`metric_${index}`]) : null, sample };
}

const sumOf = (counts: ReadonlyMap<string, number>, { start, end }: DayRange): number =>
  [...counts].reduce((sum, [day, count]) => (day >= start && day <= end ? sum + count : sum), 0);
