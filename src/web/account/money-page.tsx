/** The dashboard's first page: status, balance, the spend cap, usage by day, keys, and the last entries of the ledger. */
import type { JSX } from "preact";
import { type Account, effectiveLimits } from "../../accounts/account.ts";
import { dayOf, monthOf } from "../../accounts/clock.ts";
import { type UsageRange, type UsageRow, usageRange } from "../../accounts/ledger/usage.ts";
import { parseUsd } from "../../accounts/money.ts";
import { type BillingState, billingState } from "../../accounts/policy/billing-state.ts";
import { epochDay, plusDays } from "../../base/day.ts";
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Field } from "../components/field.tsx";
import { Block, Figures, Notice } from "../shell/blocks.tsx";
import { CapNotice } from "../shell/cap-notice.tsx";
import { count, usd } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { dashboardPage } from "./dashboard-page.tsx";
import { EntryTable } from "./entry-table.tsx";
import { KeyTable } from "./key-table.tsx";
import { monthRange, SpendingChart } from "./spending-chart.tsx";
import { UsageChart } from "./usage-chart.tsx";

/** The ranges of usage that the page offers, in days. */
const rangesDays = [30, 90, 366] as const;
const shownEntries = 6;

export const moneyPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const { accountId } = visitor.identity.key;
    const today = dayOf(administration.nowMs);
    const days = rangesDays.find((known) => String(known) === query.get("days")) ?? rangesDays[0];
    const range = usageRange({ start_date: plusDays(today, 1 - days), end_date: today }, today);
    const [account, rows, monthRows, keys, entries] = await Promise.all([
      administration.call("findAccount", { accountId, month: monthOf(administration.nowMs) }),
      administration.call("listUsage", { accountId, range }),
      administration.call("listUsage", { accountId, range: monthRange(today) }),
      administration.call("listKeys", { accountId }),
      administration.call("listEntryPage", { accountId, before: null, limit: shownEntries }),
    ]);
    if (account === null) throw new TypeError(`No account ${accountId}: expected that of a session.`);
    return dashboardPage(
      "/dashboard",
      "Overview",
      <>
        <Status account={account} />
        <Notice text={query.get("changed") === "cap" ? "The spend cap is changed." : undefined} />
        <Funds account={account} rows={rows} range={range} />
        <CapNotice account={account} />
        <div class="graphs halves">
          <SpendingChart account={account} rows={monthRows} today={today} />
          <Cap account={account} visitor={visitor} />
        </div>
        <Ranges days={days} />
        <div class="graphs">
          <UsageChart title="Charges" range={range} rows={rows} measure="charged_micros" />
          <UsageChart title="Requests" range={range} rows={rows} measure="requests" />
        </div>
        <Block id="keys" title="Keys" end={<a href="/dashboard/keys">All keys</a>}>
          <KeyTable label="Keys" keys={keys.filter(({ revokedAtMs }) => revokedAtMs === null)} />
        </Block>
        <Block id="entries" title="Last entries" end={<a href="/dashboard/ledger">Ledger</a>}>
          <EntryTable entries={entries} keys={keys} />
        </Block>
      </>,
    );
  };

const Ranges = ({ days }: { readonly days: number }): JSX.Element => (
  <nav class="tabs" aria-label="Days of usage">
    {rangesDays.map((choice) => (
      <a key={choice} href={`/dashboard?days=${choice}`} aria-current={choice === days ? "true" : undefined}>
        {choice} days
      </a>
    ))}
  </nav>
);

const states: Readonly<Record<BillingState, readonly [dot: string, note: string]>> = {
  active: ["dot", ""],
  low_balance: ["dot warn", ": paid requests pass; add credit soon"],
  exhausted: ["dot bad", ": paid requests are refused, the balance is used up"],
  suspended: ["dot bad", ": paid requests are refused, the operator has suspended the account"],
};

/** Formats the status of an account: `low balance`. */
export const statusText = (account: Account): string => billingState(account).replace("_", " ");

const Status = ({ account }: { readonly account: Account }): JSX.Element => {
  const [dot, note] = states[billingState(account)];
  return (
    <div class="head">
      <span class="sub status">
        <i class={dot} />
        <span>
          Account status <b>{statusText(account)}</b>
          {note}
        </span>
      </span>
      <a class="btn prime" href="/dashboard/keys#new-key">
        New key
      </a>
    </div>
  );
};

interface FundsProps {
  readonly account: Account;
  readonly rows: readonly UsageRow[];
  readonly range: UsageRange;
}

const Funds = ({ account, rows, range: { startDate, endDate } }: FundsProps): JSX.Element => {
  const { balanceMicros, spentMicros, capMicros, tier } = account;
  const { per10s, per60s } = effectiveLimits(account);
  const sum = (measure: "requests" | "charged_micros", from = startDate): number =>
    rows.reduce((total, row) => (row.date < from ? total : total + row[measure]), 0);
  const days = epochDay(endDate) - epochDay(startDate) + 1;
  const daysLeft = Math.floor((balanceMicros * days) / sum("charged_micros"));
  return (
    <Figures
      figures={[
        ["Balance", usd(balanceMicros), daysLeft < 1000 ? `about ${count(daysLeft)} days at this pace` : ""],
        ["Spent this month", usd(spentMicros), capMicros === null ? "no spend cap" : `of a cap of ${usd(capMicros)}`],
        ["Requests today", count(sum("requests", endDate)), `${count(sum("requests"))} in ${days} days`],
        [
          "Tier",
          String(tier),
          <a href="/dashboard/limits">
            {count(per10s)} requests in 10 s, {count(per60s)} in 60 s
          </a>,
        ],
      ]}
    />
  );
};

/** Returns an amount as forms have it; empty for none. */
const usdInput = (micros: number | null): string => (micros === null ? "" : String(micros / 1_000_000));

const Cap = ({ account, visitor }: { readonly account: Account; readonly visitor: Visitor }): JSX.Element => (
  <Block id="cap" title="Monthly spend cap">
    <p class="sub">
      The most that the account is charged in a UTC calendar month. A request beyond it is refused with 402. Empty for
      no cap.
    </p>
    <Form visitor={visitor} action="/dashboard/cap" class="inline">
      <Field label="USD a month" name="cap" inputMode="decimal" value={usdInput(account.capMicros)} />
      <button type="submit">Set the cap</button>
    </Form>
  </Block>
);

export const setCap =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, fields }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    await administration.change(accountId, "accounts cap", { accountId, capMicros: capOf(fields.get("cap") ?? "") });
    return { location: "/dashboard?changed=cap" };
  };

/** Parses a spend cap; null for an empty text. Throws a UserError. */
function capOf(text: string): number | null {
  if (text.trim() === "") return null;
  const micros = parseUsd(text.trim());
  if (micros !== undefined && micros >= 0) return micros;
  throw new UserError(
    `Invalid spend cap "${text.slice(0, 40)}": expected an amount in USD such as 25 or 0.50, or nothing.`,
  );
}
