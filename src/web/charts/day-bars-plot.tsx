/** Stacked bars, one for each day of a range. */
import type { JSX } from "preact";
import { dayAxis, percentText, roundAxis, timeOfDay } from "./axis.ts";
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

export const DayBarsPlot = ({ title, bars, format }: DayBarsPlotProps): JSX.Element => {
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const max = Math.max(...sums, 1);
  const y = roundAxis([0, max], format, 4);
  const [first, last] = [bars[0]?.day ?? "", bars.at(-1)?.day ?? ""];
  const width = 100 / bars.length;
  const days = dayAxis(first, last);
  // Bars are centered on their days, so that half a bar is left at either end of the axis.
  const inset = (percent: number): number => width / 2 + (percent * (100 - width)) / 100;
  const x = {
    at: (time: number) => inset(days.at(time)),
    ticks: days.ticks.map(({ at, text }) => ({ at: inset(at), text })),
  };
  return (
    <PlotArea label={`${title}: at most ${format(Math.max(...sums, 0))} a day`} x={x} y={y}>
      {bars.map(({ day, values }, index) => (
        <g key={day}>
          <title>{`${day}: ${format(sums[index] ?? 0)}`}</title>
          {values.map((value, series) => {
            const top = values.slice(0, series + 1).reduce((sum, part) => sum + part, 0);
            return (
              <rect
                key={series}
                class={`bar series-${series + 1}`}
                x={percentText(x.at(timeOfDay(day)) - width * 0.42)}
                width={percentText(width * 0.84)}
                y={percentText(100 - y.at(top))}
                height={percentText(y.at(value))}
              />
            );
          })}
        </g>
      ))}
    </PlotArea>
  );
};
