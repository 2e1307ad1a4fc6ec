/** Revenue of a month: the charges by day, class and account, and the credits sold, beside the month before; the charges are also a CSV file. */
import { Readable } from "node:stream";
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import type { RevenueDays, RevenueRow, RevenueSums } from "../../accounts/ledger/revenue.ts";
import { formatUsd } from "../../accounts/money.ts";
import { shownState } from "../../accounts/policy/billing-state.ts";
import { plusDays } from "../../base/day.ts";
import { csvLines, escapeFormula } from "../../formats/table-formats.ts";
import type { Middleware } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { purposeOf } from "../account/charges.tsx";
import { Chart } from "../charts/chart.tsx";
import type { Mark } from "../charts/marks.tsx";
import { dayScale, numberScale, valueOfDay } from "../charts/scale.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Figure } from "../components/figure.tsx";
import { sortingOf } from "../components/numbers.tsx";
import { Sheet } from "../components/sheet.tsx";
import { Meter } from "../components/table.tsx";
import {
  classesTitle,
  dryTitle,
  type MonthRevenue,
  monthChange,
  revenueVerdict,
  runTitle,
} from "../sentences/operate.ts";
import { count, money, monthName, wholePercent } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { numberColumn, operatePage, operatorOf, type SortedColumn, SortedTable, textColumn } from "./operate-page.tsx";

const path = "/operate/revenue";
const accountsMax = 500;

/** A month until its newest day, and the month before. */
interface Month {
  readonly day: string;
  readonly start: string;
  readonly end: string;
  readonly beforeStart: string;
}

/** Returns the month of an address, or the present one for any other text. */
export function monthIn(query: URLSearchParams, nowMs: number): Month {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const asked = query.get("month") ?? "";
  const month = /^20\d\d-(0[1-9]|1[0-2])$/.test(asked) && asked < today.slice(0, 7) ? asked : today.slice(0, 7);
  const start = `${month}-01`;
  const end = plusDays(`${plusDays(start, 31).slice(0, 7)}-01`, -1);
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
      administration.call("sumRevenue", { period: periodOf(month), before: sameDaysBefore(month), accountsMax }),
      administration.call("sumRevenue", { period: periodOf(month), before: wholeBefore, accountsMax: 1 }),
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
    return operatePage({
      path,
      title: "Revenue",
      here: `Revenue · ${monthName(month.day)} ${month.day.slice(0, 4)}`,
      visitor,
      judgement: revenueVerdict(revenue),
      children: (
        <>
          <div class="wide2">
            <Run month={month} revenue={revenue} query={query} />
            <Classes sums={sums} query={query} />
          </div>
          <Accounts month={month} sums={sums} query={query} />
        </>
      ),
    });
  };

/** Returns the sums of numbers up to each of them. */
function addedUp(numbers: readonly number[]): readonly number[] {
  let sum = 0;
  return numbers.map((number) => {
    sum += number;
    return sum;
  });
}

/** Formats whole dollars; a sum below ten dollars with cents, and one below a cent with tenths of one. */
function sumText(micros: number): string {
  if (micros === 0) return "$0";
  if (Math.abs(micros) >= 1e7) return `$${count(Math.round(micros / 1e6))}`;
  return money(Math.abs(micros) < 10_000 ? Math.round(micros / 1000) * 1000 : micros);
}

interface RunProps {
  readonly month: Month;
  readonly revenue: MonthRevenue;
  readonly query: URLSearchParams;
}

/** Days of a month from which its pace is drawn, as the verdict says it. */
const paceDaysMin = 3;

const Run = ({ month, revenue, query }: RunProps): JSX.Element => {
  const days = daysOf(month.start, month.end);
  const run = addedUp(revenue.charges);
  const before = addedUp(revenue.before);
  const total = run.at(-1) ?? 0;
  const hasPace = total > 0 && run.length >= paceDaysMin && month.day < month.end;
  const pace = (total / run.length) * days.length;
  const name = monthName(month.start);
  const nameBefore = monthName(month.beforeStart);
  return (
    <Figure
      id="run"
      title={runTitle(revenue)}
      of={`Charges of all accounts, added up day by day (UTC).${hasPace ? " Dotted: at the pace so far." : ""}`}
      numbers={{
        columns: [
          { name: "day", title: "Day", format: count },
          { name: name.toLowerCase(), title: name, format: money },
          { name: nameBefore.toLowerCase(), title: nameBefore, format: money },
        ],
        rows: days.map((_, index) => [index + 1, revenue.charges[index] ?? null, revenue.before[index] ?? null]),
        sorting: sortingOf("run", path, query),
      }}
    >
      <Chart
        label={`${name} beside ${nameBefore}: ${sumText(total)} in ${run.length} days`}
        width={760}
        x={dayScale(days)}
        y={numberScale([...run, ...before, ...(hasPace ? [pace] : [])], { format: sumText, isFromZero: true })}
        marks={runMarks({ days, run, before, pace: hasPace ? pace : undefined, nameBefore })}
      />
    </Figure>
  );
};

interface Runs {
  readonly days: readonly string[];
  readonly run: readonly number[];
  readonly before: readonly number[];
  readonly pace: number | undefined;
  readonly nameBefore: string;
}

function runMarks({ days, run, before, pace, nameBefore }: Runs): readonly Mark[] {
  const at = (index: number): number => valueOfDay(days[Math.min(index, days.length - 1)] ?? "");
  const points = run.map((sum, index) => [at(index), sum] as const);
  const total = run.at(-1) ?? 0;
  const past = before.slice(0, days.length).map((sum, index) => [at(index), sum] as const);
  const isNew = (before.at(-1) ?? 0) === 0;
  return [
    ...(isNew ? [] : [{ mark: "line", color: "petrol2", name: nameBefore, points: past } as const]),
    pace === undefined
      ? { mark: "line", color: "petrol", name: sumText(total), points }
      : {
          mark: "line",
          color: "petrol",
          name: sumText(pace),
          points: [...points, [at(days.length - 1), pace]],
          isUnfinished: true,
        },
    ...(pace === undefined
      ? []
      : [
          {
            mark: "dot",
            color: "petrol",
            r: 5,
            x: at(run.length - 1),
            y: total,
            title: `${sumText(total)} so far`,
          } as const,
        ]),
  ];
}

type ClassSums = RevenueSums["classes"][number];

const Classes = ({
  sums: { classes, total },
  query,
}: {
  readonly sums: RevenueSums;
  readonly query: URLSearchParams;
}) => {
  const [top] = classes;
  const charged = classes.filter(({ micros }) => micros > 0);
  return (
    <Sheet
      id="classes"
      title={classesTitle(purposeOf(top?.usageClass ?? ""), top?.micros ?? 0, total.micros)}
      of="Charges by class of request."
    >
      <SortedTable
        id="classes"
        label="Charges by class"
        first="-share"
        path={path}
        query={query}
        rows={charged}
        empty="Nothing was charged in this month."
        columns={[
          textColumn("Class", "class", ({ usageClass }: ClassSums) => purposeOf(usageClass)),
          {
            title: "Share",
            sort: "share",
            by: ({ micros }) => micros,
            cell: ({ micros }) => (
              <span class="num">
                <Meter part={micros} whole={top?.micros ?? 0} />
                {wholePercent(micros / total.micros)}
              </span>
            ),
          },
          numberColumn(
            "Charged",
            "charged",
            ({ micros }: ClassSums) => micros,
            ({ micros }) => sumText(micros),
          ),
        ]}
      />
    </Sheet>
  );
};

type Revenue = RevenueSums["accounts"][number];

const Accounts = ({
  month,
  sums,
  query,
}: {
  readonly month: Month;
  readonly sums: RevenueSums;
  readonly query: URLSearchParams;
}) => {
  const isDry = ({ account }: Revenue): boolean => ["low_balance", "exhausted"].includes(shownState(account));
  const before = month.beforeStart.slice(0, 7);
  return (
    <Sheet
      id="accounts"
      title={
        sums.accounts.length === 0
          ? "No account was charged"
          : dryTitle(sums.accounts.filter(isDry).map(({ account }) => account.email))
      }
      end={
        <span class="line">
          <Button isSmall look="quiet" href={`${path}?month=${before}`}>
            {monthName(month.beforeStart)} alone
          </Button>
          <Button isSmall href={`${path}.csv?month=${month.start.slice(0, 7)}`}>
            CSV
          </Button>
        </span>
      }
    >
      <SortedTable
        id="accounts"
        label="Charges by account"
        first="-charged"
        path={path}
        query={query}
        rows={sums.accounts}
        columns={accountColumns(monthName(month.beforeStart))}
      />
    </Sheet>
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
export const accountColumns = (monthBefore: string): readonly SortedColumn<Revenue>[] => [
  textColumn(
    "Account",
    "account",
    ({ account }) => account.email,
    ({ account }) => (
      <>
        <a href={`/operate/accounts/${account.accountId}#account`}>{account.email}</a>
        {account.isOperator ? <span class="mute"> operator</span> : null}
      </>
    ),
  ),
  numberColumn("Tier", "tier", ({ account }) => account.tier),
  { title: "State", cell: ({ account }) => <StateBadge account={account} /> },
  numberColumn(
    "Charged",
    "charged",
    ({ micros }) => micros,
    ({ micros }) => <b>{money(micros)}</b>,
  ),
  numberColumn(
    `To ${monthBefore}`,
    "change",
    ({ micros, beforeMicros }) => (beforeMicros === 0 ? Number.POSITIVE_INFINITY : micros / beforeMicros),
    ({ micros, beforeMicros }) => monthChange(micros, beforeMicros),
  ),
  numberColumn(
    "Balance",
    "balance",
    ({ account }) => account.balanceMicros,
    ({ account }) => money(account.balanceMicros),
  ),
];

/** Rows that the CSV reads at once, and bytes of it that wait for the client. */
const chunkRows = 500;
const csvBufferBytes = 65_536;

/** Serves the charges of a month to operators as CSV, by account, day and class. */
export const revenueDownload =
  (services: SiteServices): Middleware =>
  async (context) => {
    if ((await operatorOf(context, services)) === undefined) return context.redirect("/sign-in");
    const month = monthIn(new URLSearchParams(context.querystring), services.accounts.administration.nowMs);
    context.set("Content-Type", "text/csv; charset=utf-8");
    context.set("Content-Disposition", `attachment; filename="revenue-${month.start.slice(0, 7)}.csv"`);
    context.set("Cache-Control", "private, no-store");
    // Koa's pipeline adds several listeners to those of the middleware; Node.js warns of more than ten.
    context.res.setMaxListeners(20);
    context.body = Readable.from(csvOf(services, periodOf(month)), {
      objectMode: false,
      highWaterMark: csvBufferBytes,
    });
  };

async function* csvOf({ accounts: { administration } }: SiteServices, range: RevenueDays): AsyncGenerator<string> {
  yield csvLines([["date", "usage_class", "account_id", "email", "requests", "usd"]]);
  for (let after: RevenueRow | null = null; ; ) {
    const rows: readonly RevenueRow[] = await administration.call("listRevenue", { range, after, limit: chunkRows });
    yield csvLines(
      rows.map((row) => [
        row.date,
        row.usageClass,
        row.accountId,
        escapeFormula(row.email),
        String(row.requests),
        formatUsd(row.micros),
      ]),
    );
    const last = rows.at(-1);
    if (rows.length < chunkRows || last === undefined) return;
    after = last;
  }
}
