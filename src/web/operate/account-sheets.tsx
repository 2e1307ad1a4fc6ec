/** The sheets of an opened account: its state, the forms that change it, and its credits, keys, entries and changes. */
import type { ComponentChildren, JSX } from "preact";
import { type Account, effectiveLimits, findAccount } from "../../accounts/account.ts";
import type { ChangeField } from "../../accounts/administration/change-fields.ts";
import { changes, type Declaration, type OperatorChangeName } from "../../accounts/administration/changes.ts";
import { dayOf, monthOf } from "../../accounts/clock.ts";
import { listKeys } from "../../accounts/keys/keys.ts";
import { listEntries } from "../../accounts/ledger/ledger.ts";
import { tierProgress } from "../../accounts/policy/tier-reviews.ts";
import { integerIn, type Json, type Row } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { KeysSheet } from "../account/keys.tsx";
import { Button } from "../components/button.tsx";
import { Field, Select } from "../components/field.tsx";
import { Sheet, Spec } from "../components/sheet.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { plainWords, signedAmount, time, usd } from "../shell/format.ts";
import { Ending, Form } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { StateBadge } from "./revenue-page.tsx";

const path = "/operate/accounts";

/** Reads an account with all that its sheets show. Refuses an unknown id. */
export async function openAccount({ accounts: { administration } }: SiteServices, accountId: string) {
  const { nowMs } = administration;
  const [account, progress, credits, keys] = await Promise.all([
    administration.call(findAccount, accountId, monthOf(nowMs)),
    administration.call(tierProgress, accountId, dayOf(nowMs)),
    administration.call(listEntries, accountId),
    administration.call(listKeys, accountId),
  ]);
  if (account === undefined) throw refuse("not_found", { what: "account", id: accountId });
  return { account, progress, credits, keys };
}

type OpenedAccount = Awaited<ReturnType<typeof openAccount>>;

interface AccountSheetsProps {
  readonly opened: OpenedAccount;
  readonly visitor: Visitor;
}

export const AccountSheets = ({ opened, visitor }: AccountSheetsProps): JSX.Element => {
  const { account, progress, credits, keys } = opened;
  const action = `${path}/${account.accountId}`;
  return (
    <>
      <Summary account={account} progress={progress} />
      <ChangeForms account={account} visitor={visitor}>
        <Form visitor={visitor} action={`${action}/invite`} class="line">
          <Button>Create an invitation</Button>
        </Form>
      </ChangeForms>
      <div class="two">
        <TableSheet
          id="credits"
          title="Credits and adjustments"
          rows={credits.toReversed()}
          empty="None yet."
          columns={[
            { title: "Time", value: (credit) => time(integerIn(credit, "at_ms")) },
            { title: "Kind", value: ({ kind }) => String(kind).replaceAll("_", " ") },
            {
              title: "Reference and note",
              value: ({ reference, note }) => plainWords(textOf(reference), textOf(note)),
            },
            { title: "USD", value: (credit) => integerIn(credit, "micros"), format: signedAmount },
            { title: "Payment", cell: (credit) => <Payment credit={credit} action={action} visitor={visitor} /> },
          ]}
        />
        {/* Times of any year have it. */}
        <KeysSheet keys={keys} today="" visitor={visitor} endingOf={() => `${action}/keys-revoke`} />
      </div>
    </>
  );
};

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const Summary = ({ account, progress }: Pick<OpenedAccount, "account" | "progress">): JSX.Element => {
  const { capMicros, rateLimitOverride, tier } = account;
  const { per10s, per60s } = effectiveLimits(account);
  const missing = progress?.missing ?? [];
  return (
    <Sheet
      id="account"
      title={account.email}
      of={
        <>
          <code>{account.accountId}</code>
          {account.isOperator ? ", operator" : ""}
          {missing.length === 0 || tier === 4 ? "" : `. Missing for tier ${tier + 1}: ${missing.join("; ")}.`}
        </>
      }
      end={<a href={path}>Close</a>}
    >
      <Spec
        facts={[
          ["Balance", `${usd(account.balanceMicros)}, low below ${usd(account.lowBalanceMicros)}`],
          ["State", <StateBadge key="state" account={account} />],
          ["Spent this month", `${usd(account.spentMicros)}${capMicros === null ? "" : ` of ${usd(capMicros)}`}`],
          ["Tier", `${tier}: ${per10s} in 10 s, ${per60s} in 60 s${rateLimitOverride === null ? "" : ", overridden"}`],
        ]}
      />
    </Sheet>
  );
};

interface PaymentProps {
  readonly credit: Row;
  readonly action: string;
  readonly visitor: Visitor;
}

/** The status of a paid credit, with the forms that confirm or reverse it. */
const Payment = ({ credit, action, visitor }: PaymentProps): JSX.Element | null => {
  if (credit.kind !== "paid") return null;
  if (credit.reversed_at_ms !== null) return <span class="mute">reversed</span>;
  const id = String(credit.entry_id);
  return (
    <div class="line">
      {credit.confirmed_at_ms !== null ? (
        <span class="mute">confirmed</span>
      ) : (
        <Form visitor={visitor} action={`${action}/credits-confirm`}>
          <Button isSmall name="creditId" value={id}>
            Confirm
          </Button>
        </Form>
      )}
      <ChangeEnding path="credits-reverse" value={id} action={action} visitor={visitor} />
    </div>
  );
};

/** The changes of an account, by the last part of the path of their form, such as `accounts-cap`; without what creates something. */
export const formChanges: ReadonlyMap<string, Declaration & { readonly name: OperatorChangeName }> = new Map(
  Object.entries(changes).flatMap(([name, change]) =>
    "form" in change && !name.endsWith(" create")
      ? // The name of a change that is declared with a form.
        [[name.replace(" ", "-"), { ...change, name: name as OperatorChangeName }] as const]
      : [],
  ),
);

interface ChangeFormsProps {
  readonly account: Account;
  readonly visitor: Visitor;
  /** A form that changes nothing of the account itself. */
  readonly children: ComponentChildren;
}

const ChangeForms = ({ account, visitor, children }: ChangeFormsProps): JSX.Element => (
  <Sheet id="changes" title="Change it">
    <div class="changes">
      {[...formChanges].map(([path, { fields, form }]) => {
        const action = `/operate/accounts/${account.accountId}`;
        if (form.ending?.isNow?.(account))
          return <ChangeEnding key={path} path={path} action={action} visitor={visitor} />;
        return form.buttons === undefined ? null : (
          <Form key={path} visitor={visitor} action={`${action}/${path}`} class="line">
            {Object.entries(fields).map(([name, field]) => (
              <ChangeInputField key={name} name={name} field={field} account={account} />
            ))}
            {form.buttons.map(([text, name, value = ""]) => (
              <Button key={text} {...(name === undefined ? {} : { name, value })}>
                {text}
              </Button>
            ))}
          </Form>
        );
      })}
      {children}
    </div>
  </Sheet>
);

interface ChangeEndingProps {
  readonly path: string;
  /** The value of its field, if it is not always the same. */
  readonly value?: string;
  readonly action: string;
  readonly visitor: Visitor;
}

/** Asks before a change ends something. */
const ChangeEnding = ({ path, value, action, visitor }: ChangeEndingProps): JSX.Element | null => {
  const ending = formChanges.get(path)?.form.ending;
  if (ending === undefined) return null;
  const hidden = { [ending.field]: value ?? ending.value ?? "" };
  return (
    <Ending visitor={visitor} action={`${action}/${path}`} hidden={hidden} title={ending.title}>
      {ending.effect}
    </Ending>
  );
};

interface InputProps {
  readonly name: string;
  readonly field: ChangeField;
  /** The account whose values a form proposes. */
  readonly account?: Account;
}

/** The input of a field; nothing for a field without a label. */
export function ChangeInputField({ name, field, account }: InputProps): JSX.Element | null {
  const { label, choices, parse, inputMode, isRequired = false, proposed } = field;
  if (label === undefined) return null;
  if (choices !== undefined)
    return <Select label={label} name={name} options={choices.map((choice) => [choice, choice])} />;
  if (parse === undefined)
    return (
      <label class="check">
        <input type="checkbox" name={name} /> {label}
      </label>
    );
  const value = typeof proposed === "function" ? account && proposed(account) : proposed;
  const isNeeded = isRequired || proposed !== undefined;
  return <Field label={label} name={name} value={value} inputMode={inputMode} required={isNeeded} />;
}
