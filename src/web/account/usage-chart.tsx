/** Usage by day and usage class, as a chart with its numbers. */
import type { JSX } from "preact";
import type { UsageRange, UsageRow } from "../../accounts/ledger/usage.ts";
import { plusDays } from "../../base/day.ts";
import { ChartFigure } from "../charts/chart-figure.tsx";
import { type DayBar, DayBarsPlot } from "../charts/day-bars-plot.tsx";
import { count, usd } from "../shell/format.ts";
import { purposeOf } from "./entry-table.tsx";

interface UsageChartProps {
  readonly title: string;
  readonly range: UsageRange;
  readonly rows: readonly UsageRow[];
  readonly measure: "requests" | "charged_micros";
}

/** The usage classes with a separate series; the smaller ones share the last series. */
const seriesMax = 4;

export const UsageChart = ({ title, range, rows, measure }: UsageChartProps): JSX.Element => {
  const names = seriesOf(rows, measure);
  const format = measure === "requests" ? count : usd;
  const total = rows.reduce((sum, row) => sum + row[measure], 0);
  return (
    <ChartFigure
      id={`usage-${measure.replaceAll("_", "-")}`}
      title={title}
      note={`${format(total)} in all, by UTC day.`}
      names={names.map(purposeOf)}
      empty="No requests in these days."
      numbers={{
        columns: [
          { name: "date", title: "Day" },
          { name: "metering_class", title: "Class" },
          { name: measure, title, format },
        ],
        rows: rows.toReversed().map((row) => [row.date, purposeOf(row.metering_class), row[measure]]),
      }}
    >
      <DayBarsPlot title={title} bars={barsOf(range, rows, { names, measure })} format={format} />
    </ChartFigure>
  );
};

const otherClasses = "other";

/** Returns the classes with the largest sums, largest first, and the other classes if there are more. */
function seriesOf(rows: readonly UsageRow[], measure: UsageChartProps["measure"]): readonly string[] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.metering_class, (sums.get(row.metering_class) ?? 0) + row[measure]);
  const names = [...sums].sort(([, a], [, b]) => b - a).map(([name]) => name);
  return names.length <= seriesMax + 1 ? names : [...names.slice(0, seriesMax), otherClasses];
}

/** Returns a bar for each day of a range, with the sum of each named class. */
function barsOf(
  { startDate, endDate }: UsageRange,
  rows: readonly UsageRow[],
  { names, measure }: { readonly names: readonly string[]; readonly measure: UsageChartProps["measure"] },
): readonly DayBar[] {
  const bars = new Map<string, number[]>();
  for (let day = startDate; day <= endDate; day = plusDays(day, 1)) bars.set(day, Array(names.length).fill(0));
  for (const row of rows) {
    const index = names.indexOf(names.includes(row.metering_class) ? row.metering_class : otherClasses);
    const values = bars.get(row.date);
    if (values !== undefined) values[index] = (values[index] ?? 0) + row[measure];
  }
  return [...bars].map(([day, values]) => ({ day, values }));
}
