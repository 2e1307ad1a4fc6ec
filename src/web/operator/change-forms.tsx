/** The forms with which an operator changes an account. */
import type { ComponentChildren, JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { creditKinds } from "../../accounts/ledger/ledger.ts";
import { randomId } from "../../base/random-ids.ts";
import { Block } from "../shell/blocks.tsx";
import { Form } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";

interface ChangeFormsProps {
  readonly account: Account;
  readonly visitor: Visitor;
}

export const ChangeForms = (props: ChangeFormsProps): JSX.Element => (
  <Block id="changes" title="Change">
    <MoneyForms {...props} />
    <LimitForms {...props} />
    <StateForms {...props} />
  </Block>
);

/** The command of each form. */
const commands = {
  credit: "credits add --account <id> --kind <kind> --usd <usd>",
  adjustment: "credits adjust --account <id> --usd <usd>",
  "rate-limit": "accounts rate-limit --account <id> --per10s <n> --per60s <n>",
  cap: "accounts cap --account <id> <usd>",
  "low-balance": "accounts low-balance --account <id> <usd>",
  state: "accounts status --account <id> <status>",
  operator: "accounts operator --account <id> <on|off>",
  invite: "accounts invite --account <id> [--sign-in]",
} as const;

interface ChangeFormProps extends ChangeFormsProps {
  readonly form: keyof typeof commands;
  readonly children: ComponentChildren;
}

const ChangeForm = ({ account, visitor, form, children }: ChangeFormProps): JSX.Element => (
  <Form visitor={visitor} action={`/operator/accounts/${account.accountId}/${form}`} class="inline">
    {children}
    <Command account={account} form={form} />
  </Form>
);

const Command = ({ account, form }: Pick<ChangeFormProps, "account" | "form">): JSX.Element => (
  <code class="cmd">carquet {commands[form].replace("<id>", account.accountId)}</code>
);

/** Leads to the page that asks before a destructive form is sent. */
const Ask = ({ account, form, text }: Pick<ChangeFormProps, "account" | "form"> & { readonly text: string }) => (
  <p class="inline">
    <a class="btn danger" href={`/operator/accounts/${account.accountId}/${form}`}>
      {text}
    </a>
    <Command account={account} form={form} />
  </p>
);

const usdOf = (micros: number | null): string => (micros === null ? "" : String(micros / 1_000_000));

/** Returns the reference of a form. It is unique, so that a form which is sent twice is posted once. */
const newReference = (): string => `form_${randomId(16)}`;

type FieldProps = { readonly label: string } & JSX.IntrinsicElements["input"];

/** A text that a form sends. */
const Field = ({ label, ...input }: FieldProps): JSX.Element => (
  <label>
    {label}
    <input type="text" maxLength={500} {...input} />
  </label>
);

const MoneyForms = (props: ChangeFormsProps): JSX.Element => (
  <>
    <ChangeForm {...props} form="credit">
      <Field label="Credit, USD" name="usd" inputMode="decimal" required />
      <label>
        Kind
        <select name="kind">
          {creditKinds.map((kind) => (
            <option key={kind}>{kind}</option>
          ))}
        </select>
      </label>
      <Field label="Reference" name="reference" value={newReference()} required />
      <label class="check">
        <input type="checkbox" name="confirmed" checked /> Confirmed
      </label>
      <button type="submit">Add the credit</button>
    </ChangeForm>
    <ChangeForm {...props} form="adjustment">
      <input type="hidden" name="reference" value={newReference()} />
      <Field label="Adjustment, USD" name="usd" placeholder="-1.50" required />
      <Field label="Reason" name="note" class="wide" />
      <button type="submit">Adjust the balance</button>
    </ChangeForm>
  </>
);

const LimitForms = ({ account, visitor }: ChangeFormsProps): JSX.Element => {
  const { rateLimitOverride: limits, capMicros, lowBalanceMicros } = account;
  return (
    <>
      <ChangeForm account={account} visitor={visitor} form="rate-limit">
        <Field label="Requests in 10 s" name="per10s" inputMode="numeric" value={limits?.per10s ?? ""} />
        <Field label="Requests in 60 s" name="per60s" inputMode="numeric" value={limits?.per60s ?? ""} />
        <button type="submit">Override the limits</button>
      </ChangeForm>
      <ChangeForm account={account} visitor={visitor} form="cap">
        <Field label="Spend cap, USD a month" name="cap" inputMode="decimal" value={usdOf(capMicros)} />
        <button type="submit">Set the cap</button>
      </ChangeForm>
      <ChangeForm account={account} visitor={visitor} form="low-balance">
        <Field label="Low balance, USD" name="usd" inputMode="decimal" value={usdOf(lowBalanceMicros)} required />
        <button type="submit">Set the bound</button>
      </ChangeForm>
    </>
  );
};

const StateForms = (props: ChangeFormsProps): JSX.Element => {
  const { isOperator, state } = props.account;
  return (
    <>
      {state === "active" ? (
        <Ask {...props} form="state" text="Suspend the account…" />
      ) : (
        <ChangeForm {...props} form="state">
          <button type="submit" name="state" value="active">
            Reactivate the account
          </button>
        </ChangeForm>
      )}
      {isOperator ? (
        <Ask {...props} form="operator" text="Take the operator's view away…" />
      ) : (
        <ChangeForm {...props} form="operator">
          <button type="submit" name="operator" value="on">
            Give the operator's view
          </button>
        </ChangeForm>
      )}
      <ChangeForm {...props} form="invite">
        <button type="submit">Create an invitation</button>
        <button type="submit" name="kind" value="sign_in">
          Create a sign-in link
        </button>
      </ChangeForm>
    </>
  );
};
