/** Prices along a number, such as the age: a curve for each series, and its medians, each with the range of most prices and a link. */
import type { JSX } from "preact";
import { type Axis, barAt, circleAt, percentText, roundAxis } from "./axis.ts";
import { Lines, pathThrough } from "./lines.tsx";
import { PlotArea, ValueText } from "./plot-area.tsx";

export interface CurvePoint {
  /** The number, and the price of the curve there. */
  readonly at: number;
  readonly fitted: number | null;
  /** The median, and the percentiles that hold 80 %; null if they are unknown. */
  readonly median: number | null;
  readonly p10: number | null;
  readonly p90: number | null;
  readonly title: string;
  /** The target of the link. */
  readonly path: string;
}

interface CurvePlotProps {
  readonly title: string;
  readonly curves: readonly (readonly CurvePoint[])[];
  /** The distance of two neighboring points. */
  readonly step: number;
  readonly xFormat: (value: number) => string;
  readonly yFormat: (value: number) => string;
}

export const CurvePlot = ({ title, curves, step, xFormat, yFormat }: CurvePlotProps): JSX.Element => {
  const points = curves.flat();
  const x = roundAxis([0, Math.max(step, ...points.map(({ at }) => at))], xFormat, 8);
  const y = roundAxis([0, Math.max(1, ...points.map(({ p90, fitted }) => Math.max(p90 ?? 0, fitted ?? 0)))], yFormat);
  const lines = curves.map((own) =>
    pathThrough(own.map(({ at, fitted }) => [x.at(at), fitted === null ? null : y.at(fitted)])),
  );
  const width = x.at(step) - x.at(0);
  return (
    <PlotArea label={`${title}: ${points.length} points; the table has the numbers`} x={x} y={y} interaction={{}}>
      {curves.flatMap((own, series) =>
        own.map((point) => (
          <Median
            key={point.path}
            point={point}
            series={series}
            y={y}
            left={x.at(point.at) + 0.5 * width * ((series + 0.5) / curves.length - 0.5)}
            width={width / curves.length}
          />
        )),
      )}
      <Lines paths={lines.map((path, index) => [`series-${index + 1}`, path])} />
    </PlotArea>
  );
};

interface MedianProps {
  readonly point: CurvePoint;
  /** The number of its series, from 0. */
  readonly series: number;
  /** The middle and the width of the slot of the point, in percent. */
  readonly left: number;
  readonly width: number;
  readonly y: Axis;
}

const Median = ({ point, series, left, width, y }: MedianProps): JSX.Element | null => {
  const { median, p10, p90, title, path } = point;
  if (median === null || p10 === null || p90 === null) return null;
  const x = percentText(left);
  const color = `series-${series + 1}`;
  return (
    <a class="slot" href={path} aria-label={title}>
      <rect class="hit" {...barAt(left - width / 2, width, 100)} />
      <line
        class={`reach ${color}`}
        x1={x}
        x2={x}
        y1={percentText(100 - y.at(p10))}
        y2={percentText(100 - y.at(p90))}
      />
      <circle class={`mark ${color}`} {...circleAt(left, y.at(median))} r="4" />
      <ValueText text={title} at={[left, y.at(p90)]} />
    </a>
  );
};
