/** Revenue of a month: the charges by day, class and account, and the credits sold, beside the month before; the charges are also a CSV file. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { dayOf } from "../../accounts/clock.ts";
import {
  listRevenue,
  type RevenueDays,
  type RevenueRow,
  type RevenueSums,
  sumRevenue,
} from "../../accounts/ledger/revenue.ts";
import { formatUsd } from "../../accounts/money.ts";
import { shownState } from "../../accounts/policy/billing-state.ts";
import { lastDayIn, plusDays } from "../../base/day.ts";
import { refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import { escapeFormula } from "../../formats/table-formats.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { purposeOf } from "../account/charges.tsx";
import { Chart } from "../charts/chart.tsx";
import type { Mark } from "../charts/marks.tsx";
import { dayScale, numberScale, valueOfDay } from "../charts/scale.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Figure } from "../components/figure.tsx";
import { sortingOf } from "../components/numbers.tsx";
import { Meter, type TableColumn } from "../components/table.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import {
  addedUp,
  classesTitle,
  dryTitle,
  type MonthRevenue,
  monthChange,
  paceOf,
  revenueVerdict,
  roundMoney,
  runTitle,
} from "../sentences/operate.ts";
import { csvOfChunks } from "../shell/file-download.ts";
import { count, money, monthName, usd, wholePercent } from "../shell/format.ts";
import type { PageHandler, PageVisit } from "../shell/pages.tsx";
import { AccountLink, operatePage } from "./operate-page.tsx";

const path = "/operate/revenue";
const accountsMax = 500;

/** A month until its newest day, and the month before. */
interface Month {
  readonly day: string;
  readonly start: string;
  readonly end: string;
  readonly beforeStart: string;
}

/** Returns the month of an address, or the present one without any. Refuses a later one. */
export function monthIn(query: URLSearchParams, nowMs: number): Month {
  const today = dayOf(nowMs);
  const present = today.slice(0, 7);
  const month = query.get("month") ?? present;
  if (month > present) {
    const details = { parameter: "month", value: quoted(month), hint: "" };
    throw refuse("invalid_parameter_value", { ...details, allowed: `a month until ${present}` });
  }
  const start = `${month}-01`;
  const end = lastDayIn(month);
  const isPast = end < today;
  return { day: isPast ? end : today, start, end, beforeStart: `${plusDays(start, -1).slice(0, 7)}-01` };
}

const daysOf = (start: string, end: string): readonly string[] => {
  const days = [start];
  for (let day = plusDays(start, 1); day <= end; day = plusDays(day, 1)) days.push(day);
  return days;
};

export const periodOf = ({ start, day }: Month): RevenueDays => ({ startDate: start, endDate: day });

/** Returns the days of the month before until the same day as the newest, or its last. */
export function sameDaysBefore({ start, day, beforeStart }: Month): RevenueDays {
  const last = plusDays(start, -1);
  const same = `${beforeStart.slice(0, 8)}${day.slice(8)}`;
  return { startDate: beforeStart, endDate: same < last ? same : last };
}

export const revenuePage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ query, visitor }) => {
    const month = monthIn(query, administration.nowMs);
    const wholeBefore = { startDate: month.beforeStart, endDate: plusDays(month.start, -1) };
    const [sums, { days }] = await Promise.all([
      administration.call(sumRevenue, periodOf(month), sameDaysBefore(month), accountsMax),
      administration.call(sumRevenue, periodOf(month), wholeBefore, 1),
    ]);
    const micros = new Map(days.map((one) => [one.date, one.micros]));
    const chargesOf = (list: readonly string[]) => list.map((day) => micros.get(day) ?? 0);
    const creditsOf = (kind: RevenueSums["credits"][number]["kind"]) =>
      sums.credits
        .filter((one) => one.kind === kind && one.date >= month.start)
        .reduce((sum, one) => sum + one.micros, 0);
    const revenue: MonthRevenue = {
      day: month.day,
      charges: chargesOf(daysOf(month.start, month.day)),
      before: chargesOf(daysOf(wholeBefore.startDate, wholeBefore.endDate)),
      topCharge: sums.accounts[0]?.micros,
      credits: creditsOf("paid"),
      promotional: creditsOf("promotional"),
      refunds: Math.abs(creditsOf("chargeback_reversal")),
    };
    const shown = { month, revenue, sums, query };
    return operatePage({
      path,
      title: "Revenue",
      here: `Revenue · ${monthName(month.day)} ${month.day.slice(0, 4)}`,
      visitor,
      judgement: revenueVerdict(revenue),
      children: (
        <>
          <div class="wide2">
            <Run {...shown} />
            <Classes {...shown} />
          </div>
          <Accounts {...shown} />
        </>
      ),
    });
  };

/** Formats an amount of an axis, which is round: with the decimals that it needs. */
const tickText = (micros: number): string => (micros > 0 && micros < 1e7 ? usd(micros) : roundMoney(micros));

interface ShownProps {
  readonly month: Month;
  readonly revenue: MonthRevenue;
  readonly sums: RevenueSums;
  readonly query: URLSearchParams;
}

const Run = ({ month, revenue, query }: ShownProps): JSX.Element => {
  const days = daysOf(month.start, month.end);
  const run = addedUp(revenue.charges);
  const before = addedUp(revenue.before);
  const hasCharges = [...revenue.charges, ...revenue.before].some(Boolean);
  const pace = paceOf(revenue);
  const name = monthName(month.start);
  const nameBefore = monthName(month.beforeStart);
  return (
    <Figure
      id="run"
      title={runTitle(revenue)}
      of={`Charges of all accounts, added up day by day (UTC).${pace === undefined ? "" : " Dotted: at the pace so far."}`}
      numbers={{
        columns: [
          { title: "Day", sort: "day", value: (index) => index + 1, format: count },
          { title: name, sort: "month", value: (index) => revenue.charges[index], format: money },
          { title: nameBefore, sort: "before", value: (index) => revenue.before[index], format: money },
        ],
        rows: days.map((_, index) => index),
        sorting: sortingOf("run", path, query),
      }}
    >
      {hasCharges ? (
        <Chart
          label={`${name} beside ${nameBefore}: ${roundMoney(run.at(-1) ?? 0)} in ${run.length} days`}
          width={760}
          height={300}
          x={dayScale(days)}
          y={numberScale([...run, ...before, pace ?? 0], { format: tickText, isFromZero: true })}
          marks={[...(before.some(Boolean) ? [lineOf(days, nameBefore, before)] : []), ...marksOf(days, run, pace)]}
        />
      ) : (
        <p>{`Nothing was charged in ${nameBefore} or ${name}: the chart begins with the first charge.`}</p>
      )}
    </Figure>
  );
};

const lineOf = (days: readonly string[], name: string, sums: readonly number[]) => ({
  mark: "line" as const,
  color: "petrol2" as const,
  name,
  points: sums.slice(0, days.length).map((sum, index) => [valueOfDay(days[index] ?? ""), sum] as const),
});

/** Returns the line of a month; until its last day it goes on, dotted, at the pace so far. */
function marksOf(days: readonly string[], run: readonly number[], pace: number | undefined): readonly Mark[] {
  const total = run.at(-1) ?? 0;
  const line = { ...lineOf(days, roundMoney(pace ?? total), run), color: "petrol" } as const;
  if (pace === undefined) return [line];
  const end = [valueOfDay(days.at(-1) ?? ""), pace] as const;
  const x = valueOfDay(days[run.length - 1] ?? "");
  const title = `${roundMoney(total)} so far`;
  return [
    { ...line, points: [...line.points, end], isUnfinished: true },
    { mark: "dot", color: "petrol", r: 5, x, y: total, title },
  ];
}

const Classes = ({ sums: { classes, total }, query }: ShownProps): JSX.Element => {
  const most = classes[0]?.micros ?? 0;
  return (
    <TableSheet
      id="classes"
      title={classesTitle(purposeOf(classes[0]?.usageClass ?? ""), most, total.micros)}
      of="Charges by class of request."
      label="Charges by class"
      sorts={{ path, query }}
      first="-charged"
      rows={classes.filter(({ micros }) => micros > 0)}
      empty="Nothing was charged in this month."
      columns={[
        { title: "Class", value: ({ usageClass }) => purposeOf(usageClass) },
        {
          title: "Share",
          cell: ({ micros }) => (
            <span class="num">
              <Meter part={micros} whole={most} />
              {wholePercent(micros / total.micros)}
            </span>
          ),
        },
        { title: "Charged", value: ({ micros }) => micros, format: roundMoney },
      ]}
    />
  );
};

const Accounts = ({ month, sums: { accounts }, query }: ShownProps): JSX.Element => {
  const emailsOf = (state: ReturnType<typeof shownState>) =>
    accounts.filter(({ account }) => shownState(account) === state).map(({ account }) => account.email);
  const before = monthName(month.beforeStart);
  return (
    <TableSheet
      id="accounts"
      title={
        accounts.length === 0 ? "No account was charged" : dryTitle(emailsOf("low_balance"), emailsOf("exhausted"))
      }
      end={
        <span class="line">
          <Button isSmall look="quiet" href={`${path}?month=${month.beforeStart.slice(0, 7)}`}>
            {before} alone
          </Button>
          <Button isSmall href={`${path}.csv?month=${month.start.slice(0, 7)}`}>
            CSV
          </Button>
        </span>
      }
      label="Charges by account"
      sorts={{ path, query }}
      first="-charged"
      rows={accounts}
      columns={accountColumns(before)}
      empty="An account stands here from its first charge in a month."
    />
  );
};

/** The words of each state of an account, and the color of its badge. */
const states = {
  active: ["active", "great"],
  new: ["new", "petrol"],
  low_balance: ["low balance", "high"],
  exhausted: ["credit used up", "high"],
  suspended: ["suspended", "plain"],
} as const;

export const StateBadge = ({ account }: { readonly account: Account }): JSX.Element => {
  const [words, look] = states[shownState(account)];
  return <Badge look={look}>{words}</Badge>;
};

/** Returns the columns of a table of accounts with their charges of a month and at the same point of the one before. */
export const accountColumns = (monthBefore: string): readonly TableColumn<RevenueSums["accounts"][number]>[] => [
  {
    title: "Account",
    value: ({ account }) => account.email,
    cell: ({ account: { accountId, email, isOperator } }) => (
      <>
        <AccountLink id={accountId} text={email} />
        {isOperator ? <span class="mute"> operator</span> : null}
      </>
    ),
  },
  { title: "Tier", value: ({ account }) => account.tier, format: count },
  { title: "State", cell: ({ account }) => <StateBadge account={account} /> },
  { title: "Charged", value: ({ micros }) => micros, format: money },
  {
    title: `To ${monthBefore}`,
    sort: "change",
    isNumber: true,
    value: ({ micros, beforeMicros }) => (beforeMicros === 0 ? null : micros / beforeMicros),
    cell: ({ micros, beforeMicros }) => monthChange(micros, beforeMicros),
  },
  { title: "Balance", value: ({ account }) => account.balanceMicros, format: money },
];

/** Returns the charges of a month as CSV, by account, day and class. */
export const revenueDownload =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ query }: PageVisit) => {
    const month = monthIn(query, administration.nowMs);
    const range = periodOf(month);
    const read = (after: RevenueRow | null, limit: number): Promise<readonly RevenueRow[]> =>
      administration.call(listRevenue, range, after, limit);
    return { name: `revenue-${month.start.slice(0, 7)}.csv`, file: csvOfChunks(csvColumns, read, csvRow) };
  };

const csvColumns = ["date", "usage_class", "account_id", "email", "requests", "usd"];

const csvRow = ({ date, usageClass, accountId, email, requests, micros }: RevenueRow) => [
  date,
  usageClass,
  accountId,
  escapeFormula(email),
  String(requests),
  formatUsd(micros),
];
