/** The forms of the charts in docs/analysts.md: marks, axes and margins over rows that were read. */
import { barX, dot, gridX, gridY, lineY, type PlotOptions, ruleX, text } from "@observablehq/plot";
import { chartColors, type LegendEntry } from "../../bench/report/svg-chart.ts";

const { ink, muted, grid, orange, blue, green, amber, slate } = chartColors;

const seriesColors = [orange, blue, green, amber, slate];

/** A named number, in the color of bars unless it has its own. */
export interface LabeledValue {
  readonly label: string;
  readonly value: number;
  readonly color?: string;
}

export interface ChartPoint {
  readonly series: string;
  readonly x: number | Date;
  readonly y: number;
}

export const wholeDollars = (value: number): string => `$${Math.round(value).toLocaleString("en")}`;

const longest = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length));
const plain = { labelArrow: "none", tickSize: 0 } as const;
const gridColor = { stroke: grid, strokeOpacity: 1 } as const;

/** Returns horizontal bars in the order of the rows, each with its number; negative bars lead left. */
export function bars(rows: readonly LabeledValue[], label: string, format: (value: number) => string): PlotOptions {
  const isNegative = ({ value }: LabeledValue): boolean => value < 0;
  const numbers = { x: "value", y: "label", text: ({ value }: LabeledValue) => format(value), fill: ink };
  const numberWidth = 12 + 6.5 * longest(rows.map(({ value }) => format(value)));
  return {
    marginLeft: 20 + 6.8 * longest(rows.map((row) => row.label)),
    marginRight: numberWidth,
    marginTop: 4,
    marginBottom: 40,
    x: { ...plain, label, insetLeft: rows.some(isNegative) ? numberWidth : 0 },
    y: { ...plain, label: null, domain: rows.map((row) => row.label), padding: 0.25 },
    marks: [
      gridX(gridColor),
      barX(rows, {
        x: "value",
        y: "label",
        fill: (row: LabeledValue) => row.color ?? (isNegative(row) ? blue : orange),
      }),
      ruleX([0], { stroke: muted }),
      text(
        rows.filter((row) => !isNegative(row)),
        { ...numbers, textAnchor: "start", dx: 5 },
      ),
      text(rows.filter(isNegative), { ...numbers, textAnchor: "end", dx: -5 }),
    ],
  };
}

const seriesOf = (points: readonly ChartPoint[]): readonly string[] => [...new Set(points.map(({ series }) => series))];

/** Returns the legend of the series of points, in the order of their first points. */
export const legendOf = (points: readonly ChartPoint[]): readonly LegendEntry[] =>
  seriesOf(points).map((name, index) => ({ name, color: seriesColors[index] ?? slate }));

/** Returns a line for each series, over other marks. */
export function lines(points: readonly ChartPoint[], { x = {}, y = {}, marks = [] }: PlotOptions): PlotOptions {
  return {
    marginLeft: 64,
    marginRight: 16,
    marginTop: 28,
    marginBottom: 40,
    x: { ...plain, ...x },
    y: { ...plain, zero: true, ...y },
    marks: [
      gridY(gridColor),
      ...marks,
      ...legendOf(points).map(({ name, color }) =>
        lineY(
          points.filter(({ series }) => series === name),
          { x: "x", y: "y", stroke: color, strokeWidth: 2, marker: "circle-fill" },
        ),
      ),
    ],
  };
}

/** Returns a dot for each point, colored by series. */
export function scatter(points: readonly ChartPoint[], { x = {}, y = {} }: PlotOptions): PlotOptions {
  return {
    marginLeft: 64,
    marginRight: 16,
    marginTop: 28,
    marginBottom: 40,
    x: { ...plain, zero: true, nice: true, ...x },
    y: { ...plain, zero: true, nice: true, ...y },
    marks: [
      gridX(gridColor),
      gridY(gridColor),
      ...legendOf(points).map(({ name, color }) =>
        dot(
          points.filter(({ series }) => series === name),
          { x: "x", y: "y", r: 3.5, fill: color, fillOpacity: 0.85 },
        ),
      ),
    ],
  };
}
