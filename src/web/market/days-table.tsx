/** The table of a market's days: medians, gap, stock, days on the lot and sales of each search; on the page, as CSV and as Parquet. */
import type { JSX } from "preact";
import type { Json } from "../../base/json.ts";
import type { Column as FileColumn, Table as FileTable } from "../../contract/tables.ts";
import { TableEncoder } from "../../formats/table-encoder.ts";
import { encodeCsv } from "../../formats/table-formats.ts";
import { Button } from "../components/button.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable, type TableColumn } from "../components/table.tsx";
import { pointLabel } from "../sentences/market.ts";
import { capital } from "../sentences/words.ts";
import { count, dollars } from "../shell/format.ts";
import type { ShownMarket } from "./market-figures.tsx";
import { marketPath } from "./market-search.ts";
import type { MarketPoint, SearchTrend } from "./market-trends.ts";

/** The days that are shown beside the charts. */
const daysMin = 8;

/** A day: the point of each search. */
type DayRow = readonly MarketPoint[];

interface DayColumn {
  /** Its name in files and in the order of the address. */
  readonly name: string;
  readonly title: string;
  readonly cellOf: (row: DayRow) => number | null;
  readonly format: (value: number) => string;
  /** Whether only the whole table and its files have it. */
  readonly isFull?: boolean;
}

const decimal = (value: number): string => String(Math.round(value * 10) / 10);
const price = (value: number): string => dollars(Math.round(value));

type Metric = Exclude<keyof MarketPoint & string, "start" | "end" | "interval" | "days">;

/** Returns the columns of the days: each measure of all searches, side by side. */
function columnsOf(trends: readonly SearchTrend[]): readonly DayColumn[] {
  const each = (metric: Metric, format: DayColumn["format"], wordsOf: (trend: SearchTrend) => string, isFull = false) =>
    trends.map((trend, index): DayColumn => {
      const title = capital(wordsOf(trend));
      const name = `${metric.replaceAll(".", "_")}${index === 0 ? "" : "_against"}`;
      return { name, title, format, isFull, cellOf: (row) => row[index]?.[metric] ?? null };
    });
  const gap: DayColumn = { name: "gap", title: "Gap", format: price, cellOf: gapOf };
  return [
    ...each("price.median", price, ({ search }) => search.name),
    ...(trends.length > 1 ? [gap] : []),
    ...each("count", count, ({ search }) => search.plural),
    ...each("days_on_market.median", decimal, ({ search }) => `${search.name} days`),
    ...each("sold", count, ({ search }) => `${search.plural} sold`, true),
  ];
}

function gapOf([own, other]: DayRow): number | null {
  const before = own?.["price.median"] ?? null;
  const after = other?.["price.median"] ?? null;
  return before === null || after === null ? null : after - before;
}

const rowsOf = (trends: readonly SearchTrend[]): readonly DayRow[] =>
  (trends[0]?.points ?? []).map((_, index) => trends.flatMap(({ points }) => points[index] ?? []));

/** Returns rows in the order of the address: `day` or the name of a column, after `-` if it descends. Unknown values are last. */
function sorted(rows: readonly DayRow[], columns: readonly DayColumn[], sort: string): readonly DayRow[] {
  const sign = sort.startsWith("-") ? -1 : 1;
  const column = columns.find(({ name }) => name === sort.replace(/^-/, ""));
  if (column === undefined) return sign < 0 ? [...rows].reverse() : rows;
  return [...rows].sort((one, other) => {
    const value = column.cellOf(one);
    const next = column.cellOf(other);
    if (value === null || next === null) return Number(value === null) - Number(next === null);
    return sign * (value - next);
  });
}

const newestFirst = "-day";

export const DaysSheet = ({ market }: { readonly market: ShownMarket }): JSX.Element => {
  const { trends, period, query } = market;
  const isFull = query.get("view") === "table";
  const columns = columnsOf(trends).filter((column) => isFull || column.isFull !== true);
  const all = rowsOf(trends);
  const sort = query.get("sort") ?? newestFirst;
  const rows = sorted(all, columns, sort).slice(0, isFull ? all.length : daysMin);
  const unit = trends[0]?.points[0]?.interval === "week" ? "week" : "day";
  const more = all.length - rows.length;
  return (
    <Sheet
      title={`The ${unit}s`}
      id="table"
      end={
        <span class="line">
          <Button isSmall href={filePath(query, "csv")}>
            CSV
          </Button>
          <Button isSmall href={filePath(query, "parquet")}>
            Parquet
          </Button>
        </span>
      }
      tools={
        more === 0 ? undefined : (
          <a
            href={`${marketPath(query, { view: "table" })}#table`}
          >{`${count(more)} more ${unit}${more === 1 ? "" : "s"}`}</a>
        )
      }
    >
      <DataTable
        label={`The ${unit}s`}
        rows={rows}
        sorting={{
          current: sort,
          pathOf: (next) => `${marketPath(query, { sort: next === newestFirst ? undefined : next })}#table`,
        }}
        columns={[
          {
            title: unit === "week" ? "Week" : "Day",
            sort: "day",
            cell: ([point]: DayRow) => (
              <span class="nb">{point === undefined ? "" : pointLabel(point, period.asOf)}</span>
            ),
          },
          ...columns.map(
            ({ name, title, cellOf, format }): TableColumn<DayRow> => ({
              title,
              sort: name,
              isNumber: true,
              cell: (row) => known(cellOf(row), format),
            }),
          ),
        ]}
      />
    </Sheet>
  );
};

const known = (value: number | null, format: (value: number) => string): string =>
  value === null ? "–" : format(value);

const filePath = (query: URLSearchParams, format: "csv" | "parquet"): string =>
  marketPath(query, { view: undefined, sort: undefined, numbers: undefined }).replace(/^\/market/, `/market.${format}`);

/** Returns the days as a table of files: the first and the last day of each interval, then the columns. */
function fileTable(trends: readonly SearchTrend[]): FileTable {
  const columns = columnsOf(trends);
  const day = (name: string): FileColumn => ({ name, type: { kind: "date" }, isNullable: false });
  const number = (name: string): FileColumn => ({ name, type: { kind: "number" }, isNullable: true });
  return {
    columns: [day("start"), day("end"), ...columns.map(({ name }) => number(name))],
    rows: rowsOf(trends).map((row) => ({
      start: row[0]?.start ?? "",
      end: row[0]?.end ?? "",
      ...Object.fromEntries(columns.map(({ name, cellOf }): [string, Json] => [name, cellOf(row)])),
    })),
    metadata: {},
  };
}

/** Returns the days as the bytes of a file. */
export async function encodeDays(trends: readonly SearchTrend[], format: "csv" | "parquet"): Promise<Buffer> {
  const table = fileTable(trends);
  if (format === "csv") return Buffer.from(encodeCsv(table));
  const encoder = new TableEncoder();
  try {
    return await encoder.encode(format, table);
  } finally {
    await encoder.close();
  }
}
