/** Charts for agents, drawn by the service: bars of facets and lines of trends, and the page that shows them in a client. */
import type { JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { isRow, type Json, type Row } from "../../base/json.ts";
import { assetText } from "../shell/assets.ts";
import { decimal, shortCount } from "../shell/format.ts";
import { ChartFigure, type Numbers } from "./chart-figure.tsx";
import { LinePlot } from "./line-plot.tsx";
import { type RankedValue, RankingPanels } from "./ranking-panels.tsx";

/** Series beyond these have no color. */
const seriesMax = 5;

const rowsOf = (value: Json | undefined): readonly Row[] => (Array.isArray(value) ? value.filter(isRow) : []);

/** Returns the chart of an answer of facets or trends as HTML; undefined if there is nothing to draw. */
export function drawAnswer({ data }: { readonly data: Json }): string | undefined {
  const figures = isRow(data) ? facetFigures(data) : trendFigures(rowsOf(data));
  return figures.length === 0 ? undefined : renderToString(<div class="graphs">{figures}</div>);
}

function facetFigures({ facets = null }: Row): readonly JSX.Element[] {
  return Object.entries(isRow(facets) ? facets : {}).flatMap(([facet, values]) => {
    const ranked = rowsOf(values).flatMap(rankedValueOf);
    const [first] = rowsOf(values);
    const measure = isRow(first?.metric ?? null) ? String(Object(first?.metric).name) : "count";
    return ranked.length === 0 ? [] : [<FacetFigure key={facet} facet={facet} measure={measure} values={ranked} />];
  });
}

/** Returns the metric of a value of a facet, or its number of listings; nothing if it is unknown. */
function rankedValueOf({ value: name = null, count, metric = null }: Row): readonly RankedValue[] {
  const value = isRow(metric) ? metric.value : count;
  return typeof value === "number" ? [{ name: String(name ?? "unknown"), value }] : [];
}

interface FacetFigureProps {
  readonly facet: string;
  readonly measure: string;
  readonly values: readonly RankedValue[];
}

const FacetFigure = ({ facet, measure, values }: FacetFigureProps): JSX.Element => (
  <ChartFigure id={facet} title={facet} note={measure} numbers={numbersOf(facet, measure, values)}>
    <RankingPanels rankings={[{ name: facet, values }]} format={decimal} />
  </ChartFigure>
);

function numbersOf(facet: string, measure: string, values: readonly RankedValue[]): Numbers {
  const columns = [
    { name: facet, title: facet },
    { name: measure, title: measure, format: decimal },
  ];
  return { columns, rows: values.map(({ name, value }) => [name, value]) };
}

/** Returns a figure for each metric, with a line for each series. */
function trendFigures(series: readonly Row[]): readonly JSX.Element[] {
  const drawn = series.slice(0, seriesMax);
  const points = drawn.flatMap((one) => rowsOf(one.points));
  const metrics = new Set(points.flatMap((point) => rowsOf(point.metrics).map(({ name }) => String(name))));
  return [...metrics].map((metric) => <TrendFigure key={metric} metric={metric} series={drawn} />);
}

const TrendFigure = ({ metric, series }: { readonly metric: string; readonly series: readonly Row[] }): JSX.Element => {
  const lines = series.map(({ value = null, points }) => ({
    name: value === null ? "" : String(value),
    points: rowsOf(points).map((point) => pointOf(point, metric)),
  }));
  const columns = ["series", "day"].map((name) => ({ name, title: name }));
  const rows = lines.flatMap(({ name, points }) => points.map(({ day, value }) => [name, day, value]));
  const numbers = { columns: [...columns, { name: metric, title: metric, format: decimal }], rows };
  return (
    <ChartFigure id={metric} title={metric} note="" names={lines.map(({ name }) => name)} numbers={numbers}>
      <LinePlot title={metric} lines={lines} format={shortCount} />
    </ChartFigure>
  );
};

function pointOf({ end = null, metrics }: Row, metric: string) {
  const value = rowsOf(metrics).find(({ name }) => name === metric)?.value;
  const [day, known] = [String(end), typeof value === "number" ? value : null];
  return { day, value: known, title: `${day}: ${known === null ? "unknown" : decimal(known)}` };
}

/** Shows the chart in the result of the tool that the host sends, and reports its size to the host. */
const script = `
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  if (data.id === 1 && data.result) send({ method: "ui/notifications/initialized", params: {} });
  else if (data.method === "ui/notifications/tool-result")
    document.querySelector("main").innerHTML = data.params?._meta?.["carquet/chart"] ?? "<p>No chart of this answer.</p>";
  else if (data.method && data.id !== undefined) send({ id: data.id, result: {} });
});
const measure = () => {
  const { width, height } = document.querySelector("main").getBoundingClientRect();
  send({ method: "ui/notifications/size-changed", params: { width: Math.ceil(width), height: Math.ceil(height) } });
};
new ResizeObserver(measure).observe(document.querySelector("main"));
const appInfo = { name: "carquet", version: "1" };
send({ id: 1, method: "ui/initialize", params: { protocolVersion: "2026-01-26", appInfo, appCapabilities: {} } });
`;

/** Returns the page for charts: a document without anything external. */
export const agentChartPage = (): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Chart</title><style>${assetText("style.css")} main { padding: 1rem }</style></head>` +
  `<body><main></main><script>${script}</script></body></html>`;
