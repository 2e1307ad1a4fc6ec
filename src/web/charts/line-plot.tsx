/** Lines over days: one for each series, interrupted where a value is unknown, over shaded ranges of days. */
import type { JSX } from "preact";
import { type Axis, barAt, circleAt, dayAxis, millisecondsPerDay, roundAxis, steadyExtent, timeOfDay } from "./axis.ts";
import { knownValues, Lines, pathOverDays, spanText, type ValueOfDay } from "./lines.tsx";
import { PlotArea, ValueText } from "./plot-area.tsx";

export interface LinePoint extends ValueOfDay {
  readonly title: string;
}

/** A range of days without data, both inclusive. */
export interface ShadedDays {
  readonly start: string;
  readonly end: string;
  readonly title: string;
}

interface LinePlotProps {
  readonly title: string;
  readonly lines: readonly { readonly name: string; readonly points: readonly LinePoint[] }[];
  readonly format: (value: number) => string;
  /** Whether the axis begins at zero. */
  readonly isFromZero?: boolean;
  readonly shaded?: readonly ShadedDays[];
}

/** Lines with more points than these have no marks. */
const marksMax = 60;

export const LinePlot = ({ title, lines, format, isFromZero = false, shaded = [] }: LinePlotProps): JSX.Element => {
  const points = lines.flatMap((line) => line.points);
  const values = knownValues(points);
  const x = dayAxis(points.map(({ day }) => day));
  const y = roundAxis(isFromZero ? [0, Math.max(0, ...values)] : steadyExtent(values), format);
  const summary = lines.map((line) => `${line.name} ${spanText(line.points, format)}`.trim()).join("; ");
  const label = [`${title}: ${summary}`, ...shaded.map((days) => days.title)].join("; ");
  return (
    <PlotArea label={label} x={x} y={y}>
      <Shades shaded={shaded} x={x} />
      <Lines paths={lines.map((line, index) => [`series-${index + 1}`, pathOverDays(line.points, [x, y])])} />
      {lines.map((line, index) =>
        line.points.map(({ day, value, title }) =>
          value === null || line.points.length > marksMax ? null : (
            <g class="point" key={`${index} ${day}`}>
              <circle class={`mark series-${index + 1}`} {...circleAt(x.at(timeOfDay(day)), y.at(value))} r="2.5" />
              <ValueText text={title} at={[x.at(timeOfDay(day)), y.at(value)]} />
            </g>
          ),
        ),
      )}
    </PlotArea>
  );
};

/** Shades days, each of which extends to half of the distance to its neighbors. */
const Shades = ({ shaded, x }: { readonly shaded: readonly ShadedDays[]; readonly x: Axis }): JSX.Element => (
  <g>
    {shaded.map(({ start, end, title }) => {
      const left = Math.max(0, x.at(timeOfDay(start) - millisecondsPerDay / 2));
      const right = Math.min(100, x.at(timeOfDay(end) + millisecondsPerDay / 2));
      return (
        <rect key={start} class="shade" {...barAt(left, right - left, 100)}>
          <title>{title}</title>
        </rect>
      );
    })}
  </g>
);
