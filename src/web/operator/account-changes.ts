/** The changes of an account in the operator's view: for each its form, the command that does the same, and how it is applied. */
import type { Administration } from "../../accounts/administration/administration.ts";
import type { ChangeInput, ChangeName } from "../../accounts/administration/changes.ts";
import { creditKinds } from "../../accounts/ledger/ledger.ts";
import { parseUsd } from "../../accounts/money.ts";
import { UserError } from "../../base/user-error.ts";
import { capOf } from "../account/money-page.tsx";

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
  /** Applies the change of a form. Throws a UserError for an invalid field. */
  apply(form: AccountForm): Promise<unknown>;
  readonly ending?: Ending;
}

const changing =
  <Name extends ChangeName>(name: Name, inputOf: (form: AccountForm) => ChangeInput<Name>) =>
  (form: AccountForm): Promise<unknown> =>
    form.administration.change(form.actor, name, inputOf(form));

/** The changes by the last part of their path. */
export const accountChanges: ReadonlyMap<string, AccountChange> = new Map(
  Object.entries({
    state: {
      apply: changing("accounts status", ({ accountId, fields }) => ({
        ...{ accountId, state: choiceIn(fields, "state", ["active", "suspended"]) },
      })),
      ending: {
        ...{ field: "state", value: "suspended", title: "Suspend the account" },
        effect: "All its paid requests are refused until an operator reactivates it.",
      },
    },
    operator: {
      apply: changing("accounts operator", ({ accountId, fields }) => ({
        ...{ accountId, isOperator: choiceIn(fields, "operator", ["on", "off"]) === "on" },
      })),
      ending: {
        ...{ field: "operator", value: "off", title: "Take the operator's view away" },
        effect: "It no longer sees or changes other accounts.",
      },
    },
    cap: {
      apply: changing("accounts cap", ({ accountId, fields }) => ({
        accountId,
        capMicros: capOf(textIn(fields, "cap")),
      })),
    },
    "low-balance": {
      apply: changing("accounts low-balance", ({ accountId, fields }) => ({
        ...{ accountId, lowBalanceMicros: amountIn(fields, 0) },
      })),
    },
    "rate-limit": {
      apply: changing("accounts rate-limit", ({ accountId, fields }) => ({
        ...{ accountId, rateLimitOverride: overrideIn(fields) },
      })),
    },
    credit: {
      apply: changing("credits add", ({ accountId, fields }) => ({
        ...{ accountId, kind: choiceIn(fields, "kind", creditKinds), micros: amountIn(fields, 1) },
        ...{ isConfirmed: fields.get("confirmed") === "on", reference: referenceIn(fields), ...noteIn(fields) },
      })),
    },
    adjustment: {
      apply: changing("credits adjust", ({ accountId, fields }) => ({
        ...{ accountId, micros: amountIn(fields, Number.NEGATIVE_INFINITY) },
        ...{ reference: referenceIn(fields), ...noteIn(fields) },
      })),
    },
    confirmation: {
      apply: changing("credits confirm", ({ accountId, fields }) => ({
        accountId,
        creditId: textIn(fields, "credit"),
      })),
    },
    reversal: {
      apply: changing("credits reverse", ({ accountId, fields }) => ({
        ...{ accountId, creditId: textIn(fields, "credit"), ...noteIn(fields) },
      })),
      ending: {
        ...{ field: "credit", title: "Reverse the credit" },
        effect: "Its amount is taken from the balance, which can fall below zero, for good.",
      },
    },
    "key-revocation": {
      apply: changing("keys revoke", ({ accountId, fields }) => ({ accountId, keyId: textIn(fields, "key") })),
      ending: {
        ...{ field: "key", title: "Revoke the key" },
        effect: "The key stops working within a second, and for good.",
      },
    },
  }),
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
  const [per10s, per60s] = [textIn(fields, "per10s"), textIn(fields, "per60s")];
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

/** Returns the reference of a posting. It is unique: a form that is sent twice is posted once. */
const referenceIn = (fields: URLSearchParams): string => {
  const reference = textIn(fields, "reference").slice(0, 200);
  if (reference === "") throw new UserError("Missing reference: expected the id of the payment, or another new text.");
  return reference;
};
