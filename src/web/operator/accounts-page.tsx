/** All accounts in the operator's view. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { readForm } from "../../accounts/administration/change-fields.ts";
import { type ChangeInput, changes } from "../../accounts/administration/changes.ts";
import { monthOf } from "../../accounts/clock.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Field } from "../components/field.tsx";
import { Block, DataTable } from "../shell/blocks.tsx";
import type { PageContent } from "../shell/document.tsx";
import { amountOf, time, usd } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { CommandText, Input } from "./account-changes.tsx";
import { linkPage } from "./account-page.tsx";
import { statusText } from "./account-status.ts";
import { operatorPage } from "./operator-page.tsx";

const path = "/operator/accounts";
const pageAccounts = 50;

export const accountsPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ query, visitor }) => {
    const search = query.get("q") ?? "";
    const offset = offsetOf(query.get("offset") ?? "");
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
          <Field label="Id or email contains" class="wide" type="search" name="q" value={search} />
          <button type="submit">Find</button>
        </form>
        <p class="muted">{amountOf(total, "account")}.</p>
        <AccountTable accounts={accounts} />
        <nav class="head" aria-label="Pages of accounts">
          {offset === 0 ? null : <a href={pageAt(Math.max(0, offset - pageAccounts))}>Previous</a>}
          {offset + accounts.length < total ? <a href={pageAt(offset + pageAccounts)}>Next</a> : null}
        </nav>
        <CreateForm visitor={visitor} />
      </>,
    );
  };

/** Creates an account, and shows the invitation to its dashboard. */
export const createAccountByForm =
  ({ accounts: { administration } }: SiteServices) =>
  async (form: VisitorForm): Promise<PageContent> => {
    // The fields of the change have the types of its input.
    const input = readForm(changes["accounts create"].fields, form.fields) as ChangeInput<"accounts create">;
    const actor = form.visitor.identity.key.accountId;
    const { accountId } = await administration.change(actor, "accounts create", input);
    return linkPage(administration, form, { accountId, kind: "invitation" });
  };

/** Parses the number of accounts before a page; 0 for another text. */
const offsetOf = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0);

const AccountTable = ({ accounts }: { readonly accounts: readonly Account[] }): JSX.Element => (
  <DataTable
    label="Accounts"
    columns={["Account", "Status", "#Tier", "#Balance", "#Spent this month", "~Created"]}
    rows={accounts.map((account) => [
      <>
        <a href={`${path}/${account.accountId}`}>{account.email}</a>
        {account.isOperator ? <span class="muted"> operator</span> : null}
      </>,
      statusText(account),
      account.tier,
      usd(account.balanceMicros),
      usd(account.spentMicros),
      time(account.createdAtMs),
    ])}
  />
);

const CreateForm = ({ visitor }: { readonly visitor: Visitor }): JSX.Element => (
  <Block id="create" title="New account">
    <Form visitor={visitor} action={path} class="inline">
      {Object.entries(changes["accounts create"].fields).map(([name, field]) => (
        <Input key={name} name={name} field={field} />
      ))}
      <button type="submit">Create the account</button>
    </Form>
    <CommandText name="accounts create" />
  </Block>
);
