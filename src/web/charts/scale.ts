/** Scales of charts: where values lie in pixels, and their ticks. A chart is drawn at two widths, so that a scale learns its length last. */
import { scaleLinear, scaleUtc } from "d3-scale";

/** A mark of a scale: a value, and its words. */
export interface ScaleTick {
  readonly value: number;
  readonly text: string;
  /** A second line below the words, such as the money of a bar; and whether it is about the subject. */
  readonly below?: string;
  readonly isSubject?: boolean;
}

export interface Scale {
  /** Returns where a value lies, as a part of the length from 0 to 1. */
  readonly at: (value: number) => number;
  /** Returns about as many ticks as fit. */
  readonly ticks: (max: number) => readonly ScaleTick[];
  /** The part of the length that one of a number of bars takes; undefined for other scales. */
  readonly band?: number;
  /** What the scale measures, such as "typical days on the lot". */
  readonly label?: string | undefined;
}

interface NumberOptions {
  readonly format: (value: number) => string;
  /** Whether the scale begins at zero, as that of bars does. Others may leave zero. */
  readonly isFromZero?: boolean;
  readonly label?: string;
}

/** Returns a scale of numbers that is widened to round ones. */
export function numberScale(values: readonly number[], options: NumberOptions): Scale {
  const { format, isFromZero = false, label } = options;
  const known = values.length === 0 ? [0, 1] : values;
  const [min, max] = [Math.min(...known), Math.max(...known)];
  const first = isFromZero ? Math.min(0, min) : min;
  const isWhole = known.every(Number.isInteger);
  // Noise is not drawn large: a scale spans at least 2 % of its greatest value, and four whole numbers unless it begins at zero.
  const span = Math.max(Math.abs(max) * 0.02, isWhole && !isFromZero ? 4 : 0);
  const margin = Math.max(0, (span - (max - first)) / 2);
  const low = first - (isFromZero ? 0 : margin);
  // Counts are not below zero, and neither is their axis.
  const below = first >= 0 ? Math.max(0, -low) : 0;
  const scale = scaleLinear([low + below, Math.max(max + margin + below, first + 1e-9)], [0, 1]).nice(5);
  return {
    at: (value) => scale(value),
    ticks: (max) =>
      roundValues(scale, max)
        .filter((value) => !isWhole || Number.isInteger(value))
        .map((value) => ({ value, text: format(value) })),
    label,
  };
}

/** Returns the most round values of a scale up to a number of them. */
function roundValues(scale: ReturnType<typeof scaleLinear>, max: number): readonly number[] {
  const counts = Array.from({ length: max }, (_, index) => max - index);
  return counts.map((count) => scale.ticks(count)).find((values) => values.length <= max + 1) ?? scale.domain();
}

const dayMs = 86_400_000;
/** Longer ranges of days have months as ticks. */
const longMs = 200 * dayMs;
const dayText = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "short", day: "numeric" });
const monthText = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "short", year: "numeric" });

/** Returns the value of a day, `YYYY-MM-DD`, on a scale of days. */
export const valueOfDay = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** Returns a scale of days, `YYYY-MM-DD` in any order. Its ticks begin with the first day and end with the last. */
export function dayScale(days: readonly string[]): Scale {
  const times = days.map(valueOfDay);
  const [start, end] = [Math.min(...times), Math.max(...times)];
  const scale = scaleUtc([start, Math.max(end, start + dayMs)], [0, 1]);
  const format = end - start > longMs ? monthText : dayText;
  return {
    at: (value) => scale(value),
    ticks: (count) => {
      const parts = Math.max(1, Math.min(count - 1, Math.round((end - start) / dayMs)));
      const values = Array.from({ length: parts + 1 }, (_, index) => start + (index * (end - start)) / parts);
      const whole = values.map((value) => Math.round(value / dayMs) * dayMs);
      return [...new Set(whole)].map((value) => ({ value, text: format.format(value) }));
    },
  };
}

/** Returns a scale of bars, one for each name, whose values are their positions from 0. */
export function bandScale(bars: readonly Omit<ScaleTick, "value">[]): Scale {
  const band = 1 / Math.max(1, bars.length);
  return {
    at: (value) => (value + 0.5) * band,
    ticks: () => bars.map((bar, value) => ({ ...bar, value })),
    band,
  };
}
