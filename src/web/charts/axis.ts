/** Axes of charts: where values lie, in percent of the plot, and the ticks. */
import { scaleLinear, scaleUtc } from "d3-scale";

/** A mark of an axis, in percent of its length. */
export interface Tick {
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
export function roundAxis([min, max]: Extent, format: (value: number) => string, ticksMax = 5): Axis {
  const scale = scaleLinear([min, max > min ? max : min + 1], [0, 100]).nice(ticksMax);
  const values = scale.ticks(ticksMax).filter(Number.isInteger);
  return { at: (value) => scale(value), ticks: values.map((value) => ({ at: scale(value), text: format(value) })) };
}

/** Returns an axis over days, `YYYY-MM-DD`, as times in milliseconds. */
export function dayAxis(first: string, last: string, ticksMax = 4): Axis {
  const [start, end] = [timeOfDay(first), timeOfDay(last)];
  const scale = scaleUtc([start, Math.max(end, start + 1)], [0, 100]);
  const isLong = end - start > longMs;
  const format = isLong ? monthText : dayText;
  const ticks = start === end ? [new Date(start)] : scale.ticks(ticksMax).filter((time) => time.getUTCHours() === 0);
  return { at: (time) => scale(time), ticks: ticks.map((time) => ({ at: scale(time), text: format.format(time) })) };
}

const longMs = 300 * 24 * 60 * 60 * 1000;
const dayText = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "short", day: "numeric" });
const monthText = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "short", year: "numeric" });

/** Returns the time at which a day, `YYYY-MM-DD`, begins. */
export const timeOfDay = (day: string): number => Date.parse(`${day}T00:00:00Z`);

export const percentText = (at: number): string => `${Math.round(at * 100) / 100}%`;
