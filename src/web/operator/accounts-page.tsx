/** All accounts in the operator's view. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { monthOf } from "../../accounts/clock.ts";
import { billingState } from "../../accounts/policy/billing-state.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { ScrollingTable } from "../account/dashboard-page.tsx";
import { stateText } from "../account/money-page.tsx";
import { count, time, usd } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { operatorPage } from "./operator-page.tsx";

const path = "/operator/accounts";
const pageAccounts = 50;

export const accountsPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ query }) => {
    const [search, offset] = [query.get("q") ?? "", offsetOf(query.get("offset") ?? "")];
    const month = monthOf(administration.nowMs);
    const { accounts, total } = await administration.call("searchAccounts", {
      search,
      month,
      offset,
      limit: pageAccounts,
    });
    const pageAt = (start: number): string => `${path}?${new URLSearchParams({ q: search, offset: String(start) })}`;
    return operatorPage(
      path,
      "Accounts",
      <>
        <form class="inline" method="get" action={path}>
          <label>
            Id or email contains
            <input class="wide" type="search" name="q" value={search} />
          </label>
          <button type="submit">Find</button>
        </form>
        <p class="muted">
          {count(total)} {total === 1 ? "account" : "accounts"}. `carquet accounts create` creates one.
        </p>
        <AccountTable accounts={accounts} />
        <nav class="page-links" aria-label="Pages of accounts">
          {offset === 0 ? null : <a href={pageAt(Math.max(0, offset - pageAccounts))}>Previous</a>}
          {offset + accounts.length < total ? <a href={pageAt(offset + pageAccounts)}>Next</a> : null}
        </nav>
      </>,
    );
  };

/** Parses the number of accounts before a page; 0 for another text. */
const offsetOf = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0);

const AccountTable = ({ accounts }: { readonly accounts: readonly Account[] }): JSX.Element => (
  <ScrollingTable label="Accounts">
    <thead>
      <tr>
        <th>Account</th>
        <th>Billing state</th>
        <th class="num">Tier</th>
        <th class="num">Balance</th>
        <th class="num">Spent this month</th>
        <th>Created</th>
      </tr>
    </thead>
    <tbody>
      {accounts.map((account) => (
        <tr key={account.accountId}>
          <td>
            <a href={`${path}/${account.accountId}`}>{account.email}</a>
            {account.isOperator ? <span class="muted"> operator</span> : null}
          </td>
          <td>{stateText(billingState(account))}</td>
          <td class="num">{account.tier}</td>
          <td class="num">{usd(account.balanceMicros)}</td>
          <td class="num">{usd(account.spentMicros)}</td>
          <td class="time">{time(account.createdAtMs)}</td>
        </tr>
      ))}
    </tbody>
  </ScrollingTable>
);
