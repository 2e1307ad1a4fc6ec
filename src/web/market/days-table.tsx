/** The table of a market's days: medians, gap, stock, days on the lot and sales of each search; on the page, as CSV and as Parquet. */
import type { JSX } from "preact";
import type { Json } from "../../base/json.ts";
import type { Column as FileColumn, Table as FileTable } from "../../contract/tables.ts";
import { TableEncoder } from "../../formats/table-encoder.ts";
import { encodeCsv } from "../../formats/table-formats.ts";
import { Button } from "../components/button.tsx";
import type { TableColumn } from "../components/table.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { pointLabel } from "../sentences/market.ts";
import { capital, things } from "../sentences/words.ts";
import { changedPath } from "../shell/address.ts";
import { count, dollars } from "../shell/format.ts";
import type { ShownMarket } from "./market-figures.tsx";
import { type MarketSearch, marketPath } from "./market-search.ts";
import { type DayRow, type MarketPoint, rowsOf, type SearchTrend } from "./market-trends.ts";

/** The days that are shown beside the charts. */
const daysMin = 8;

interface DayColumn extends TableColumn<DayRow> {
  /** Its name in files and in the order of the address. */
  readonly sort: string;
  readonly value: (row: DayRow) => number | null;
  /** Whether only the whole table and its files have it. */
  readonly isFull?: boolean;
}

const decimal = (value: number): string => String(Math.round(value * 10) / 10);

type Metric = Exclude<keyof MarketPoint & string, "start" | "end" | "interval" | "days">;

/** Returns the columns of the days: each measure of all searches, side by side. */
function columnsOf(trends: readonly SearchTrend[]): readonly DayColumn[] {
  const each = (metric: Metric, format: (value: number) => string, titleOf: (search: MarketSearch) => string) =>
    trends.map(
      ({ search }, index): DayColumn => ({
        title: capital(titleOf(search)),
        sort: `${metric.replaceAll(".", "_")}${index === 0 ? "" : "_against"}`,
        value: (row) => row[index]?.[metric] ?? null,
        format,
        isFull: metric === "sold",
      }),
    );
  const gap: DayColumn = { title: "Gap", sort: "gap", value: gapOf, format: dollars };
  return [
    ...each("price.median", dollars, ({ name }) => name),
    ...(trends.length > 1 ? [gap] : []),
    ...each("count", count, ({ plural }) => plural),
    ...each("days_on_market.median", decimal, ({ name }) => `${name} days`),
    ...each("sold", count, ({ plural }) => `${plural} sold`),
  ];
}

function gapOf([own, other]: DayRow): number | null {
  const before = own?.["price.median"] ?? null;
  const after = other?.["price.median"] ?? null;
  return before === null || after === null ? null : after - before;
}

export const DaysSheet = ({ market: { trends, period, query } }: { readonly market: ShownMarket }): JSX.Element => {
  const isFull = query.get("view") === "table";
  const unit = trends[0]?.points[0]?.interval === "week" ? "week" : "day";
  const columns: readonly TableColumn<DayRow>[] = [
    {
      title: capital(unit),
      sort: "day",
      value: ([point]) => point?.start,
      cell: ([point]) => <span class="nb">{point === undefined ? "" : pointLabel(point, period.asOf)}</span>,
    },
    ...columnsOf(trends).filter((column) => isFull || column.isFull !== true),
  ];
  const rows = rowsOf(trends);
  const rowsMax = isFull ? rows.length : daysMin;
  return (
    <TableSheet
      title={`The ${unit}s`}
      id="table"
      end={
        <span class="line">
          {(["csv", "parquet"] as const).map((format) => (
            <Button key={format} isSmall href={filePath(query, format)}>
              {format === "csv" ? "CSV" : "Parquet"}
            </Button>
          ))}
        </span>
      }
      tools={
        rows.length <= rowsMax ? undefined : (
          <a href={`${marketPath(query, { view: "table" })}#table`}>{things(rows.length - rowsMax, `more ${unit}`)}</a>
        )
      }
      rows={rows}
      rowsMax={rowsMax}
      sorts={{ path: "/market", query }}
      first="-day"
      columns={columns}
    />
  );
};

const filePath = (query: URLSearchParams, format: "csv" | "parquet"): string =>
  changedPath(`/market.${format}`, query, { view: undefined, numbers: undefined });

/** Returns the days as a table of files: the first and the last day of each interval, then the columns. */
function fileTable(trends: readonly SearchTrend[]): FileTable {
  const columns = columnsOf(trends);
  const day = (name: string): FileColumn => ({ name, type: { kind: "date" }, isNullable: false });
  const number = (name: string): FileColumn => ({ name, type: { kind: "number" }, isNullable: true });
  return {
    columns: [day("start"), day("end"), ...columns.map(({ sort }) => number(sort))],
    rows: rowsOf(trends).map((row) => ({
      start: row[0]?.start ?? "",
      end: row[0]?.end ?? "",
      ...Object.fromEntries(columns.map(({ sort, value }): [string, Json] => [sort, value(row)])),
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
