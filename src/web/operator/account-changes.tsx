/** The changes of an account in the operator's view: for each its form, the command that does the same, and how it is applied. */
import type { ComponentChildren, JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import type { Administration } from "../../accounts/administration/administration.ts";
import type { ChangeInput, ChangeName } from "../../accounts/administration/changes.ts";
import { creditKinds } from "../../accounts/ledger/ledger.ts";
import { parseUsd } from "../../accounts/money.ts";
import { randomId } from "../../base/random-ids.ts";
import { UserError } from "../../base/user-error.ts";
import { capOf, usdInput } from "../account/money-page.tsx";
import { Block } from "../shell/blocks.tsx";
import { Field, Form, Select } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";

interface AccountForm {
  readonly administration: Administration;
  readonly actor: string;
  readonly accountId: string;
  readonly fields: URLSearchParams;
}

/** A change that ends something: its page asks before the form is sent. */
interface Ending {
  /** The field that names what is ended, and its value if it is always the same. */
  readonly field: string;
  readonly value?: string;
  readonly title: string;
  readonly effect: string;
}

interface AccountChange {
  /** Applies the change of a form. Throws a UserError for an invalid field. A change without it has another route. */
  readonly apply?: (form: AccountForm) => Promise<unknown>;
  readonly ending?: Ending;
  /** The form on the page of the account, if the change has one there. */
  readonly form?: ChangeForm;
}

interface ChangeForm {
  readonly command: string;
  /** Returns the fields; undefined if the change now ends something. */
  fields(account: Account): ComponentChildren;
  /** The texts of buttons, with the name and the value that each sends. */
  readonly buttons: readonly (readonly [text: string, name?: string, value?: string])[];
}

const changing =
  <Name extends ChangeName>(name: Name, inputOf: (form: AccountForm) => ChangeInput<Name>) =>
  (form: AccountForm): Promise<unknown> =>
    form.administration.change(form.actor, name, inputOf(form));

const newReference = (): string => `form_${randomId(16)}`;

/** The changes by the last part of their path, in the order of their forms. */
export const accountChanges: ReadonlyMap<string, AccountChange> = new Map(
  Object.entries<AccountChange>({
    credit: {
      apply: changing("credits add", ({ accountId, fields }) => ({
        accountId,
        kind: choiceIn(fields, "kind", creditKinds),
        micros: amountIn(fields, 1),
        isConfirmed: fields.get("confirmed") === "on",
        ...textsIn(fields),
      })),
      form: {
        command: "credits add --account <id> --kind <kind> --usd <usd>",
        fields: () => (
          <>
            <Field label="Credit, USD" name="usd" inputMode="decimal" required />
            <Select label="Kind" name="kind" options={creditKinds.map((kind) => [kind, kind])} />
            <Field label="Reference" name="reference" value={newReference()} maxLength={200} required />
            <label class="check">
              <input type="checkbox" name="confirmed" checked /> Confirmed
            </label>
          </>
        ),
        buttons: [["Add the credit"]],
      },
    },
    adjustment: {
      apply: changing("credits adjust", ({ accountId, fields }) => ({
        accountId,
        micros: amountIn(fields, Number.NEGATIVE_INFINITY),
        ...textsIn(fields),
      })),
      form: {
        command: "credits adjust --account <id> --usd <usd>",
        fields: () => (
          <>
            <input type="hidden" name="reference" value={newReference()} />
            <Field label="Adjustment, USD" name="usd" placeholder="-1.50" required />
            <Field label="Reason" name="note" class="wide" maxLength={500} />
          </>
        ),
        buttons: [["Adjust the balance"]],
      },
    },
    "rate-limit": {
      apply: changing("accounts rate-limit", ({ accountId, fields }) => ({
        accountId,
        rateLimitOverride: overrideIn(fields),
      })),
      form: {
        command: "accounts rate-limit --account <id> --per10s <n> --per60s <n>",
        fields: ({ rateLimitOverride: limits }) => (
          <>
            <Field label="Requests in 10 s" name="per10s" inputMode="numeric" value={limits?.per10s ?? ""} />
            <Field label="Requests in 60 s" name="per60s" inputMode="numeric" value={limits?.per60s ?? ""} />
          </>
        ),
        buttons: [["Override the limits"]],
      },
    },
    cap: {
      apply: changing("accounts cap", ({ accountId, fields }) => ({
        accountId,
        capMicros: capOf(textIn(fields, "cap")),
      })),
      form: {
        command: "accounts cap --account <id> <usd>",
        fields: ({ capMicros }) => (
          <Field label="Spend cap, USD a month" name="cap" inputMode="decimal" value={usdInput(capMicros)} />
        ),
        buttons: [["Set the cap"]],
      },
    },
    "low-balance": {
      apply: changing("accounts low-balance", ({ accountId, fields }) => ({
        accountId,
        lowBalanceMicros: amountIn(fields, 0),
      })),
      form: {
        command: "accounts low-balance --account <id> <usd>",
        fields: ({ lowBalanceMicros }) => (
          <Field label="Low balance, USD" name="usd" inputMode="decimal" value={usdInput(lowBalanceMicros)} required />
        ),
        buttons: [["Set the bound"]],
      },
    },
    state: {
      apply: changing("accounts status", ({ accountId, fields }) => ({
        accountId,
        state: choiceIn(fields, "state", ["active", "suspended"]),
      })),
      ending: {
        field: "state",
        value: "suspended",
        title: "Suspend the account",
        effect: "All its paid requests are refused until an operator reactivates it.",
      },
      form: {
        command: "accounts status --account <id> <status>",
        fields: ({ state }) => (state === "active" ? undefined : null),
        buttons: [["Reactivate the account", "state", "active"]],
      },
    },
    operator: {
      apply: changing("accounts operator", ({ accountId, fields }) => ({
        accountId,
        isOperator: choiceIn(fields, "operator", ["on", "off"]) === "on",
      })),
      ending: {
        field: "operator",
        value: "off",
        title: "Take the operator's view away",
        effect: "It no longer sees or changes other accounts.",
      },
      form: {
        command: "accounts operator --account <id> <on|off>",
        fields: ({ isOperator }) => (isOperator ? undefined : null),
        buttons: [["Give the operator's view", "operator", "on"]],
      },
    },
    invite: {
      form: {
        command: "accounts invite --account <id> [--sign-in]",
        fields: () => null,
        buttons: [["Create an invitation"], ["Create a sign-in link", "kind", "sign_in"]],
      },
    },
    confirmation: {
      apply: changing("credits confirm", ({ accountId, fields }) => ({
        accountId,
        creditId: textIn(fields, "credit"),
      })),
    },
    reversal: {
      apply: changing("credits reverse", ({ accountId, fields }) => ({
        accountId,
        creditId: textIn(fields, "credit"),
        ...noteIn(fields),
      })),
      ending: {
        field: "credit",
        title: "Reverse the credit",
        effect: "Its amount is taken from the balance, which can fall below zero, for good.",
      },
    },
    "key-revocation": {
      apply: changing("keys revoke", ({ accountId, fields }) => ({ accountId, keyId: textIn(fields, "key") })),
      ending: {
        field: "key",
        title: "Revoke the key",
        effect: "The key stops working within a second, and for good.",
      },
    },
  }),
);

interface ChangeFormsProps {
  readonly account: Account;
  readonly visitor: Visitor;
}

export const ChangeForms = ({ account, visitor }: ChangeFormsProps): JSX.Element => (
  <Block id="changes" title="Change">
    {[...accountChanges].map(([path, { form, ending }]) => {
      if (form === undefined) return null;
      const action = `/operator/accounts/${account.accountId}/${path}`;
      const command = <code class="cmd">carquet {form.command.replace("<id>", account.accountId)}</code>;
      const fields = form.fields(account);
      return fields === undefined ? (
        <p key={path} class="inline">
          <a class="btn danger" href={action}>
            {ending?.title}…
          </a>
          {command}
        </p>
      ) : (
        <Form key={path} visitor={visitor} action={action} class="inline">
          {fields}
          {form.buttons.map(([text, name, value]) => (
            <button key={text} type="submit" name={name} value={value}>
              {text}
            </button>
          ))}
          {command}
        </Form>
      );
    })}
  </Block>
);

const textIn = (fields: URLSearchParams, name: string): string => (fields.get(name) ?? "").trim();

function choiceIn<Choice extends string>(fields: URLSearchParams, name: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((known) => known === fields.get(name));
  if (choice === undefined) throw new UserError(`Invalid ${name}: expected ${choices.join(" or ")}.`);
  return choice;
}

/** Parses the amount of a form in USD. An amount of zero is accepted only as the least one. */
function amountIn(fields: URLSearchParams, leastMicros: number): number {
  const text = textIn(fields, "usd");
  const micros = parseUsd(text);
  if (micros !== undefined && micros >= leastMicros && (micros !== 0 || leastMicros === 0)) return micros;
  throw new UserError(`Invalid amount "${text.slice(0, 40)}": expected one in USD such as 25 or 0.50, up to 999999.`);
}

function overrideIn(fields: URLSearchParams): { readonly per10s: number; readonly per60s: number } | null {
  const per10s = textIn(fields, "per10s");
  const per60s = textIn(fields, "per60s");
  if (per10s === "" && per60s === "") return null;
  if (/^\d{1,6}$/.test(per10s) && /^\d{1,6}$/.test(per60s)) return { per10s: Number(per10s), per60s: Number(per60s) };
  throw new UserError(
    "Invalid rate limits: expected two whole numbers from 0 to 999999, or none for those of the tier.",
  );
}

const noteIn = (fields: URLSearchParams): { readonly note?: string } => {
  const note = textIn(fields, "note").slice(0, 500);
  return note === "" ? {} : { note };
};

/** Returns the reference and the note of a posting. The reference is unique: a form that is sent twice is posted once. */
const textsIn = (fields: URLSearchParams): { readonly reference: string; readonly note?: string } => {
  const reference = textIn(fields, "reference").slice(0, 200);
  if (reference === "") throw new UserError("Missing reference: expected the id of the payment, or another new text.");
  return { reference, ...noteIn(fields) };
};
