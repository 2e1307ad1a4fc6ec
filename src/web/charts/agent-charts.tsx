/** Charts for agents, drawn by the service: bars of facets and lines of trends, and the page that shows them in a client. */
import type { JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { isRow, type Json, type Row } from "../../base/json.ts";
import { Figure } from "../components/figure.tsx";
import { assetText } from "../shell/assets.ts";
import { decimal, shortCount } from "../shell/format.ts";
import { Chart } from "./chart.tsx";
import type { ChartColor, Mark } from "./marks.tsx";
import { bandScale, dayScale, numberScale, valueOfDay } from "./scale.ts";

/** The colors of series; further series have none and are not drawn. */
const colors: readonly ChartColor[] = ["petrol", "coral", "gold", "petrol2", "field"];

/** Values beyond these have no bar: their names would not fit. */
const barsMax = 8;

const rowsOf = (value: Json | undefined): readonly Row[] => (Array.isArray(value) ? value.filter(isRow) : []);

/** Returns the chart of an answer of facets or trends as HTML; undefined if there is nothing to draw. */
export function drawAnswer({ data }: { readonly data: Json }): string | undefined {
  const figures = isRow(data) ? facetFigures(data) : trendFigures(rowsOf(data));
  return figures.length === 0 ? undefined : renderToString(<div class="stack">{figures}</div>);
}

function facetFigures({ facets = null }: Row): readonly JSX.Element[] {
  return Object.entries(isRow(facets) ? facets : {}).flatMap(([facet, buckets]) => {
    const rows = rowsOf(buckets);
    const values = rows.flatMap(knownValueOf);
    const metric = rows[0]?.metric ?? null;
    const measure = isRow(metric) ? String(metric.name) : "count";
    if (values.length === 0) return [];
    const columns = [
      { name: facet, title: facet },
      { name: measure, title: measure, format: decimal },
    ] as const;
    return [
      <Figure key={facet} id={facet} title={facet} of={measure} numbers={{ columns, rows: values }}>
        <Bars facet={facet} values={values.slice(0, barsMax)} />
      </Figure>,
    ];
  });
}

type KnownValue = readonly [name: string, value: number];

const Bars = ({ facet, values }: { readonly facet: string; readonly values: readonly KnownValue[] }): JSX.Element => (
  <Chart
    label={`${facet}: ${values.map(([name, value]) => `${name} ${decimal(value)}`).join(", ")}`}
    width={760}
    x={bandScale(values.map(([text]) => ({ text })))}
    y={numberScale(
      values.map(([, value]) => value),
      { format: shortCount, isFromZero: true },
    )}
    marks={values.map(([name, value], x) => ({
      mark: "bar",
      x,
      y: value,
      above: shortCount(value),
      title: `${name}: ${decimal(value)}`,
    }))}
  />
);

/** Returns the metric of a value of a facet, or its number of listings; nothing if it is unknown. */
function knownValueOf({ value: name = null, count, metric = null }: Row): readonly KnownValue[] {
  const value = isRow(metric) ? metric.value : count;
  return typeof value === "number" ? [[String(name ?? "unknown"), value]] : [];
}

/** Returns a figure for each metric, with a line for each series. */
function trendFigures(series: readonly Row[]): readonly JSX.Element[] {
  const drawn = series.slice(0, colors.length);
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
  const known = lines.flatMap(({ points }) => points.flatMap(({ value }) => (value === null ? [] : [value])));
  const marks = lines.map(({ name, points }, index): Mark => {
    const last = points.at(-1)?.value ?? null;
    return {
      mark: "line",
      points: points.map(({ day, value }) => [valueOfDay(day), value]),
      color: colors[index] ?? "petrol",
      name,
      value: last === null ? "" : shortCount(last),
    };
  });
  return (
    <Figure id={metric} title={metric} of="at the end of each interval" numbers={{ columns, rows }}>
      {known.length === 0 ? (
        <p>No value is known.</p>
      ) : (
        <Chart
          label={`${metric} over time`}
          width={760}
          x={dayScale(rows.map(([, day]) => String(day)))}
          y={numberScale(known, { format: shortCount })}
          marks={marks}
        />
      )}
    </Figure>
  );
};

function pointOf({ end = null, metrics }: Row, metric: string) {
  const value = rowsOf(metrics).find(({ name }) => name === metric)?.value;
  return { day: String(end).slice(0, 10), value: typeof value === "number" ? value : null };
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
