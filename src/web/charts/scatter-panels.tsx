/** Scatter plots with common axes. */
import type { JSX } from "preact";
import { type Axis, percentText, roundAxis } from "./axis.ts";
import { Panels, PlotArea } from "./plot-area.tsx";

export interface ScatterPoint {
  readonly x: number;
  readonly y: number;
  readonly title: string;
}

interface ScatterPanelsProps {
  readonly title: string;
  readonly scatters: readonly { readonly name: string; readonly points: readonly ScatterPoint[] }[];
  readonly xFormat: (value: number) => string;
  readonly yFormat: (value: number) => string;
}

export const ScatterPanels = ({ title, scatters, xFormat, yFormat }: ScatterPanelsProps): JSX.Element => {
  const points = scatters.flatMap((scatter) => scatter.points);
  const x = axisOver(
    points.map((point) => point.x),
    xFormat,
  );
  const y = axisOver(
    points.map((point) => point.y),
    yFormat,
  );
  return (
    <Panels
      panels={scatters.map(({ name, points: own }) => [
        name,
        <PlotArea key={name} label={`${title}: ${own.length} listings; the table has the numbers`} x={x} y={y}>
          {own.map((point, index) => (
            <circle key={index} class="dot" cx={percentText(x.at(point.x))} cy={percentText(100 - y.at(point.y))} r="3">
              <title>{point.title}</title>
            </circle>
          ))}
        </PlotArea>,
      ])}
    />
  );
};

const axisOver = (values: readonly number[], format: (value: number) => string): Axis =>
  roundAxis([0, Math.max(1, ...values)], format, 4);
