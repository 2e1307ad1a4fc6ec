/** The month's spending: its sum, day by day, against the spend cap and the balance, and the charges of each day. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import type { UsageRange, UsageRow } from "../../accounts/ledger/usage.ts";
import { epochDay, plusDays } from "../../base/day.ts";
import { type Axis, dayAxis, percentText, roundAxis, timeOfDay } from "../charts/axis.ts";
import { ChartFigure } from "../charts/chart-figure.tsx";
import { PlotArea } from "../charts/plot-area.tsx";
import { day as dayText, monthName, usd } from "../shell/format.ts";

/** Returns the days of the UTC month up to a day. */
export const monthRange = (today: string): UsageRange => ({
  ...{ startDate: `${today.slice(0, 7)}-01`, endDate: today, classes: undefined },
});

interface DaySpending {
  readonly day: string;
  readonly micros: number;
  /** The sum of the month up to the end of the day. */
  readonly sumMicros: number;
}

/** A sum at which requests that cost money are refused. */
interface SpendingLimit {
  readonly name: "cap" | "balance";
  readonly micros: number;
}

interface Forecast {
  /** The sum at the month's end at the pace of its days so far, or at the first limit. */
  readonly micros: number;
  readonly day: string;
  /** The limit that is reached within the month. */
  readonly limit: SpendingLimit | undefined;
}

interface SpendingChartProps {
  readonly account: Account;
  /** Usage of `monthRange`. */
  readonly rows: readonly UsageRow[];
  readonly today: string;
}

export const SpendingChart = ({ account, rows, today }: SpendingChartProps): JSX.Element => {
  const { capMicros, balanceMicros } = account;
  const days = spendingOf(rows, today);
  const spentMicros = days.at(-1)?.sumMicros ?? 0;
  const limits: readonly SpendingLimit[] = [
    ...(capMicros === null ? [] : [{ name: "cap", micros: capMicros } as const]),
    { name: "balance", micros: spentMicros + balanceMicros },
  ];
  const forecast = forecastOf(spentMicros, today, limits);
  const plot = { days, limits, forecast };
  return (
    <ChartFigure
      id="spending"
      title="Spending"
      note={`${monthName(today)} by UTC day, and its sum: ${usd(spentMicros)} ${
        capMicros === null ? "without a spend cap" : `of a cap of ${usd(capMicros)}`
      }. The balance is ${usd(balanceMicros)}. ${spentMicros === 0 ? "" : outlookOf(forecast)}`}
      empty={`No charges in ${monthName(today)}.`}
      numbers={{
        columns: [
          { name: "date", title: "Day" },
          { name: "charged_micros", title: "Charges", format: usd },
          { name: "sum_micros", title: "Sum", format: usd },
        ],
        rows: spentMicros === 0 ? [] : days.toReversed().map(({ day, micros, sumMicros }) => [day, micros, sumMicros]),
      }}
    >
      <SumPlot {...plot} />
      <DayPlot {...plot} />
    </ChartFigure>
  );
};

function spendingOf(rows: readonly UsageRow[], today: string): readonly DaySpending[] {
  const days: DaySpending[] = [];
  for (let day = monthRange(today).startDate; day <= today; day = plusDays(day, 1)) {
    const micros = rows.reduce((sum, row) => (row.date === day ? sum + row.charged_micros : sum), 0);
    days.push({ day, micros, sumMicros: micros + (days.at(-1)?.sumMicros ?? 0) });
  }
  return days;
}

const lastDayOf = (day: string): string => plusDays(`${plusDays(`${day.slice(0, 7)}-01`, 31).slice(0, 7)}-01`, -1);

function forecastOf(spentMicros: number, today: string, limits: readonly SpendingLimit[]): Forecast {
  const end = lastDayOf(today);
  const pace = spentMicros / Number(today.slice(-2));
  const micros = spentMicros + pace * (epochDay(end) - epochDay(today));
  const [limit] = limits.filter((one) => one.micros <= micros).sort((a, b) => a.micros - b.micros);
  if (limit === undefined) return { micros, day: end, limit };
  const daysLeft = pace === 0 ? 0 : Math.max(0, Math.ceil((limit.micros - spentMicros) / pace));
  return { micros: Math.max(limit.micros, spentMicros), day: plusDays(today, daysLeft), limit };
}

const ends = { cap: "the cap is reached", balance: "the balance is used up" } as const;

const outlookOf = ({ limit, day, micros }: Forecast): string =>
  `At this pace, ${
    limit === undefined
      ? `the month ends at ${usd(Math.round(micros / 10_000) * 10_000)}`
      : `${ends[limit.name]} on ${dayText(day)}`
  }.`;

interface PlotProps {
  readonly days: readonly DaySpending[];
  readonly limits: readonly SpendingLimit[];
  readonly forecast: Forecast;
}

/** Returns an axis from the beginning of the month to its end. */
const monthAxis = ([first]: readonly DaySpending[]): Axis =>
  dayAxis(first?.day ?? "", plusDays(lastDayOf(first?.day ?? ""), 1));

const endOf = (day: string): number => timeOfDay(plusDays(day, 1));

const SumPlot = ({ days, limits, forecast }: PlotProps): JSX.Element => {
  const cap = limits.find(({ name }) => name === "cap");
  const y = roundAxis([0, Math.max(forecast.micros, cap?.micros ?? 0)], usd, 3);
  const x = monthAxis(days);
  const at = (day: string, micros: number) => [x.at(endOf(day)), 100 - y.at(micros)] as const;
  const last = days.at(-1);
  const [nowX, nowY] = at(last?.day ?? "", last?.sumMicros ?? 0);
  const [endX, endY] = at(forecast.day, forecast.micros);
  return (
    <PlotArea
      label={`The sum of the month: ${usd(last?.sumMicros ?? 0)}${cap === undefined ? "" : ` of a cap of ${usd(cap.micros)}`}`}
      x={{ ...x, ticks: [] }}
      y={y}
      height={130}
    >
      {limits.map(({ name, micros }) =>
        y.at(micros) > 100 ? null : (
          <g key={name} class="limit">
            <line x1="0%" x2="100%" y1={percentText(100 - y.at(micros))} y2={percentText(100 - y.at(micros))} />
            <text x="100%" y={percentText(100 - y.at(micros))} dy="-0.5em" text-anchor="end">
              {name === "cap" ? `cap ${usd(micros)}` : "balance used up"}
            </text>
          </g>
        ),
      )}
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" class="lines" aria-hidden="true">
        <path class="line" d={`M0,100L${days.map(({ day, sumMicros }) => at(day, sumMicros).join()).join("L")}`} />
      </svg>
      <line
        class="line forecast"
        x1={percentText(nowX)}
        y1={percentText(nowY)}
        x2={percentText(Math.min(100, endX))}
        y2={percentText(endY)}
      />
      <circle class="mark" cx={percentText(nowX)} cy={percentText(nowY)} r="3.5" />
      <text
        class="sum"
        x={percentText(nowX)}
        y={percentText(nowY)}
        dy="1.6em"
        text-anchor={nowX > 80 ? "end" : "start"}
      >
        {usd(last?.sumMicros ?? 0)}
      </text>
    </PlotArea>
  );
};

const DayPlot = ({ days }: PlotProps): JSX.Element => {
  const x = monthAxis(days);
  const max = Math.max(...days.map(({ micros }) => micros));
  const y = roundAxis([0, max], usd, 1);
  const width = x.at(endOf(days[0]?.day ?? ""));
  return (
    <PlotArea label={`Charges a day: at most ${usd(max)}`} x={x} y={y} height={56}>
      {days.map(({ day, micros }) => (
        <rect
          key={day}
          class={day === days.at(-1)?.day ? "bar" : "bar faint"}
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
