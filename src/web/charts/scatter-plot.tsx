/** Scatter plots of one or two samples in common axes, which end where all but a few points lie: single ones far away would leave no room for the others. */
import type { JSX } from "preact";
import { type Axis, circleAt, roundAxis } from "./axis.ts";
import { PlotArea } from "./plot-area.tsx";

interface ScatterPoint {
  readonly x: number;
  readonly y: number;
  readonly title: string;
}

interface ScatterPlotProps {
  readonly title: string;
  readonly scatters: readonly (readonly ScatterPoint[])[];
  readonly xFormat: (value: number) => string;
  readonly yFormat: (value: number) => string;
}

export const ScatterPlot = ({ title, scatters, xFormat, yFormat }: ScatterPlotProps): JSX.Element => {
  const points = scatters.flatMap((own, index) => own.map((point) => ({ ...point, series: index + 1 })));
  const xValues = points.map(({ x }) => x);
  const yValues = points.map(({ y }) => y);
  const x = axisOver(xValues, xFormat);
  const y = axisOver(yValues, yFormat);
  const within = points.filter((point) => x.at(point.x) <= 100 && y.at(point.y) <= 100);
  const beyond = points.length - within.length;
  return (
    <>
      <PlotArea label={`${title}: ${points.length} listings; the table has the numbers`} x={x} y={y}>
        {within.map((point, index) => (
          <circle key={index} class={`dot series-${point.series}`} {...circleAt(x.at(point.x), y.at(point.y))} r="3">
            <title>{point.title}</title>
          </circle>
        ))}
      </PlotArea>
      {beyond === 0 ? null : <p class="sub">{`${beyond} beyond the axes; the table has all.`}</p>}
    </>
  );
};

/** Points beyond the 99th percentile are drawn if the greatest value is at most this many times as large. */
const reachMax = 1.5;

function axisOver(values: readonly number[], format: (value: number) => string): Axis {
  const sorted = [...values].sort((one, other) => one - other);
  const high = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
  const max = sorted.at(-1) ?? 0;
  return roundAxis([0, Math.max(1, max > high * reachMax ? high : max)], format);
}
