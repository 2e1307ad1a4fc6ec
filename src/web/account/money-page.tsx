/** The dashboard's first page: balance, billing state, the spend cap, and usage by day. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { dayOf, monthOf } from "../../accounts/clock.ts";
import { type UsageRange, type UsageRow, usageRange } from "../../accounts/ledger/usage.ts";
import { parseUsd } from "../../accounts/money.ts";
import { type BillingState, billingState } from "../../accounts/policy/billing-state.ts";
import { plusDays } from "../../base/day.ts";
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { usd } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { dashboardPage, Figures, Notice } from "./dashboard-page.tsx";
import { UsageChart } from "./usage-chart.tsx";

/** The ranges of usage that the page offers, in days. */
const rangesDays = [30, 90, 366] as const;

export const moneyPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const { accountId } = visitor.identity.key;
    const today = dayOf(administration.nowMs);
    const days = rangesDays.find((known) => String(known) === query.get("days")) ?? rangesDays[0];
    const range = usageRange({ start_date: plusDays(today, 1 - days), end_date: today }, today);
    const [account, rows] = await Promise.all([
      administration.call("findAccount", { accountId, month: monthOf(administration.nowMs) }),
      administration.call("listUsage", { accountId, range }),
    ]);
    if (account === null) throw new TypeError(`No account ${accountId}: expected that of a session.`);
    const changed = query.get("changed") === "cap" ? "The spend cap is changed." : undefined;
    return dashboardPage(
      "/dashboard",
      "Money and usage",
      <>
        <Notice text={changed} />
        <CapWarning account={account} />
        <Funds account={account} />
        <Cap account={account} visitor={visitor} />
        <Usage range={range} rows={rows} days={days} />
      </>,
    );
  };

const stateNotes: Readonly<Record<BillingState, string>> = {
  active: "Paid requests pass",
  low_balance: "Paid requests pass; add credit soon",
  exhausted: "Paid requests are refused: the balance is used up",
  suspended: "Paid requests are refused: the operator has suspended the account",
};

export const stateText = (state: BillingState): string => state.replace("_", " ");

const Funds = ({ account }: { readonly account: Account }): JSX.Element => {
  const state = billingState(account);
  return (
    <Figures
      figures={[
        { name: "Balance", value: usd(account.balanceMicros), note: `Low below ${usd(account.lowBalanceMicros)}` },
        { name: "Billing state", value: stateText(state), note: stateNotes[state] },
        { name: "Spent this month", value: usd(account.spentMicros), note: capNote(account) },
      ]}
    />
  );
};

const capNote = ({ capMicros, spentMicros }: Account): string =>
  capMicros === null ? "No spend cap" : `${usd(Math.max(0, capMicros - spentMicros))} left of ${usd(capMicros)}`;

/** The share of the spend cap from which the page warns. */
const warnedShare = 0.9;

const CapWarning = ({ account: { capMicros, spentMicros } }: { readonly account: Account }): JSX.Element | null =>
  capMicros === null || spentMicros < warnedShare * capMicros ? null : (
    <p class="message alert" role="alert">
      {spentMicros >= capMicros
        ? `The spend cap of ${usd(capMicros)} is reached: paid requests are refused until the month ends in UTC. `
        : `${usd(capMicros - spentMicros)} are left of the spend cap of ${usd(capMicros)}: then paid requests are refused. `}
      <a href="#cap">Raise the cap</a>
    </p>
  );

const Cap = ({ account, visitor }: { readonly account: Account; readonly visitor: Visitor }): JSX.Element => (
  <section class="block" aria-labelledby="cap">
    <h2 id="cap">Monthly spend cap</h2>
    {account.capMicros === null ? null : <Gauge part={account.spentMicros} whole={account.capMicros} />}
    <p class="muted">
      The most that the account is charged in a UTC calendar month. A request beyond it is refused with 402. Empty for
      no cap.
    </p>
    <Form visitor={visitor} action="/dashboard/cap" class="inline">
      <label>
        USD a month
        <input
          type="text"
          name="cap"
          inputMode="decimal"
          value={account.capMicros === null ? "" : String(account.capMicros / 1_000_000)}
        />
      </label>
      <button type="submit">Set the cap</button>
    </Form>
  </section>
);

const Gauge = ({ part, whole }: { readonly part: number; readonly whole: number }): JSX.Element => {
  const share = whole === 0 ? 1 : Math.min(1, part / whole);
  return (
    <svg
      class="gauge"
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${Math.round(share * 100)} % of the spend cap is used`}
    >
      <rect class="track" width="100" height="4" />
      <rect class={share < warnedShare ? "part" : "part full"} width={Math.round(share * 1000) / 10} height="4" />
    </svg>
  );
};

interface UsageProps {
  readonly range: UsageRange;
  readonly rows: readonly UsageRow[];
  readonly days: number;
}

const Usage = ({ range, rows, days }: UsageProps): JSX.Element => (
  <section class="block" aria-labelledby="usage">
    <div class="heading">
      <h2 id="usage">Usage by day and class</h2>
      <ul class="choices">
        {rangesDays.map((choice) => (
          <li key={choice}>
            <a href={`/dashboard?days=${choice}`} aria-current={choice === days ? "true" : undefined}>
              {choice} days
            </a>
          </li>
        ))}
      </ul>
    </div>
    <div class="graphs">
      <UsageChart title="Requests" range={range} rows={rows} measure="requests" />
      <UsageChart title="Charges" range={range} rows={rows} measure="charged_micros" />
    </div>
  </section>
);

export const setCap =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, fields }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    await administration.change(accountId, "accounts cap", { accountId, capMicros: capOf(fields.get("cap") ?? "") });
    return { location: "/dashboard?changed=cap" };
  };

/** Parses a spend cap; null for an empty text. Throws a UserError. */
export function capOf(text: string): number | null {
  if (text.trim() === "") return null;
  const micros = parseUsd(text.trim());
  if (micros !== undefined && micros >= 0) return micros;
  throw new UserError(
    `Invalid spend cap "${text.slice(0, 40)}": expected an amount in USD such as 25 or 0.50, or nothing.`,
  );
}
