/** The days of a market: each measure of all searches, side by side, as the table of the page, as those of its figures, and as CSV. */
import type { JSX } from "preact";
import { type Numbers, numbersUrl } from "../components/numbers.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { pointLabel } from "../sentences/market.ts";
import { capital, things } from "../sentences/words.ts";
import { count, dollars } from "../shell/format.ts";
import { type MarketSearch, marketPath } from "./market-search.ts";
import { type DayRow, type MarketMetric, rowsOf, type ShownMarket } from "./market-trends.ts";

/** The days that are shown beside the charts. */
const daysMin = 8;

type DayColumn = Numbers<DayRow>["columns"][number];

interface Measure {
  readonly metric: MarketMetric;
  readonly format: (value: number) => string;
  readonly titleOf: (search: MarketSearch) => string;
}

/** Formats a number of days, with one decimal if it needs it. */
export const tenths = (value: number): string => String(Math.round(value * 10) / 10);

const measures: readonly Measure[] = [
  { metric: "price.median", format: dollars, titleOf: ({ name }) => name },
  { metric: "count", format: count, titleOf: ({ plural }) => plural },
  { metric: "days_on_market.median", format: tenths, titleOf: ({ name }) => `${name} days` },
  { metric: "sold", format: count, titleOf: ({ plural }) => `${plural} sold` },
];

/** Returns the days with one measure, or with all and the gap of the prices. */
export function numbersOfDays({ trends, period }: ShownMarket, only?: MarketMetric): Numbers<DayRow> {
  const day: DayColumn = {
    title: capital(trends[0]?.points[0]?.interval ?? "day"),
    sort: "day",
    value: ([point]) => point?.start,
    cell: ([point]) => <span class="nb">{point === undefined ? "" : pointLabel(point, period.asOf)}</span>,
  };
  const gap: DayColumn = { title: "Gap", sort: "gap", value: gapOf, format: dollars };
  const each = ({ metric, format, titleOf }: Measure) =>
    trends.map(
      ({ search }, index): DayColumn => ({
        title: capital(titleOf(search)),
        sort: `${metric.replaceAll(".", "_")}${index === 0 ? "" : "_against"}`,
        value: (row) => row[index]?.[metric],
        format,
      }),
    );
  const shown = measures.filter(({ metric }) => only === undefined || metric === only);
  const [first = [], ...others] = shown.map(each);
  const gaps = only === undefined && trends.length > 1 ? [gap] : [];
  return { columns: [day, ...first, ...gaps, ...others.flat()], rows: rowsOf(trends) };
}

function gapOf([own, other]: DayRow): number | null {
  const before = own?.["price.median"] ?? null;
  const after = other?.["price.median"] ?? null;
  return before === null || after === null ? null : after - before;
}

export const DaysSheet = ({ market }: { readonly market: ShownMarket }): JSX.Element => {
  const { trends, query } = market;
  const unit = trends[0]?.points[0]?.interval ?? "day";
  const days = numbersOfDays(market);
  const isWhole = query.get("view") === "table" || days.rows.length <= daysMin;
  return (
    <TableSheet
      title={`The ${unit}s`}
      id="table"
      end={
        <a href={numbersUrl(days)} download="table.csv">
          CSV
        </a>
      }
      tools={
        isWhole ? undefined : (
          <a href={`${marketPath(query, { view: "table" })}#table`}>
            {things(days.rows.length - daysMin, `more ${unit}`)}
          </a>
        )
      }
      {...days}
      rowsMax={isWhole ? undefined : daysMin}
      sorts={{ path: "/market", query }}
      first="-day"
    />
  );
};
