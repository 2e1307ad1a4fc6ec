/** The result of a statement: a chart of a number column by the first text column, where it fits, and a table. */
import type { ComponentChildren, JSX } from "preact";
import { firstRows } from "../../formats/first-rows.ts";
import { Chart } from "../charts/chart.tsx";
import { seriesColors } from "../charts/marks.tsx";
import { dayScale, numberScale, valueOfDay } from "../charts/scale.ts";
import { Figure } from "../components/figure.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable, sortedRows } from "../components/table.tsx";
import { resultTitle } from "../sentences/market.ts";
import { amountOf, dollars } from "../shell/format.ts";

/** The most rows, and characters of them, that a page reads and shows. */
const readLimits = { rowsMax: 500, charactersMax: 500_000 };

/** The values of a row by the names of its columns, which are words of the visitor. */
type ResultRow = ReadonlyMap<string, unknown>;

export interface SqlResult {
  readonly rows: readonly ResultRow[];
  readonly columns: readonly string[];
  /** All rows of the result. */
  readonly total: number;
  /** Undefined if nothing was charged. */
  readonly micros: number | undefined;
  /** The charted column, and the column that the table is sorted by, after `-` if it descends; undefined for the usual ones. */
  readonly column: string | undefined;
  readonly sort: string | undefined;
}

/** Returns the first rows of NDJSON, and their columns. */
export async function readRows(body: unknown): Promise<Pick<SqlResult, "rows" | "columns">> {
  const rows = (await firstRows(body, readLimits)).map((row) => new Map(Object.entries(row)));
  return { rows, columns: [...(rows[0]?.keys() ?? [])] };
}

interface SqlResultViewProps {
  readonly result: SqlResult;
  /** The id of the form whose statement has the result. */
  readonly form: string;
}

export const SqlResultView = ({ result, form }: SqlResultViewProps): JSX.Element => {
  const charted = chartOf(result);
  return (
    <div class={charted === undefined ? "stack" : "two"}>
      {charted === undefined ? null : <ResultChart charted={charted} form={form} />}
      <ResultTable result={result} form={form} />
    </div>
  );
};

const numberFormat = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2, useGrouping: "min2" as never });

/** Returns a number as its column means it: prices in dollars, `_pct` as a percentage. */
function numberText(column: string, value: number): string {
  if (/(^|_)(price|msrp)$/.test(column)) return dollars(value);
  return `${numberFormat.format(value)}${/(^|_)(pct|percent)$/.test(column) ? "\u00a0%" : ""}`;
}

const isNumberColumn = ({ rows }: SqlResult, column: string): boolean =>
  rows.some((row) => typeof row.get(column) === "number") &&
  rows.every((row) => row.get(column) === null || typeof row.get(column) === "number");

/** The fewest and the most rows that are charted; a line has more. */
const chartRowsMin = 2;
const barsMax = 20;

interface ChartedResult {
  readonly label: string;
  readonly column: string;
  readonly others: readonly string[];
  readonly points: readonly { readonly label: string; readonly series: string; readonly value: number }[];
  readonly isOverTime: boolean;
}

/** Returns what is charted of a result; undefined if it has no text column beside one of numbers. Over time, a second text column has the series. */
function chartOf(result: SqlResult): ChartedResult | undefined {
  const { rows, columns } = result;
  const [label, other = ""] = columns.filter((column) => rows.every((row) => typeof row.get(column) === "string"));
  const values = columns.filter((column) => isNumberColumn(result, column));
  const column =
    values.find((one) => one === result.column) ?? values.find((one) => orderBy(rows, one) !== undefined) ?? values[0];
  if (label === undefined || column === undefined || rows.length < chartRowsMin) return undefined;
  const points = rows.flatMap((row) => {
    const value = row.get(column);
    return typeof value === "number"
      ? [{ label: String(row.get(label)), series: String(row.get(other) ?? ""), value }]
      : [];
  });
  const isOverTime = points.length > 2 && points.every((point) => /^\d{4}-\d\d-\d\d$/.test(point.label));
  const isOnce = new Set(points.map((point) => `${point.label} ${isOverTime && point.series}`)).size === points.length;
  const isDrawn = isOnce && (isOverTime ? seriesOf(points).length <= seriesColors.length : points.length <= barsMax);
  return isDrawn ? { label, column, others: values.filter((one) => one !== column), points, isOverTime } : undefined;
}

type Point = ChartedResult["points"][number];

const seriesOf = (points: ChartedResult["points"]): readonly string[] => [
  ...new Set(points.map(({ series }) => series)),
];

/** Returns the column if the rows ascend by it, with `-` before if they descend; undefined without an order, or different values. */
function orderBy(rows: readonly ResultRow[], column: string): string | undefined {
  const values = rows.map((row) => Number(row.get(column)));
  if (new Set(values).size < 2) return undefined;
  const steps = values.slice(1).map((value, index) => value - (values[index] ?? 0));
  if (steps.every((step) => step >= 0)) return column;
  return steps.every((step) => step <= 0) ? `-${column}` : undefined;
}

const ResultChart = ({ charted, form }: { readonly charted: ChartedResult; readonly form: string }): JSX.Element => {
  const { label, column, others, points, isOverTime } = charted;
  const title = isOverTime
    ? `${column} by ${label}`
    : resultTitle(column, points, (value) => numberText(column, value));
  const measure = (
    <>
      {column}, by {label}.
      {others.length === 0 ? null : (
        <span class="choice">
          {" Choose another: "}
          {others.map((other, index) => (
            <>
              {index === 0 ? "" : ", "}
              <button type="submit" class="plain link" form={form} name="column" value={other}>
                {other}
              </button>
            </>
          ))}
        </span>
      )}
    </>
  );
  const hasSeries = isOverTime && seriesOf(points).length > 1;
  return (
    <Figure
      id="chart"
      title={title}
      of={measure}
      numbers={{
        columns: [
          { title: label, sort: label, value: (point) => point.label },
          ...(hasSeries ? [{ title: "series", sort: "series", value: ({ series }: Point) => series }] : []),
          { title: column, sort: column, value: ({ value }) => value, format: (value) => numberText(column, value) },
        ],
        rows: points,
      }}
    >
      {isOverTime ? <Days charted={charted} /> : <Bars charted={charted} label={title} />}
    </Figure>
  );
};

const Days = ({ charted: { column, points } }: { readonly charted: ChartedResult }): JSX.Element => {
  const ordered = points.toSorted((one, other) => one.label.localeCompare(other.label));
  const names = seriesOf(ordered);
  return (
    <Chart
      label={`${column} by day`}
      x={dayScale(ordered.map((point) => point.label))}
      y={numberScale(
        ordered.map(({ value }) => value),
        { format: (value) => numberText(column, value) },
      )}
      marks={names.map((name, index) => {
        const own = ordered.filter(({ series }) => series === name);
        return {
          mark: "line",
          color: seriesColors[index] ?? "field",
          hasArea: names.length === 1,
          points: own.map((point) => [valueOfDay(point.label), point.value]),
          name,
          value: numberText(column, own.at(-1)?.value ?? 0),
        };
      })}
    />
  );
};

/** Horizontal bars, the bar of the title in coral: drawn twice, as all charts. */
const Bars = (props: { readonly charted: ChartedResult; readonly label: string }): JSX.Element => (
  <div class="plot">
    {barDrawing(props, "wide", 500)}
    {barDrawing(props, "narrow", 346)}
  </div>
);

/** Where bars begin, what is left for their values, and the height of a bar with its gap. */
const barStart = 128;
const valueWidth = 52;
const step = 38;
const labelMax = 17;

function barDrawing({ charted, label }: Parameters<typeof Bars>[0], look: string, width: number): JSX.Element {
  const { column, points } = charted;
  const values = points.map(({ value }) => value);
  const low = Math.min(0, ...values);
  const whole = Math.max(0, ...values) - low || 1;
  const at = (value: number): number => barStart + ((value - low) / whole) * (width - barStart - valueWidth);
  return (
    <svg class={look} viewBox={`0 0 ${width} ${points.length * step}`} role="img" aria-label={label}>
      {points.map(({ label: name, value }, index) => {
        const from = at(Math.min(0, value));
        const to = at(Math.max(0, value));
        const middle = (index + 0.5) * step;
        return (
          <g key={index}>
            <text x={barStart - 10} y={middle + 4} text-anchor="end">
              <title>{name}</title>
              {name.length > labelMax ? `${name.slice(0, labelMax - 1)}…` : name}
            </text>
            <rect
              x={from}
              y={middle - 14}
              width={Math.max(1, to - from)}
              height={step - 10}
              rx={3}
              fill={label.startsWith(`${name} has`) ? "var(--coral)" : "var(--petrol2)"}
            />
            <text x={to + 7} y={middle + 4} class="lab">
              {numberText(column, value)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

const ResultTable = ({ result, form }: SqlResultViewProps): JSX.Element => {
  const { rows, columns, total } = result;
  const numbers = columns.filter((column) => isNumberColumn(result, column));
  const sort = result.sort ?? numbers.map((column) => orderBy(rows, column)).find((order) => order !== undefined);
  const by = columns.find((column) => column === sort?.replace(/^-/, ""));
  const isPart = total > rows.length;
  const sortable = columns.map((column) => ({
    title: column,
    sort: column,
    value: (row: ResultRow) => plainOf(row.get(column)),
  }));
  return (
    <Sheet
      title={amountOf(total, "row")}
      of={isPart ? `The first ${rows.length} are shown; a file has all.` : undefined}
      tools={["csv", "parquet", "arrow"].map((format) => (
        <button type="submit" key={format} form={form} formAction="/sql/file" name="format" value={format}>
          {format === "csv" ? "CSV" : format.replace(/^./, (letter) => letter.toUpperCase())}
        </button>
      ))}
    >
      <DataTable
        label="Result"
        empty={isPart ? "The first row is too long for a page." : "The query returned no rows."}
        rows={sortedRows(rows, sortable, sort)}
        columns={columns.map((column) => ({
          title: (
            <button type="submit" class="plain" form={form} name="sort" value={sort === column ? `-${column}` : column}>
              {column}
              {by === column ? (sort === column ? " ↑" : " ↓") : ""}
            </button>
          ),
          isNumber: numbers.includes(column),
          cell: (row: ResultRow) => cellOf(column, row.get(column)),
        }))}
      />
    </Sheet>
  );
};

const plainOf = (value: unknown): number | string | null =>
  typeof value === "number" ? value : value === null || value === undefined ? null : String(value);

function cellOf(column: string, value: unknown): ComponentChildren {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return numberText(column, value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
