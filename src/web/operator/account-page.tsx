/** One account in the operator's view: its state, credits, keys and audit records, and the forms that change it. */
import type { JSX } from "preact";
import { type Account, effectiveLimits } from "../../accounts/account.ts";
import type { Administration } from "../../accounts/administration/administration.ts";
import { readForm } from "../../accounts/administration/change-fields.ts";
import type { ChangeInput, OperatorChangeName } from "../../accounts/administration/changes.ts";
import { dayOf, monthOf } from "../../accounts/clock.ts";
import type { TierProgress } from "../../accounts/policy/tier-reviews.ts";
import { type LinkKind, linkUrl } from "../../accounts/sign-in/sign-in-tables.ts";
import { integerIn, type Row } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { EntryTable } from "../account/charges.tsx";
import { KeyTable } from "../account/keys.tsx";
import { Block, Code, DataTable, Figures, Notice } from "../shell/blocks.tsx";
import type { PageContent } from "../shell/document.tsx";
import { signedAmount, text, time, usd } from "../shell/format.ts";
import { Confirmation, Form, type VisitorForm } from "../shell/forms.tsx";
import { type PageHandler, serviceOrigin } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { ChangeForms, CommandText, formChanges } from "./account-changes.tsx";
import { statusText } from "./account-status.ts";
import { AuditTable } from "./audit-page.tsx";
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
        <ChangeForms account={account} visitor={visitor}>
          <InviteForm accountId={accountId} visitor={visitor} />
        </ChangeForms>
        <CreditTable credits={credits} account={account} visitor={visitor} />
        <Block id="keys" title="Keys">
          <KeyTable
            label="All keys"
            keys={keys}
            today={dayOf(nowMs)}
            endOf={({ keyId }) => <a href={`${path}/${accountId}/keys-revoke?keyId=${keyId}`}>Revoke…</a>}
          />
          <CommandText name="keys revoke" />
        </Block>
        <Block id="entries" title="Last entries">
          <EntryTable entries={entries} keys={keys} today={dayOf(nowMs)} />
        </Block>
        <Block id="records" title="Last changes">
          <AuditTable records={records} />
        </Block>
      </>,
    );
  };

const Summary = ({
  account,
  progress,
}: {
  readonly account: Account;
  readonly progress: TierProgress | null;
}): JSX.Element => {
  const { capMicros, rateLimitOverride, tier } = account;
  const { per10s, per60s } = effectiveLimits(account);
  const missing = progress?.missing ?? [];
  const spent = `${usd(account.spentMicros)} spent this month${capMicros === null ? "" : ` of ${usd(capMicros)}`}`;
  const limits = `${per10s} in 10 s, ${per60s} in 60 s${rateLimitOverride === null ? "" : ", overridden"}`;
  return (
    <>
      <p>
        <code>{account.accountId}</code>
        {account.isOperator ? ", operator" : ""}
      </p>
      <Figures
        figures={[
          ["Balance", usd(account.balanceMicros), `Low below ${usd(account.lowBalanceMicros)}`],
          ["Status", statusText(account), spent],
          ["Tier", String(tier), limits],
        ]}
      />
      {missing.length === 0 || tier === 4 ? null : (
        <p class="muted">
          Missing for tier {tier + 1}: {missing.join("; ")}.
        </p>
      )}
    </>
  );
};

const InviteForm = ({ accountId, visitor }: { readonly accountId: string; readonly visitor: Visitor }): JSX.Element => (
  <Form visitor={visitor} action={`${path}/${accountId}/invite`} class="inline">
    <button type="submit">Create an invitation</button>
    <button type="submit" name="kind" value="sign_in">
      Create a sign-in link
    </button>
    <code class="cmd">carquet accounts invite --account {accountId} [--sign-in]</code>
  </Form>
);

interface CreditTableProps {
  /** As `listEntries` returns them. */
  readonly credits: readonly Row[];
  readonly account: Account;
  readonly visitor: Visitor;
}

const CreditTable = ({ credits, ...props }: CreditTableProps): JSX.Element => (
  <Block id="credits" title="Credits and adjustments">
    <DataTable
      label="Credits and adjustments"
      columns={["@UTC", "Kind", "Reference and note", "#USD", "Payment"]}
      rows={credits
        .toReversed()
        .map((credit) => [
          time(integerIn(credit, "at_ms")),
          String(credit.kind).replaceAll("_", " "),
          text([credit.reference, credit.note].filter((part) => part !== null).join(", ")),
          signedAmount(integerIn(credit, "micros")),
          <Payment credit={credit} {...props} />,
        ])}
    />
    <CommandText name="credits confirm" />
    <CommandText name="credits reverse" />
  </Block>
);

/** The status of a paid credit, with the forms that confirm or reverse it. */
const Payment = ({
  credit,
  account,
  visitor,
}: Omit<CreditTableProps, "credits"> & { readonly credit: Row }): JSX.Element | null => {
  if (credit.kind !== "paid") return null;
  if (credit.reversed_at_ms !== null) return <span class="muted">reversed</span>;
  const action = `/operator/accounts/${account.accountId}`;
  const id = String(credit.entry_id);
  return (
    <div class="inline">
      {credit.confirmed_at_ms !== null ? (
        <span class="muted">confirmed</span>
      ) : (
        <Form visitor={visitor} action={`${action}/credits-confirm`}>
          <button type="submit" name="creditId" value={id}>
            Confirm
          </button>
        </Form>
      )}
      <a href={`${action}/credits-reverse?creditId=${id}`}>Reverse…</a>
    </div>
  );
};

/** Asks for the confirmation of a destructive form. */
export const confirmationPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ visitor, query, params: { accountId = "", form = "" } }) => {
    const ending = formChanges.get(form)?.form?.ending;
    if (ending === undefined) throw refuse("not_found", { what: "form", id: form });
    const account = await administration.call("findAccount", { accountId, month: monthOf(administration.nowMs) });
    if (account === null) throw refuse("not_found", { what: "account", id: accountId });
    const { field, title, effect, value = query.get(ending.field) ?? "" } = ending;
    return operatorPage(
      path,
      title,
      <Confirmation
        visitor={visitor}
        action={`${path}/${accountId}/${form}`}
        fields={{ [field]: value }}
        button={title}
        keepPath={`${path}/${accountId}`}
      >
        Account {account.email}, <code>{accountId}</code>
        {ending.value === undefined ? `, ${value}` : ""}. {effect}
      </Confirmation>,
    );
  };

export const changeAccountByForm =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, params: { accountId = "", form = "" }, fields }: VisitorForm) => {
    const change = formChanges.get(form);
    if (change === undefined) throw refuse("not_found", { what: "form", id: form });
    // The fields of the change have the types of its input; the path names the account.
    const input = { ...readForm(change.fields, fields), accountId } as ChangeInput<OperatorChangeName>;
    await administration.change(visitor.identity.key.accountId, change.name, input);
    return { location: `${path}/${accountId}?changed=${form}` };
  };

const links: Readonly<Record<LinkKind, readonly [title: string, effect: string, option: string]>> = {
  invitation: ["Invitation", "sets a new password, within 7 days. The present one works until then", ""],
  sign_in: ["Sign-in link", "signs in without a password, within a day", " --sign-in"],
};

export const inviteByForm =
  ({ accounts: { administration } }: SiteServices) =>
  (form: VisitorForm): Promise<PageContent> => {
    const kind = form.fields.get("kind") === "sign_in" ? "sign_in" : "invitation";
    return linkPage(administration, form, { accountId: form.params.accountId ?? "", kind });
  };

/** Creates a one-time link of an account, and shows it once. */
export async function linkPage(
  administration: Administration,
  { context, visitor }: VisitorForm,
  input: { readonly accountId: string; readonly kind: LinkKind },
): Promise<PageContent> {
  const { accountId, kind } = input;
  const secret = await administration.change(visitor.identity.key.accountId, "accounts invite", input);
  const [title, effect, option] = links[kind];
  return operatorPage(
    path,
    title,
    <>
      <p class="note" role="status">
        The link of {accountId} works once and {effect}. It is shown only now.
      </p>
      <Code label="Link" text={linkUrl(serviceOrigin(context), kind, secret)} />
      <code class="cmd">{`carquet accounts invite --account ${accountId}${option}`}</code>
      <p>
        <a href={`${path}/${accountId}`}>The account</a>
      </p>
    </>,
  );
}
