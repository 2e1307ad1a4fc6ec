/** Lines over days: one for each series, interrupted where a value is unknown, over shaded ranges of days. */
import type { JSX } from "preact";
import { type Axis, dayAxis, percentText, roundAxis, timeOfDay } from "./axis.ts";
import { PlotArea, ValueText } from "./plot-area.tsx";

export interface LinePoint {
  readonly day: string;
  readonly value: number | null;
  readonly title: string;
}

/** A range of days without data, both inclusive. */
export interface ShadedDays {
  readonly start: string;
  readonly end: string;
  readonly title: string;
}

export interface Line {
  readonly name: string;
  readonly points: readonly LinePoint[];
}

interface LinePlotProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** Whether the axis begins at zero. */
  readonly isFromZero?: boolean;
  readonly shaded?: readonly ShadedDays[];
}

/** The most points that are marked. */
const marksMax = 60;

export const LinePlot = ({ title, lines, format, isFromZero = false, shaded = [] }: LinePlotProps): JSX.Element => {
  const points = lines.flatMap((line) => line.points);
  const values = points.flatMap(({ value }) => (value === null ? [] : [value]));
  const days = points.map(({ day }) => day).sort();
  const x = dayAxis(days[0] ?? "", days.at(-1) ?? "");
  const y = roundAxis(extentOf(values, isFromZero), format, 4);
  return (
    <PlotArea
      label={[`${title}: ${summaryOf(lines, format)}`, ...shaded.map((days) => days.title)].join("; ")}
      x={x}
      y={y}
    >
      <Shades shaded={shaded} x={x} />
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" class="lines" aria-hidden="true">
        {lines.map((line, index) => (
          <path key={index} class={`line series-${index + 1}`} d={pathOf(line.points, x, y)} />
        ))}
      </svg>
      <Marks lines={lines} x={x} y={y} />
    </PlotArea>
  );
};

/** Marks the known points of lines with few points. */
const Marks = ({
  lines,
  x,
  y,
}: {
  readonly lines: readonly Line[];
  readonly x: Axis;
  readonly y: Axis;
}): JSX.Element => (
  <g>
    {lines.flatMap((line, index) =>
      line.points.map(({ day, value, title }) =>
        value === null || line.points.length > marksMax ? null : (
          <g class="point" key={`${index} ${day}`}>
            <circle
              class={`mark series-${index + 1}`}
              cx={percentText(x.at(timeOfDay(day)))}
              cy={percentText(100 - y.at(value))}
              r="2.5"
            />
            <ValueText text={title} at={[x.at(timeOfDay(day)), y.at(value)]} />
          </g>
        ),
      ),
    )}
  </g>
);

/** Shades days, each of which extends to half of the distance to its neighbors. */
const Shades = ({ shaded, x }: { readonly shaded: readonly ShadedDays[]; readonly x: Axis }): JSX.Element => {
  const at = (day: string, offset: number): number =>
    Math.min(100, Math.max(0, x.at(timeOfDay(day) + offset * halfDayMs)));
  return (
    <g>
      {shaded.map(({ start, end, title }) => {
        const [left, right] = [at(start, -1), at(end, 1)];
        return (
          <rect key={start} class="shade" x={percentText(left)} width={percentText(right - left)} y="0%" height="100%">
            <title>{title}</title>
          </rect>
        );
      })}
    </g>
  );
};

const halfDayMs = 12 * 60 * 60 * 1000;

/** Returns the extent of an axis: at least 5 % of the greatest value, so that noise is not drawn large. */
function extentOf(values: readonly number[], isFromZero: boolean): readonly [number, number] {
  const [min, max] = [Math.min(...values), Math.max(...values)];
  if (values.length === 0) return [0, 1];
  if (isFromZero) return [0, max];
  const margin = Math.max(0, (Math.abs(max) * 0.05 - (max - min)) / 2);
  return [min - margin, max + margin];
}

/** Returns the path through the known values. */
function pathOf(points: readonly LinePoint[], x: Axis, y: Axis): string {
  const parts: string[] = [];
  let isInterrupted = true;
  for (const { day, value } of points) {
    if (value !== null) {
      const [left, top] = [round(x.at(timeOfDay(day))), round(100 - y.at(value))];
      parts.push(`${isInterrupted ? "M" : "L"}${left},${top}`);
    }
    isInterrupted = value === null;
  }
  return parts.join("");
}

const round = (value: number): number => Math.round(value * 100) / 100;

function summaryOf(lines: readonly Line[], format: (value: number) => string): string {
  const texts = lines.map(({ name, points }) => {
    const known = points.flatMap(({ value }) => (value === null ? [] : [format(value)]));
    return `${name === "" ? "" : `${name} `}from ${known[0] ?? "unknown"} to ${known.at(-1) ?? "unknown"}`;
  });
  return texts.join("; ");
}
