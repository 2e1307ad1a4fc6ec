/** Histograms with common axes. A single one shows counts; several show shares, because their totals differ. */
import type { JSX } from "preact";
import { count } from "../shell/format.ts";
import { type Axis, percentText, roundAxis } from "./axis.ts";
import { Panels, PlotArea } from "./plot-area.tsx";

interface HistogramRange {
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

/** Ranges of a number, as the API counts them: of equal width, except those at the ends. */
export interface Histogram {
  readonly name: string;
  readonly buckets: readonly HistogramRange[];
  /** The width of the regular ranges. */
  readonly interval: number;
}

interface HistogramPanelsProps {
  readonly title: string;
  readonly histograms: readonly Histogram[];
  readonly format: (value: number) => string;
  readonly tickFormat: (value: number) => string;
  /** The value whose bar is emphasized. */
  readonly marked?: number | null;
}

export const HistogramPanels = (props: HistogramPanelsProps): JSX.Element => {
  const { title, histograms, format, tickFormat, marked = null } = props;
  const isShare = histograms.length > 1;
  const size = (range: HistogramRange, histogram: Histogram): number =>
    isShare ? (100 * range.count) / totalOf(histogram) : range.count;
  const max = Math.max(...histograms.flatMap((one) => one.buckets.map((range) => size(range, one))), 1);
  const y = roundAxis([0, max], (value) => (isShare ? `${value}%` : count(value)), 4);
  const x = rangeAxis(histograms, tickFormat);
  const classOf = (range: HistogramRange, histogram: Histogram): string => {
    if (marked === null) return isRegular(range, histogram) ? "bar" : "bar faint";
    return marked >= range.min && marked < range.max ? "bar" : "bar faint";
  };
  const panelOf = (histogram: Histogram): readonly [string, JSX.Element] => [
    histogram.name,
    <PlotArea key={histogram.name} label={`${title}: ${summaryOf(histogram, format)}`} x={x.axis} y={y}>
      {histogram.buckets.map((range) => {
        const [start, width] = [x.startOf(range, histogram), x.width];
        const top = y.at(size(range, histogram));
        return (
          <rect
            key={range.min}
            class={classOf(range, histogram)}
            x={percentText(start + width * 0.04)}
            width={percentText(width * 0.92)}
            y={percentText(100 - top)}
            height={percentText(top)}
          >
            <title>{`${rangeText(range, format)}: ${count(range.count)}`}</title>
          </rect>
        );
      })}
    </PlotArea>,
  ];
  return <Panels panels={histograms.map(panelOf)} />;
};

const totalOf = ({ buckets }: Histogram): number => Math.max(1, sumOf(buckets));
const sumOf = (buckets: readonly HistogramRange[]): number => buckets.reduce((sum, range) => sum + range.count, 0);

const isRegular = ({ min, max }: HistogramRange, { interval }: Histogram): boolean => max - min === interval;

/** Formats a range, `min <= value < max`, of whole numbers. */
export const rangeText = ({ min, max }: Omit<HistogramRange, "count">, format: (value: number) => string): string =>
  max - min === 1 ? format(min) : `${format(min)} to ${format(max - 1)}`;

function summaryOf({ buckets }: Histogram, format: (value: number) => string): string {
  const [fullest] = [...buckets].sort((one, other) => other.count - one.count);
  return fullest === undefined ? "no listings" : `most listings from ${rangeText(fullest, format)}`;
}

interface RangeAxis {
  readonly axis: Axis;
  /** The width of a bar, in percent. */
  readonly width: number;
  /** Returns where the bar of a range begins, in percent. Those at the ends are as wide as the others. */
  startOf(range: HistogramRange, histogram: Histogram): number;
}

/** Returns the axis of histograms with one interval. Only the regular ranges have ticks, because only they are drawn to scale. */
function rangeAxis(histograms: readonly Histogram[], format: (value: number) => string): RangeAxis {
  const interval = histograms[0]?.interval ?? 1;
  const starts = histograms.flatMap((one) => one.buckets.map((range) => startSlot(range, one)));
  const [first, last] = [Math.min(...starts), Math.max(...starts) + 1];
  const at = (slot: number): number => (100 * (slot - first)) / (last - first);
  const regular = histograms.flatMap((one) => one.buckets.filter((range) => isRegular(range, one)));
  const [min, max] = [Math.min(...regular.map((range) => range.min)), Math.max(...regular.map((range) => range.max))];
  const values = regular.length === 0 ? [] : tickValues(min, max);
  return {
    axis: {
      at: (value) => at(value / interval),
      ticks: values.map((value) => ({ at: at(value / interval), text: format(value) })),
    },
    width: 100 / (last - first),
    startOf: (range, histogram) => at(startSlot(range, histogram)),
  };
}

/** Returns the slot of a range: one for each regular range, and one at either end. */
function startSlot(range: HistogramRange, histogram: Histogram): number {
  const { buckets, interval } = histogram;
  const regular = buckets.filter((one) => isRegular(one, histogram));
  const [first, last] = [regular[0], regular.at(-1)];
  if (first === undefined || last === undefined) return buckets.indexOf(range);
  if (range.min < first.min) return first.min / interval - 1;
  return (range.min > last.min ? last.max : range.min) / interval;
}

/** Returns round values within two ends. */
function tickValues(min: number, max: number): readonly number[] {
  const { ticks, at } = roundAxis([min, max], String, 4);
  const [from, to] = [at(min), at(max)];
  return ticks.filter((tick) => tick.at >= from - 1e-6 && tick.at <= to + 1e-6).map(({ text }) => Number(text));
}
