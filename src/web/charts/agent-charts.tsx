/** Charts for agents, drawn by the service: bars of facets and lines of trends, and the page that shows them in a client. */
import type { JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { isRow, type Json, type Row } from "../../base/json.ts";
import { Figure } from "../components/figure.tsx";
import { DataTable, Meter } from "../components/table.tsx";
import { assetText } from "../shell/assets.ts";
import { decimal, shortCount } from "../shell/format.ts";
import { Chart } from "./chart.tsx";
import { seriesColors } from "./marks.tsx";
import { dayScale, numberScale, valueOfDay } from "./scale.ts";

const rowsOf = (value: Json | undefined): readonly Row[] => (Array.isArray(value) ? value.filter(isRow) : []);

/** Returns the chart of an answer of facets or trends as HTML; undefined if there is nothing to draw. */
export function drawAnswer({ data }: { readonly data: Json }): string | undefined {
  const figures = isRow(data) ? facetFigures(data) : trendFigures(rowsOf(data));
  return figures.length === 0 ? undefined : renderToString(<div class="stack">{figures}</div>);
}

function facetFigures({ facets = null }: Row): readonly JSX.Element[] {
  return Object.entries(isRow(facets) ? facets : {}).flatMap(([facet, buckets]) => {
    const rows = rowsOf(buckets);
    const metric = rows[0]?.metric ?? null;
    const measure = isRow(metric) ? String(metric.name) : "count";
    const values = rows.flatMap(rankedValueOf);
    const whole = Math.max(...values.map(({ value }) => Math.abs(value)));
    if (values.length === 0) return [];
    return [
      <Figure key={facet} id={facet} title={facet} of={measure}>
        <DataTable
          label={`${measure} by ${facet}`}
          rows={values}
          columns={[
            { title: facet, cell: ({ name }) => name },
            { title: "", cell: ({ value }) => <Meter part={Math.abs(value)} whole={whole} /> },
            { title: measure, isNumber: true, cell: ({ value }) => decimal(value) },
          ]}
        />
      </Figure>,
    ];
  });
}

/** Returns the metric of a value of a facet, or its number of listings; nothing if it is unknown. */
function rankedValueOf({ value: name = null, count, metric = null }: Row) {
  const value = isRow(metric) ? metric.value : count;
  return typeof value === "number" ? [{ name: String(name ?? "unknown"), value }] : [];
}

/** Returns a figure for each metric, with a line for each series. */
function trendFigures(series: readonly Row[]): readonly JSX.Element[] {
  const drawn = series.slice(0, seriesColors.length);
  const points = drawn.flatMap((one) => rowsOf(one.points));
  const metrics = new Set(points.flatMap((point) => rowsOf(point.metrics).map(({ name }) => String(name))));
  return [...metrics].map((metric) => <TrendFigure key={metric} metric={metric} series={drawn} />);
}

const TrendFigure = ({ metric, series }: { readonly metric: string; readonly series: readonly Row[] }): JSX.Element => {
  const lines = series.map(({ value = null, points }) => ({
    name: value === null ? "" : String(value),
    points: rowsOf(points).map((point) => pointOf(point, metric)),
  }));
  const points = lines.flatMap((line) => line.points);
  return (
    <Figure
      id={metric}
      title={metric}
      numbers={{
        columns: [
          { title: "series", sort: "series", value: ({ name }) => name },
          { title: "day", sort: "day", value: ({ day }) => day },
          { title: metric, sort: metric, value: ({ value }) => value, format: decimal },
        ],
        rows: lines.flatMap(({ name, points: own }) => own.map((point) => ({ name, ...point }))),
      }}
    >
      <Chart
        label={metric}
        x={dayScale(points.map(({ day }) => day))}
        y={numberScale(
          points.flatMap(({ value }) => value ?? []),
          { format: shortCount },
        )}
        marks={lines.map(({ name, points: own }, index) => ({
          mark: "line",
          points: own.map(({ day, value }) => [valueOfDay(day), value] as const),
          color: seriesColors[index] ?? "field",
          ...(name === "" ? {} : { name }),
        }))}
      />
    </Figure>
  );
};

function pointOf({ end = null, metrics }: Row, metric: string) {
  const value = rowsOf(metrics).find(({ name }) => name === metric)?.value;
  return { day: String(end), value: typeof value === "number" ? value : null };
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

/** Returns the style sheet without the typeface, which is a file. */
const ownStyles = (): string => assetText("style.css").replace(/@font-face\s*\{[^}]*\}/g, "");

/** Returns the page for charts: a document without anything external. */
export const agentChartPage = (): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Chart</title><style>${ownStyles()} main { padding: 1rem }</style></head>` +
  `<body><main></main><script>${script}</script></body></html>`;
