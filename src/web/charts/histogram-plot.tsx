/**
 * Histograms in one plot: the first as bars, a second as a step line over them. A single one shows counts; two show shares, because their totals
 * differ. Each bar is a link, and a browser module selects ranges of bars (`client/brushes.ts`).
 */
import type { JSX } from "preact";
import { count } from "../shell/format.ts";
import { type Axis, barAt, roundAxis, rounded, roundValues } from "./axis.ts";
import { Lines } from "./lines.tsx";
import { PlotArea, ValueText } from "./plot-area.tsx";

interface Range {
  readonly min: number;
  readonly max: number;
}

interface CountedRange extends Range {
  readonly count: number;
}

/** Ranges of a number, as the API counts them: of equal width, except those at the ends. */
interface Histogram {
  readonly name: string;
  readonly buckets: readonly CountedRange[];
  /** The width of the regular ranges. */
  readonly interval: number;
}

interface HistogramPlotProps {
  readonly title: string;
  readonly histograms: readonly Histogram[];
  readonly format: (value: number) => string;
  readonly tickFormat: (value: number) => string;
  /** Returns the path of the view with the listings of a range. */
  readonly pathOf: (range: Range) => string;
  /** The parameters of that path with the bounds of the range. */
  readonly boundNames: readonly [min: string, max: string];
}

/** The bars of one range. */
interface Slot extends Range {
  /** The listings of each histogram in the range. */
  readonly counts: readonly number[];
  /** Whether it counts everything beyond the regular ranges. */
  readonly isEnd: boolean;
  /** Whether a count includes listings beyond the range, which is regular in another histogram only. */
  readonly isRough: boolean;
}

export const HistogramPlot = (props: HistogramPlotProps): JSX.Element => {
  const { title, histograms, format, tickFormat, boundNames } = props;
  const isShare = histograms.length > 1;
  const { slots, x } = slotsOf(histograms, tickFormat);
  const totals = histograms.map(({ buckets }) => buckets.reduce((sum, one) => sum + one.count, 0) || 1);
  const sizesOf = ({ counts }: Slot): readonly number[] =>
    isShare ? counts.map((listings, index) => (100 * listings) / (totals[index] ?? 1)) : counts;
  const sizeText = (value: number): string => (isShare ? `${value}%` : count(value));
  const y = roundAxis([0, Math.max(1, ...slots.flatMap(sizesOf))], sizeText);
  const tops = slots.map((slot) => sizesOf(slot).map((size) => y.at(size)));
  const summary = histograms.map((one) => `${one.name} ${summaryOf(one, format)}`.trim()).join("; ");
  const width = 100 / slots.length;
  const steps = tops.map(([, top = 0], index) => `V${rounded(100 - top)}H${rounded((index + 1) * width)}`);
  return (
    <PlotArea
      label={`${title}: ${summary}`}
      x={x}
      y={y}
      interaction={{ "data-brush": boundNames.join(), "data-totals": totals.join() }}
    >
      {slots.map((slot, index) => (
        <SlotBar
          key={slot.min}
          {...props}
          slot={slot}
          start={index * width}
          width={width}
          top={tops[index]?.[0] ?? 0}
        />
      ))}
      {isShare ? <Lines paths={[["series-2", `M0,100${steps.join("")}V100`]]} /> : null}
      <Handles title={title} slots={slots} format={format} />
    </PlotArea>
  );
};

interface SlotBarProps extends Pick<HistogramPlotProps, "format" | "pathOf"> {
  readonly slot: Slot;
  /** The position of the slot and the height of its bar, in percent. */
  readonly start: number;
  readonly width: number;
  readonly top: number;
}

const SlotBar = ({ slot, start, width, top, format, pathOf }: SlotBarProps): JSX.Element => {
  const text = `${rangeText(slot, format)}: ${slot.counts.map((listings) => count(listings)).join(" and ")}`;
  return (
    <a
      class="slot"
      href={pathOf(slot)}
      aria-label={text}
      data-texts={`${format(slot.min)} to ${format(slot.max - 1)}`}
      data-counts={slot.counts.join()}
      data-rough={slot.isRough ? "" : undefined}
    >
      <rect class="hit" {...barAt(start, width, 100)} />
      <rect class={slot.isEnd ? "bar faint" : "bar"} {...barAt(start + width * 0.04, width * 0.92, top)} />
      <ValueText text={text} at={[start + width / 2, top]} />
    </a>
  );
};

interface HandlesProps extends Pick<HistogramPlotProps, "title" | "format"> {
  readonly slots: readonly Slot[];
}

/** The selected range, all at first, and its two ends, which move by bars. */
const Handles = ({ title, slots, format }: HandlesProps): JSX.Element => {
  const ends = [
    ["Lowest", "0%", 0, slots[0]?.min ?? 0],
    ["Highest", "100%", slots.length, (slots.at(-1)?.max ?? 1) - 1],
  ] as const;
  return (
    <g class="brush js-only">
      <rect class="selected" x="0%" width="0%" height="100%" />
      {ends.map(([name, x, at, value]) => (
        <g
          key={name}
          class="handle"
          role="slider"
          tabIndex={0}
          aria-label={`${name}: ${title}`}
          aria-valuemin={0}
          aria-valuemax={slots.length}
          aria-valuenow={at}
          aria-valuetext={format(value)}
        >
          <line x1={x} x2={x} y1="0%" y2="100%" />
          <rect x={x} y="50%" width="10" height="24" rx="3" transform="translate(-5 -12)" />
        </g>
      ))}
    </g>
  );
};

const isRegular = ({ min, max }: Range, { interval }: Histogram): boolean => max - min === interval;

/** Formats a range, `min <= value < max`, of whole numbers. */
const rangeText = ({ min, max }: Range, format: (value: number) => string): string =>
  max - min === 1 ? format(min) : `${format(min)} to ${format(max - 1)}`;

function summaryOf({ buckets }: Histogram, format: (value: number) => string): string {
  const [fullest] = [...buckets].sort((one, other) => other.count - one.count);
  return fullest === undefined ? "no listings" : `most listings from ${rangeText(fullest, format)}`;
}

/** Returns the slots of histograms with one interval, and their axis. Only the regular ranges have ticks, because only they are drawn to scale. */
function slotsOf(histograms: readonly Histogram[], format: (value: number) => string) {
  const interval = histograms[0]?.interval ?? 1;
  const bySlot = histograms.map(
    (one) => new Map(one.buckets.map((range) => [startSlot(range, one), { ...range, isEnd: !isRegular(range, one) }])),
  );
  const starts = bySlot.flatMap((one) => [...one.keys()]);
  const first = Math.min(...starts);
  const last = Math.max(...starts) + 1;
  const slots = Array.from({ length: last - first }, (_, index): Slot => {
    const found = bySlot.map((one) => one.get(first + index));
    const range = found.find((one) => one?.isEnd === false) ?? found.find((one) => one !== undefined);
    const { min, max, isEnd } = range ?? {
      min: (first + index) * interval,
      max: (first + index + 1) * interval,
      isEnd: false,
    };
    const isRough = !isEnd && found.some((one) => one?.isEnd === true);
    return { min, max, isEnd, isRough, counts: found.map((one) => one?.count ?? 0) };
  });
  const at = (value: number): number => (100 * (value / interval - first)) / (last - first);
  const regular = slots.filter(({ isEnd }) => !isEnd);
  const values = regular.length === 0 ? [] : roundValues([regular[0]?.min ?? 0, regular.at(-1)?.max ?? 1]);
  const x: Axis = { at, ticks: values.map((value) => ({ at: at(value), text: format(value) })) };
  return { slots, x };
}

/** Returns the slot of a range: one for each regular range, and one at either end. */
function startSlot(range: CountedRange, histogram: Histogram): number {
  const { buckets, interval } = histogram;
  const regular = buckets.filter((one) => isRegular(one, histogram));
  const first = regular[0];
  const last = regular.at(-1);
  if (first === undefined || last === undefined) return buckets.indexOf(range);
  if (range.min < first.min) return first.min / interval - 1;
  return (range.min > last.min ? last.max : range.min) / interval;
}
