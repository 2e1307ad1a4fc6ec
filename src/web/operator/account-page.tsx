/** One account in the operator's view: its state, credits, keys and audit records, and the forms that change it. */
import type { JSX } from "preact";
import { type Account, effectiveLimits } from "../../accounts/account.ts";
import { dayOf, monthOf } from "../../accounts/clock.ts";
import { billingState } from "../../accounts/policy/billing-state.ts";
import type { TierProgress } from "../../accounts/policy/tier-reviews.ts";
import { linkUrl } from "../../accounts/sign-in/one-time-links.ts";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Figures, Notice } from "../account/dashboard-page.tsx";
import { EntryTable } from "../account/ledger-page.tsx";
import { stateText } from "../account/money-page.tsx";
import { usd } from "../shell/format.ts";
import type { VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import { serviceOrigin } from "../shell/pages.tsx";
import { accountForms } from "./account-forms.ts";
import { AuditTable } from "./audit-page.tsx";
import { ChangeForms } from "./change-forms.tsx";
import { CreditTable, OperatorKeyTable } from "./credit-table.tsx";
import { operatorPage } from "./operator-page.tsx";

const path = "/operator/accounts";
const shownEntries = 10;

export const accountPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ visitor, query, params: { accountId = "" } }) => {
    const { nowMs } = administration;
    const [account, progress, credits, keys, entries, records] = await Promise.all([
      administration.call("findAccount", { accountId, month: monthOf(nowMs) }),
      administration.call("tierProgress", { accountId, day: dayOf(nowMs) }),
      administration.call("listCredits", { accountId }),
      administration.call("listKeys", { accountId }),
      administration.call("listEntryPage", { accountId, before: null, limit: shownEntries }),
      administration.call("listAuditRecords", { accountId, before: null, limit: shownEntries }),
    ]);
    if (account === null) throw refuse("not_found", { what: "account", id: accountId });
    return operatorPage(
      path,
      account.email,
      <>
        <Notice text={query.has("changed") ? "The account is changed." : undefined} />
        <Summary account={account} progress={progress} />
        <ChangeForms account={account} visitor={visitor} />
        <CreditTable credits={credits} account={account} visitor={visitor} />
        <OperatorKeyTable keys={keys} account={account} visitor={visitor} />
        <section class="block" aria-labelledby="entries">
          <h2 id="entries">Last entries</h2>
          <EntryTable entries={entries} />
        </section>
        <section class="block" aria-labelledby="records">
          <h2 id="records">Last changes</h2>
          <AuditTable records={records} />
        </section>
      </>,
    );
  };

interface SummaryProps {
  readonly account: Account;
  readonly progress: TierProgress | null;
}

const Summary = ({ account, progress }: SummaryProps): JSX.Element => {
  const limits = effectiveLimits(account);
  const missing = progress?.missing ?? [];
  return (
    <>
      <p>
        <code>{account.accountId}</code>
        {account.isOperator ? ", operator" : ""}
      </p>
      <Figures
        figures={[
          { name: "Balance", value: usd(account.balanceMicros), note: `Low below ${usd(account.lowBalanceMicros)}` },
          {
            name: "Billing state",
            value: stateText(billingState(account)),
            note: `${usd(account.spentMicros)} spent this month${account.capMicros === null ? "" : ` of ${usd(account.capMicros)}`}`,
          },
          {
            name: "Tier",
            value: String(account.tier),
            note: `${limits.per10s} in 10 s, ${limits.per60s} in 60 s${account.rateLimitOverride === null ? "" : ", overridden"}`,
          },
        ]}
      />
      {missing.length === 0 || account.tier === 4 ? null : (
        <p class="muted">
          Missing for tier {account.tier + 1}: {missing.join("; ")}.
        </p>
      )}
    </>
  );
};

export const changeAccountByForm =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, params: { accountId = "", form = "" }, fields }: VisitorForm) => {
    const change = accountForms.get(form);
    if (change === undefined) throw refuse("not_found", { what: "form", id: form });
    await change({ administration, actor: visitor.identity.key.accountId, accountId, fields });
    return { location: `${path}/${accountId}?changed=${form}` };
  };

export const inviteByForm =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ context, visitor, params: { accountId = "" } }: VisitorForm) => {
    const input = { accountId, kind: "invitation" } as const;
    const secret = await administration.change(visitor.identity.key.accountId, "accounts invite", input);
    return operatorPage(
      path,
      "Invitation",
      <>
        <p class="message" role="status">
          The link sets a new password for {accountId}. It works once, within 7 days, and is shown only now. The present
          password works until then.
        </p>
        <figure class="code">
          <figcaption>Link</figcaption>
          <button type="button" class="copy js-only" data-copy>
            Copy
          </button>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <pre tabIndex={0}>
            <code>{linkUrl(serviceOrigin(context), "invitation", secret)}</code>
          </pre>
        </figure>
        <p>
          <a href={`${path}/${accountId}`}>Back to the account</a>
        </p>
      </>,
    );
  };
