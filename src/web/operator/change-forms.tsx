/** The forms with which an operator changes an account, each with the command that does the same. */
import type { ComponentChildren, JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { creditKinds } from "../../accounts/ledger/ledger.ts";
import { randomId } from "../../base/random-ids.ts";
import { Block } from "../shell/blocks.tsx";
import { Form } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { accountChanges } from "./account-changes.ts";

const newReference = (): string => `form_${randomId(16)}`;
const usdOf = (micros: number | null): string => (micros === null ? "" : String(micros / 1_000_000));

type FieldProps = { readonly label: string } & JSX.IntrinsicElements["input"];

const Field = ({ label, ...input }: FieldProps): JSX.Element => (
  <label>
    {label}
    <input type="text" maxLength={500} {...input} />
  </label>
);

interface ChangeForm {
  readonly path: string;
  /** After the account. */
  readonly command: readonly [name: string, options: string];
  /** Returns the fields; undefined if the change now ends something, so that a page asks first. */
  fields(account: Account): ComponentChildren;
  /** The button's text, with the name and the value that it sends. */
  readonly buttons: readonly (readonly [text: string, name?: string, value?: string])[];
}

const forms: readonly ChangeForm[] = [
  {
    path: "credit",
    command: ["credits add", "--kind <kind> --usd <usd>"],
    fields: () => (
      <>
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
      </>
    ),
    buttons: [["Add the credit"]],
  },
  {
    path: "adjustment",
    command: ["credits adjust", "--usd <usd>"],
    fields: () => (
      <>
        <input type="hidden" name="reference" value={newReference()} />
        <Field label="Adjustment, USD" name="usd" placeholder="-1.50" required />
        <Field label="Reason" name="note" class="wide" />
      </>
    ),
    buttons: [["Adjust the balance"]],
  },
  {
    path: "rate-limit",
    command: ["accounts rate-limit", "--per10s <n> --per60s <n>"],
    fields: ({ rateLimitOverride: limits }) => (
      <>
        <Field label="Requests in 10 s" name="per10s" inputMode="numeric" value={limits?.per10s ?? ""} />
        <Field label="Requests in 60 s" name="per60s" inputMode="numeric" value={limits?.per60s ?? ""} />
      </>
    ),
    buttons: [["Override the limits"]],
  },
  {
    path: "cap",
    command: ["accounts cap", "<usd>"],
    fields: ({ capMicros }) => (
      <Field label="Spend cap, USD a month" name="cap" inputMode="decimal" value={usdOf(capMicros)} />
    ),
    buttons: [["Set the cap"]],
  },
  {
    path: "low-balance",
    command: ["accounts low-balance", "<usd>"],
    fields: ({ lowBalanceMicros }) => (
      <Field label="Low balance, USD" name="usd" inputMode="decimal" value={usdOf(lowBalanceMicros)} required />
    ),
    buttons: [["Set the bound"]],
  },
  {
    path: "state",
    command: ["accounts status", "<status>"],
    fields: ({ state }) => (state === "active" ? undefined : null),
    buttons: [["Reactivate the account", "state", "active"]],
  },
  {
    path: "operator",
    command: ["accounts operator", "<on|off>"],
    fields: ({ isOperator }) => (isOperator ? undefined : null),
    buttons: [["Give the operator's view", "operator", "on"]],
  },
  {
    path: "invite",
    command: ["accounts invite", "[--sign-in]"],
    fields: () => null,
    buttons: [["Create an invitation"], ["Create a sign-in link", "kind", "sign_in"]],
  },
];

interface ChangeFormsProps {
  readonly account: Account;
  readonly visitor: Visitor;
}

export const ChangeForms = ({ account, visitor }: ChangeFormsProps): JSX.Element => (
  <Block id="changes" title="Change">
    {forms.map(({ path, command: [name, options], fields, buttons }) => {
      const action = `/operator/accounts/${account.accountId}/${path}`;
      const shown = fields(account);
      const command = <code class="cmd">{`carquet ${name} --account ${account.accountId} ${options}`}</code>;
      return shown === undefined ? (
        <p key={path} class="inline">
          <a class="btn danger" href={action}>
            {accountChanges.get(path)?.ending?.title}…
          </a>
          {command}
        </p>
      ) : (
        <Form key={path} visitor={visitor} action={action} class="inline">
          {shown}
          {buttons.map(([text, field, value]) => (
            <button key={text} type="submit" name={field} value={value}>
              {text}
            </button>
          ))}
          {command}
        </Form>
      );
    })}
  </Block>
);
