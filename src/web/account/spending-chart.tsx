/** The month's spending: its sum, day by day, against the spend cap and the balance, and the charges of each day. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import type { UsageRange, UsageRow } from "../../accounts/ledger/usage.ts";
import { epochDay, plusDays } from "../../base/day.ts";
import { type Axis, dayAxis, percentText, roundAxis, timeOfDay } from "../charts/axis.ts";
import { ChartFigure } from "../charts/chart-figure.tsx";
import { Lines } from "../charts/lines.tsx";
import { PlotArea } from "../charts/plot-area.tsx";
import { day as dayText, monthName, usd } from "../shell/format.ts";

/** Returns the days of the UTC month up to a day. */
export const monthRange = (today: string): UsageRange => ({
  startDate: `${today.slice(0, 7)}-01`,
  endDate: today,
  classes: undefined,
});

interface Spending {
  readonly days: readonly { readonly day: string; readonly micros: number; readonly sumMicros: number }[];
  readonly sumMicros: number;
  /** The last day of the month. */
  readonly end: string;
  /** The sums at which requests that cost money are refused. */
  readonly limits: readonly (readonly [name: "cap" | "balance", micros: number])[];
}

function spendingOf({ capMicros, balanceMicros }: Funds, rows: readonly UsageRow[], today: string): Spending {
  const { startDate } = monthRange(today);
  const end = plusDays(`${plusDays(startDate, 31).slice(0, 7)}-01`, -1);
  const days: Spending["days"][number][] = [];
  let sumMicros = 0;
  for (let day = startDate; day <= today; day = plusDays(day, 1)) {
    const micros = rows.reduce((sum, row) => (row.date === day ? sum + row.charged_micros : sum), 0);
    sumMicros += micros;
    days.push({ day, micros, sumMicros });
  }
  const cap = capMicros === null ? [] : [["cap", capMicros] as const];
  return { days, sumMicros, end, limits: [...cap, ["balance", sumMicros + balanceMicros]] };
}

interface Forecast {
  readonly day: string;
  readonly micros: number;
  readonly text: string;
}

/** Returns where the sum of a month is at its end, at the pace of its days so far, or when it reaches its first limit before. */
function forecastOf({ days, sumMicros, end, limits }: Spending): Forecast {
  const today = days.at(-1)?.day ?? end;
  const pace = sumMicros / days.length;
  const micros = sumMicros + pace * (epochDay(end) - epochDay(today));
  const [limit] = limits.filter(([, at]) => at <= micros).sort(([, a], [, b]) => a - b);
  if (limit === undefined)
    return { day: end, micros, text: `the month ends at ${usd(Math.round(micros / 10_000) * 10_000)}` };
  const [name, at] = limit;
  const day = plusDays(today, Math.max(0, Math.ceil((at - sumMicros) / (pace || 1))));
  const reached = name === "cap" ? "the cap is reached" : "the balance is used up";
  return { day, micros: Math.max(at, sumMicros), text: `${reached} on ${dayText(day)}` };
}

type Funds = Pick<Account, "capMicros" | "balanceMicros">;

interface SpendingChartProps {
  readonly account: Funds;
  /** Usage of `monthRange`. */
  readonly rows: readonly UsageRow[];
  readonly today: string;
}

export const SpendingChart = ({ account, rows, today }: SpendingChartProps): JSX.Element => {
  const { capMicros, balanceMicros } = account;
  const spending = spendingOf(account, rows, today);
  const { days, sumMicros } = spending;
  const forecast = forecastOf(spending);
  const spent = `${usd(sumMicros)} ${capMicros === null ? "without a spend cap" : `of a cap of ${usd(capMicros)}`}`;
  const outlook = sumMicros === 0 ? "" : ` At this pace, ${forecast.text}.`;
  return (
    <ChartFigure
      id="spending"
      title="Spending"
      note={`${monthName(today)} by UTC day, and its sum: ${spent}. The balance is ${usd(balanceMicros)}.${outlook}`}
      empty={`No charges in ${monthName(today)}.`}
      numbers={{
        columns: [
          { name: "date", title: "Day" },
          { name: "charged_micros", title: "Charges", format: usd },
          { name: "sum_micros", title: "Sum", format: usd },
        ],
        rows: sumMicros === 0 ? [] : days.toReversed().map(({ day, micros, sumMicros }) => [day, micros, sumMicros]),
      }}
    >
      <SumPlot spending={spending} forecast={forecast} label={`The sum of the month: ${spent}`} />
      <DayPlot spending={spending} />
    </ChartFigure>
  );
};

const monthAxis = ({ days, end }: Spending): Axis => dayAxis([days[0]?.day ?? "", plusDays(end, 1)]);

const endOf = (day: string): number => timeOfDay(plusDays(day, 1));

interface SumPlotProps {
  readonly label: string;
  readonly spending: Spending;
  readonly forecast: Forecast;
}

/** The sum at the end of each day, its forecast, and the limits that it reaches; the cap always. */
const SumPlot = ({ label, spending, forecast }: SumPlotProps): JSX.Element => {
  const { days, limits, sumMicros } = spending;
  const caps = limits.flatMap(([name, micros]) => (name === "cap" ? [micros] : []));
  const x = monthAxis(spending);
  const y = roundAxis([0, Math.max(forecast.micros, ...caps)], usd, 3);
  const top = (micros: number): string => percentText(100 - y.at(micros));
  const [now, later] = [days.at(-1)?.day ?? "", forecast.day].map((day) => Math.min(100, x.at(endOf(day))));
  const here = { x: percentText(now ?? 0), y: top(sumMicros) };
  const points = days.map((day) => `${x.at(endOf(day.day))},${100 - y.at(day.sumMicros)}`);
  return (
    <PlotArea label={label} x={{ ...x, ticks: [] }} y={y} height={130}>
      {limits
        .filter(([, micros]) => y.at(micros) <= 100)
        .map(([name, micros]) => (
          <g key={name} class="limit">
            <line x1="0%" x2="100%" y1={top(micros)} y2={top(micros)} />
            <text x="100%" y={top(micros)} dy="-0.5em" text-anchor="end">
              {name === "cap" ? `cap ${usd(micros)}` : "balance used up"}
            </text>
          </g>
        ))}
      <Lines paths={[["spent", `M0,100L${points.join("L")}`]]} />
      <line class="line forecast" x1={here.x} y1={here.y} x2={percentText(later ?? 0)} y2={top(forecast.micros)} />
      <circle class="mark" cx={here.x} cy={here.y} r="3.5" />
      <text class="sum" {...here} dy="1.6em" text-anchor={(now ?? 0) > 80 ? "end" : "start"}>
        {usd(sumMicros)}
      </text>
    </PlotArea>
  );
};

const DayPlot = ({ spending }: { readonly spending: Spending }): JSX.Element => {
  const { days } = spending;
  const max = Math.max(...days.map(({ micros }) => micros));
  const x = monthAxis(spending);
  const y = roundAxis([0, max], usd, 1);
  const width = x.at(endOf(days[0]?.day ?? ""));
  return (
    <PlotArea label={`Charges a day: at most ${usd(max)}`} x={x} y={y} height={56}>
      {days.map(({ day, micros }, index) => (
        <rect
          key={day}
          class={index === days.length - 1 ? "bar" : "bar faint"}
          x={percentText(x.at(timeOfDay(day)) + width * 0.08)}
          width={percentText(width * 0.84)}
          y={percentText(100 - y.at(micros))}
          height={percentText(y.at(micros))}
        >
          <title>{`${day}: ${usd(micros)}`}</title>
        </rect>
      ))}
      <text x="100%" y="0" dy="-0.5em" text-anchor="end">
        a day
      </text>
    </PlotArea>
  );
};
