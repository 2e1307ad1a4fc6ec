/** Accounts: all of them, of which a row opens, the invitation of another, and the forms that change them. */
import type { JSX } from "preact";
import { getAccount, searchAccounts } from "../../accounts/account.ts";
import { readForm } from "../../accounts/administration/change-fields.ts";
import { type ChangeInput, changes, type OperatorChangeName } from "../../accounts/administration/changes.ts";
import { monthOf } from "../../accounts/clock.ts";
import { sumRevenue } from "../../accounts/ledger/revenue.ts";
import { shownState } from "../../accounts/policy/billing-state.ts";
import { prices } from "../../accounts/policy/prices.ts";
import { tierLimits, tiers } from "../../accounts/policy/tiers.ts";
import { linkUrl } from "../../accounts/sign-in/sign-in-tables.ts";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { CodeBox } from "../components/code-box.tsx";
import { Field, Select } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { accountsVerdict } from "../sentences/operate.ts";
import type { PageContent } from "../shell/document.tsx";
import { count, monthName } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import { type PageHandler, publicOrigin } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { AccountSheets, ChangeInputField, formChanges, openAccount } from "./account-sheets.tsx";
import { AccountLink, operatePage } from "./operate-page.tsx";
import { accountColumns, monthIn, periodOf, sameDaysBefore } from "./revenue-page.tsx";

const path = "/operate/accounts";
/** Accounts that are shown; others are found by a part of their address. */
const shownMax = 500;
/** Accounts that are counted, and whose charges are compared with those of the month before. */
const accountsMax = 10_000;

/** All accounts; a path that names one opens it. */
export const accountsPage =
  (services: SiteServices): PageHandler =>
  async ({ query, visitor, params: { accountId } }) => {
    const opened = accountId === undefined ? undefined : await openAccount(services, accountId);
    const listed = await listAccounts(services, query.get("q") ?? "");
    const inState = (state: ReturnType<typeof shownState>) =>
      listed.rows.filter(({ account }) => shownState(account) === state).length;
    return operatePage({
      path,
      title: opened === undefined ? "Accounts" : opened.account.email,
      here: "Accounts",
      visitor,
      judgement: accountsVerdict({
        accounts: listed.total,
        low: inState("low_balance"),
        usedUp: inState("exhausted"),
        isFound: listed.search !== "",
        href: `${path}?numbers=accounts.balance#accounts`,
      }),
      children: (
        <>
          <div class="wide2">
            <AccountTable {...listed} openedId={accountId} query={query} />
            <Invitation visitor={visitor} />
          </div>
          {opened === undefined ? null : <AccountSheets opened={opened} visitor={visitor} />}
        </>
      ),
    });
  };

/** Returns the accounts with a text in their address, those that were charged most this month first, beside the month before. */
async function listAccounts({ accounts: { administration } }: SiteServices, search: string) {
  const month = monthIn(new URLSearchParams(), administration.nowMs);
  const [{ accounts, total }, sums] = await Promise.all([
    administration.call(searchAccounts, search, month.day.slice(0, 7), accountsMax),
    administration.call(sumRevenue, periodOf(month), sameDaysBefore(month), accountsMax),
  ]);
  const before = new Map(sums.accounts.map(({ account, beforeMicros }) => [account.accountId, beforeMicros]));
  const rows = accounts
    .map((account) => ({ account, micros: account.spentMicros, beforeMicros: before.get(account.accountId) ?? 0 }))
    .sort((one, other) => other.micros - one.micros);
  return { rows, total, search, monthBefore: monthName(month.beforeStart) };
}

type AccountTableProps = Awaited<ReturnType<typeof listAccounts>> & {
  readonly openedId: string | undefined;
  readonly query: URLSearchParams;
};

const AccountTable = ({ rows, total, search, monthBefore, openedId, query }: AccountTableProps): JSX.Element => (
  <TableSheet
    id="accounts"
    title="Accounts"
    of={total > shownMax ? `The first ${shownMax}: find others by part of their address.` : undefined}
    end={
      <form class="line find" method="get" action={path}>
        <input
          class="in"
          type="search"
          name="q"
          value={search}
          aria-label="Find an account"
          placeholder="Part of an address"
        />
        <Button isSmall>Find</Button>
      </form>
    }
    sorts={{ path, query }}
    first="-charged"
    rows={rows}
    rowsMax={shownMax}
    columns={accountColumns(monthBefore)}
    isMine={({ account }) => account.accountId === openedId}
    empty="No account has this text in its address."
  />
);

const { email, tier, creditMicros } = changes["accounts create"].fields;

/** Creates an account with its first credit. */
const Invitation = ({ visitor }: { readonly visitor: Visitor }): JSX.Element => (
  <Sheet id="invite" title="Invite someone" isTinted>
    <Form visitor={visitor} action={path} class="stack invite">
      <Field label={email.label} name="email" type="email" placeholder="name@company.example" required />
      <div class="two">
        <ChangeInputField name="creditMicros" field={creditMicros} />
        <Select
          label="Tier"
          name="tier"
          value={String(tier.default)}
          options={tiers.map((one) => [String(one), `${one} · ${tierLimits[one].per10s} in 10 s`])}
        />
      </div>
      <Button look="main">Make the invitation</Button>
      <small>
        You get a link to send. ${creditMicros.proposed} is enough for{" "}
        {count(Math.floor((Number(creditMicros.proposed) * 1e6) / prices.listing_search))} searches.
      </small>
      <details>
        <summary>As a command</summary>
        <code class="small">
          carquet accounts create --email name@company.example --tier {tier.default} --credit {creditMicros.proposed}
        </code>
      </details>
    </Form>
  </Sheet>
);

/** Creates an account, and shows the link of its invitation. */
export const createAccountByForm =
  (services: SiteServices) =>
  async (form: VisitorForm): Promise<PageContent> => {
    // The fields of the change have the types of its input.
    const input = readForm(changes["accounts create"].fields, form.fields) as ChangeInput<"accounts create">;
    const actor = form.visitor.identity.key.accountId;
    const { accountId } = await services.accounts.administration.change(actor, "accounts create", input);
    return linkPage(services, form, accountId, "sets a password, within 7 days");
  };

export const changeAccountByForm =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, params: { accountId = "", form = "" }, fields }: VisitorForm) => {
    const change = formChanges.get(form);
    if (change === undefined) throw refuse("not_found", { what: "form", id: form });
    // The fields of the change have the types of its input; the path names the account.
    const input = { ...readForm(change.fields, fields), accountId } as ChangeInput<OperatorChangeName>;
    await administration.change(visitor.identity.key.accountId, change.name, input);
    return { location: `${path}/${accountId}#account` };
  };

export const inviteByForm =
  (services: SiteServices) =>
  (form: VisitorForm): Promise<PageContent> => {
    const effect = "sets a new password, within 7 days. The present one works until then";
    return linkPage(services, form, form.params.accountId ?? "", effect);
  };

/** Creates the invitation of an account, and shows its link once. */
async function linkPage(
  services: SiteServices,
  { context, visitor }: VisitorForm,
  accountId: string,
  effect: string,
): Promise<PageContent> {
  const { administration } = services.accounts;
  const account = await administration.call(getAccount, accountId, monthOf(administration.nowMs));
  const invitation = { accountId, kind: "invitation" } as const;
  const secret = await administration.change(visitor.identity.key.accountId, "accounts invite", invitation);
  return operatePage({
    path,
    title: "Invitation",
    here: <AccountLink id={accountId} text={account.email} />,
    visitor,
    judgement: {
      sentence: ["The invitation is ready."],
      context: [`Send the link: it works once and ${effect}. It is shown only now.`],
    },
    children: <CodeBox title="Link" code={linkUrl(publicOrigin(context, services), invitation.kind, secret)} />,
  });
}
