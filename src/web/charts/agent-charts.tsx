/** Charts for agents, drawn by the service: bars of facets and lines of trends, and the page that shows them in a client. */
import type { JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { isRow, type Json, type Row } from "../../base/json.ts";
import { assetText } from "../shell/assets.ts";
import { decimal, shortCount } from "../shell/format.ts";
import { ChartFigure } from "./chart-figure.tsx";
import { LinePlot } from "./line-plot.tsx";
import { type RankedValue, RankingFigure } from "./ranking-panels.tsx";

/** Series beyond these have no color. */
const seriesMax = 5;

const rowsOf = (value: Json | undefined): readonly Row[] => (Array.isArray(value) ? value.filter(isRow) : []);

/** Returns the chart of an answer of facets or trends as HTML; undefined if there is nothing to draw. */
export function drawAnswer({ data }: { readonly data: Json }): string | undefined {
  const figures = isRow(data) ? facetFigures(data) : trendFigures(rowsOf(data));
  return figures.length === 0 ? undefined : renderToString(<div class="graphs">{figures}</div>);
}

function facetFigures({ facets = null }: Row): readonly JSX.Element[] {
  return Object.entries(isRow(facets) ? facets : {}).flatMap(([facet, buckets]) => {
    const rows = rowsOf(buckets);
    const values = rows.flatMap(rankedValueOf);
    const metric = rows[0]?.metric ?? null;
    const measure = isRow(metric) ? String(metric.name) : "count";
    if (values.length === 0) return [];
    const columns = [
      { name: facet, title: facet },
      { name: measure, title: measure, format: decimal },
    ] as const;
    return [<RankingFigure key={facet} id={facet} title={facet} note={measure} columns={columns} values={values} />];
  });
}

/** Returns the metric of a value of a facet, or its number of listings; nothing if it is unknown. */
function rankedValueOf({ value: name = null, count, metric = null }: Row): readonly RankedValue[] {
  const value = isRow(metric) ? metric.value : count;
  return typeof value === "number" ? [{ name: String(name ?? "unknown"), value }] : [];
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
  const columns = [
    { name: "series", title: "series" },
    { name: "day", title: "day" },
    { name: metric, title: metric, format: decimal },
  ];
  const rows = lines.flatMap(({ name, points }) => points.map(({ day, value }) => [name, day, value]));
  return (
    <ChartFigure id={metric} title={metric} note="" names={lines.map(({ name }) => name)} numbers={{ columns, rows }}>
      <LinePlot title={metric} lines={lines} format={shortCount} />
    </ChartFigure>
  );
};

function pointOf({ end = null, metrics }: Row, metric: string) {
  const value = rowsOf(metrics).find(({ name }) => name === metric)?.value;
  const day = String(end);
  const known = typeof value === "number" ? value : null;
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
