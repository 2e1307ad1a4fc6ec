/** Stacked bars, one for each day of a range. */
import type { JSX } from "preact";
import { type Axis, barAt, dayAxis, roundAxis, timeOfDay } from "./axis.ts";
import { PlotArea } from "./plot-area.tsx";

/** One day: the value of each series, the lowest first. */
export interface DayBar {
  readonly day: string;
  readonly values: readonly number[];
}

interface DayBarsPlotProps {
  readonly title: string;
  /** In the order of their days, without gaps. */
  readonly bars: readonly DayBar[];
  readonly format: (value: number) => string;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

export const DayBarsPlot = ({ title, bars, format }: DayBarsPlotProps): JSX.Element => {
  const max = Math.max(0, ...bars.map(({ values }) => sumOf(values)));
  const y = roundAxis([0, Math.max(max, 1)], format);
  const days = dayAxis(bars.map(({ day }) => day));
  const width = 100 / bars.length;
  // Bars are centered on their days, so that half a bar is left at either end of the axis.
  const inset = (percent: number): number => width / 2 + (percent * (100 - width)) / 100;
  const x: Axis = {
    at: (time) => inset(days.at(time)),
    ticks: days.ticks.map(({ at, text }) => ({ at: inset(at), text })),
  };
  return (
    <PlotArea label={`${title}: at most ${format(max)} a day`} x={x} y={y}>
      {bars.map(({ day, values }) => (
        <g key={day}>
          <title>{`${day}: ${format(sumOf(values))}`}</title>
          {values.map((value, series) => (
            <rect
              key={series}
              class={`bar series-${series + 1}`}
              {...barAt(
                x.at(timeOfDay(day)) - width * 0.42,
                width * 0.84,
                y.at(sumOf(values.slice(0, series + 1))),
                y.at(value),
              )}
            />
          ))}
        </g>
      ))}
    </PlotArea>
  );
};
