/** Axes of charts: where values lie, in percent of the plot, and the ticks. */
import { scaleLinear, scaleUtc } from "d3-scale";

/** A mark of an axis, in percent of its length. */
interface Tick {
  readonly at: number;
  readonly text: string;
}

export interface Axis {
  /** Returns where a value lies, in percent of the length. */
  at(value: number): number;
  readonly ticks: readonly Tick[];
}

type Extent = readonly [min: number, max: number];

/** Returns an axis over an extent that is widened to round numbers, with whole numbers as ticks; `ticksMax` is approximate. */
export function roundAxis([min, max]: Extent, format: (value: number) => string, ticksMax = 4): Axis {
  const scale = scaleLinear([min, max > min ? max : min + 1], [0, 100]).nice(ticksMax);
  const values = scale.ticks(ticksMax).filter(Number.isInteger);
  return { at: (value) => scale(value), ticks: values.map((value) => ({ at: scale(value), text: format(value) })) };
}

/** Returns about four round whole numbers within an extent. */
export const roundValues = (extent: Extent): readonly number[] =>
  scaleLinear().domain(extent).ticks(4).filter(Number.isInteger);

/** Returns the extent of values, of at least 5 % of the greatest, so that noise is not drawn large. */
export function steadyExtent(values: readonly number[]): Extent {
  if (values.length === 0) return [0, 1];
  const min = Math.min(...values);
  const max = Math.max(...values);
  const margin = Math.max(0, (Math.abs(max) * 0.05 - (max - min)) / 2);
  return [min - margin, max + margin];
}

/** Returns an axis over days, `YYYY-MM-DD` in any order, as times in milliseconds. */
export function dayAxis(days: readonly string[], ticksMax = 4): Axis {
  const times = days.map(timeOfDay);
  const start = Math.min(...times);
  const end = Math.max(...times);
  const scale = scaleUtc([start, Math.max(end, start + 1)], [0, 100]);
  const format = end - start > longMs ? monthText : dayText;
  const ticks = start === end ? [new Date(start)] : scale.ticks(ticksMax).filter((time) => time.getUTCHours() === 0);
  return { at: (time) => scale(time), ticks: ticks.map((time) => ({ at: scale(time), text: format.format(time) })) };
}

export const millisecondsPerDay = 24 * 60 * 60 * 1000;
const longMs = 300 * millisecondsPerDay;
const dayText = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "short", day: "numeric" });
const monthText = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "short", year: "numeric" });

/** Returns the time at which a day, `YYYY-MM-DD`, begins. */
export const timeOfDay = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** Rounds a position in a drawing. */
export const rounded = (at: number): number => Math.round(at * 100) / 100;

export const percentText = (at: number): string => `${rounded(at)}%`;

/** Returns where a circle or text lies, in percent from the left and from the base. */
export const circleAt = (left: number, height: number) => ({ cx: percentText(left), cy: percentText(100 - height) });

/** Returns the box of a bar, in percent: from the left, and from its top down, by default to the base. */
export const barAt = (left: number, width: number, top: number, height = top) => ({
  x: percentText(left),
  y: percentText(100 - top),
  width: percentText(width),
  height: percentText(height),
});
