/** Draws a grid of small line charts with logarithmic axes: costs by size. */
import { dot, gridY, line, type PlotOptions, text } from "@observablehq/plot";
import { chartColors, renderChart } from "./svg-chart.ts";

export interface PlotLine {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface PlotPanel {
  readonly title: string;
  readonly lines: readonly PlotLine[];
}

const { ink, grid, orange, blue, green, amber } = chartColors;
const colors: Readonly<Record<string, string>> = {
  carquet: orange,
  duckdb: amber,
  clickhouse: blue,
  solr: green,
};
const colorOf = (name: string): string => colors[name] ?? ink;

/** Returns an SVG document. Each panel has its own axes; `unit` is the label of x. */
export function renderPlot(panels: readonly PlotPanel[], unit: string): string {
  const names = [...new Set(panels.flatMap(({ lines }) => lines.map(({ name }) => name)))];
  return renderChart({
    title: `Costs by number of ${unit}`,
    subtitle: `Medians of times; both axes are logarithmic, x is the number of ${unit}`,
    legend: names.map((name) => ({ name, color: colorOf(name) })),
    panels: panels.map(panelOptions),
    panelWidth: 310,
    panelHeight: 190,
    panelsPerRow: 3,
  });
}

function panelOptions({ title, lines }: PlotPanel): PlotOptions {
  const sizes = [...new Set(lines.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const ticks = enclosingTicks(lines.flatMap(({ points }) => points.map(({ y }) => y)));
  return {
    marginLeft: 44,
    marginRight: 16,
    marginTop: 34,
    marginBottom: 24,
    x: { type: "log", ticks: sizes, tickFormat: tickLabel, tickSize: 0, label: null },
    y: { type: "log", ticks, domain: [ticks[0], ticks.at(-1)], tickFormat: tickLabel, tickSize: 0, label: null },
    marks: [
      gridY(ticks, { stroke: grid, strokeOpacity: 1 }),
      text([title], { frameAnchor: "top-left", dy: -24, fill: ink, fontWeight: 600 }),
      ...lines.flatMap(({ name, points }) => [
        line(points, { x: "x", y: "y", stroke: colorOf(name), strokeWidth: name === "carquet" ? 2.5 : 1.5 }),
        dot(points, { x: "x", y: "y", r: 2.5, fill: colorOf(name) }),
      ]),
    ],
  };
}

/** Returns the numbers 1, 2 and 5 times a power of ten from the last one below some values to the first one above. */
function enclosingTicks(values: readonly number[]): readonly number[] {
  const all = Array.from({ length: 14 }, (_, index) => 10 ** (index - 3)).flatMap((power) => [
    power,
    2 * power,
    5 * power,
  ]);
  const first = all.findLastIndex((tick) => tick <= Math.min(...values));
  const last = all.findIndex((tick) => tick >= Math.max(...values));
  return all.slice(first, last + 1);
}

const tickLabel = (value: number): string =>
  value >= 1e6 ? `${value / 1e6}M` : value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(3)));
