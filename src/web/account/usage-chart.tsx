/** Stacked bars by day and usage class, as SVG, with a legend and a table of the same numbers. */
import type { JSX } from "preact";
import type { UsageRange, UsageRow } from "../../accounts/ledger/usage.ts";
import { plusDays } from "../../base/day.ts";
import { count, day as dayText, usd } from "../shell/format.ts";

interface UsageChartProps {
  readonly title: string;
  readonly range: UsageRange;
  readonly rows: readonly UsageRow[];
  readonly measure: "requests" | "charged_micros";
}

/** The usage classes that have their own shade; the smaller ones share the last. */
const shadesMost = 4;

/** One day of the chart: the value of each series. */
interface Bar {
  readonly date: string;
  readonly values: readonly number[];
}

export const UsageChart = ({ title, range, rows, measure }: UsageChartProps): JSX.Element => {
  const names = seriesOf(rows, measure);
  const bars = barsOf(range, rows, names, measure);
  const sumOf = ({ values }: Bar): number => values.reduce((sum, value) => sum + value, 0);
  const top = roundUp(Math.max(...bars.map(sumOf), 1));
  const format = measure === "requests" ? count : usd;
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <p class="muted">{format(bars.reduce((sum, bar) => sum + sumOf(bar), 0))} in all</p>
      </figcaption>
      <div class="plot">
        <p class="top-label">{format(top)}</p>
        <svg
          viewBox={`0 0 ${bars.length * 10} 100`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}, stacked bars; the table below has the numbers`}
        >
          <line x1="0" x2={bars.length * 10} y1="50" y2="50" class="grid" />
          {bars.map((bar, index) => (
            <BarShapes
              key={bar.date}
              bar={bar}
              x={index * 10}
              top={top}
              title={`${dayText(bar.date)}: ${format(sumOf(bar))}`}
            />
          ))}
        </svg>
        <p class="ends">
          <span>{dayText(range.startDate)}</span>
          <span>{dayText(range.endDate)}</span>
        </p>
      </div>
      <Legend names={names} />
    </figure>
  );
};

const Legend = ({ names }: { readonly names: readonly string[] }): JSX.Element => (
  <ul class="legend">
    {names.map((name, index) => (
      <li key={name}>
        <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
          <rect width="10" height="10" class={`shade-${index}`} />
        </svg>
        {name}
      </li>
    ))}
  </ul>
);

interface BarShapesProps {
  readonly bar: Bar;
  readonly x: number;
  readonly top: number;
  readonly title: string;
}

const BarShapes = ({ bar: { values }, x, top, title }: BarShapesProps): JSX.Element => {
  const heights = values.map((value) => (value / top) * 100);
  return (
    <g>
      <title>{title}</title>
      {heights.map((height, index) => {
        const below = heights.slice(0, index).reduce((sum, part) => sum + part, 0);
        return (
          <rect
            key={index}
            class={`shade-${index}`}
            x={x + 1}
            y={round(100 - below - height)}
            width="8"
            height={round(height)}
          />
        );
      })}
    </g>
  );
};

/** Returns the classes with the largest sums, largest first, and `other` if there are more. */
function seriesOf(rows: readonly UsageRow[], measure: UsageChartProps["measure"]): readonly string[] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.metering_class, (sums.get(row.metering_class) ?? 0) + row[measure]);
  const names = [...sums].sort(([, a], [, b]) => b - a).map(([name]) => name);
  return names.length <= shadesMost + 1 ? names : [...names.slice(0, shadesMost), otherClasses];
}

const otherClasses = "other classes";

function barsOf(
  { startDate, endDate }: UsageRange,
  rows: readonly UsageRow[],
  names: readonly string[],
  measure: UsageChartProps["measure"],
): readonly Bar[] {
  const byDate = new Map<string, UsageRow[]>();
  for (const row of rows) byDate.set(row.date, [...(byDate.get(row.date) ?? []), row]);
  const bars: Bar[] = [];
  for (let date = startDate; date <= endDate; date = plusDays(date, 1)) {
    const values = names.map(() => 0);
    for (const row of byDate.get(date) ?? []) {
      const found = names.indexOf(row.metering_class);
      const index = found < 0 ? names.indexOf(otherClasses) : found;
      values[index] = (values[index] ?? 0) + row[measure];
    }
    bars.push({ date, values });
  }
  return bars;
}

/** Returns the next number of the form 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((bound) => bound >= value) ?? value;
}

const round = (value: number): number => Math.round(value * 100) / 100;
