/** The forms of an account in the operator's view: each applies the change of a command. */

import type { Administration } from "../../accounts/administration/administration.ts";
import type { ChangeInput, ChangeName } from "../../accounts/administration/changes.ts";
import { creditKinds } from "../../accounts/ledger/ledger.ts";
import { parseUsd } from "../../accounts/money.ts";
import { UserError } from "../../base/user-error.ts";
import { capOf } from "../account/money-page.tsx";

export interface AccountForm {
  readonly administration: Administration;
  readonly actor: string;
  readonly accountId: string;
  readonly fields: URLSearchParams;
}

/** Applies the change of a form. Throws a UserError for an invalid field. */
type ChangeForm = (form: AccountForm) => Promise<unknown>;

const changing =
  <Name extends ChangeName>(name: Name, inputOf: (form: AccountForm) => ChangeInput<Name>): ChangeForm =>
  (form) =>
    form.administration.change(form.actor, name, inputOf(form));

/** The forms by the last part of their path. */
export const accountForms: ReadonlyMap<string, ChangeForm> = new Map(
  Object.entries({
    state: changing("accounts status", ({ accountId, fields }) => ({
      accountId,
      state: choiceOf(fields, "state", ["active", "suspended"]),
    })),
    operator: changing("accounts operator", ({ accountId, fields }) => ({
      accountId,
      isOperator: choiceOf(fields, "operator", ["on", "off"]) === "on",
    })),
    cap: changing("accounts cap", ({ accountId, fields }) => ({
      accountId,
      capMicros: capOf(fields.get("cap") ?? ""),
    })),
    "low-balance": changing("accounts low-balance", ({ accountId, fields }) => ({
      accountId,
      lowBalanceMicros: amountOf(fields, 0),
    })),
    "rate-limit": changing("accounts rate-limit", ({ accountId, fields }) => ({
      accountId,
      rateLimitOverride: overrideOf(fields),
    })),
    credit: changing("credits add", ({ accountId, fields }) => ({
      ...{ accountId, kind: choiceOf(fields, "kind", creditKinds), micros: amountOf(fields, 1) },
      ...{ isConfirmed: fields.get("confirmed") === "on", ...textsOf(fields) },
    })),
    adjustment: changing("credits adjust", ({ accountId, fields }) => ({
      ...{ accountId, micros: amountOf(fields, Number.NEGATIVE_INFINITY) },
      ...textsOf(fields),
    })),
    confirmation: changing("credits confirm", ({ accountId, fields }) => ({
      accountId,
      creditId: fields.get("credit") ?? "",
    })),
    reversal: changing("credits reverse", ({ accountId, fields }) => ({
      accountId,
      creditId: fields.get("credit") ?? "",
      ...noteOf(fields),
    })),
    "key-revocation": changing("keys revoke", ({ accountId, fields }) => ({
      accountId,
      keyId: fields.get("key") ?? "",
    })),
  }),
);

/** A change that ends something: its page asks before the form is sent. */
export interface DestructiveForm {
  /** The field that names what is ended, and its value if it is always the same. */
  readonly field: string;
  readonly value?: string;
  readonly title: string;
  readonly effect: string;
}

/** The destructive forms by the last part of their path. */
export const destructiveForms: ReadonlyMap<string, DestructiveForm> = new Map(
  Object.entries({
    state: {
      ...{ field: "state", value: "suspended", title: "Suspend the account" },
      effect: "All its paid requests are refused until an operator reactivates it.",
    },
    operator: {
      ...{ field: "operator", value: "off", title: "Take the operator's view away" },
      effect: "It no longer sees or changes other accounts.",
    },
    reversal: {
      ...{ field: "credit", title: "Reverse the credit" },
      effect: "Its amount is taken from the balance, which can fall below zero, for good.",
    },
    "key-revocation": {
      ...{ field: "key", title: "Revoke the key" },
      effect: "The key stops working within a second, and for good.",
    },
  }),
);

function choiceOf<Choice extends string>(fields: URLSearchParams, name: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((known) => known === fields.get(name));
  if (choice === undefined) throw new UserError(`Invalid ${name}: expected ${choices.join(" or ")}.`);
  return choice;
}

/** Parses the amount of a form in USD. An amount of zero is accepted only as the least one. */
function amountOf(fields: URLSearchParams, leastMicros: number): number {
  const text = (fields.get("usd") ?? "").trim();
  const micros = parseUsd(text);
  if (micros !== undefined && micros >= leastMicros && (micros !== 0 || leastMicros === 0)) return micros;
  throw new UserError(`Invalid amount "${text.slice(0, 40)}": expected one in USD such as 25 or 0.50, up to 999999.`);
}

function overrideOf(fields: URLSearchParams): { readonly per10s: number; readonly per60s: number } | null {
  const [per10s = "", per60s = ""] = [fields.get("per10s")?.trim(), fields.get("per60s")?.trim()];
  if (per10s === "" && per60s === "") return null;
  if (!/^\d{1,6}$/.test(per10s) || !/^\d{1,6}$/.test(per60s))
    throw new UserError(
      "Invalid rate limits: expected two whole numbers from 0 to 999999, or none for those of the tier.",
    );
  return { per10s: Number(per10s), per60s: Number(per60s) };
}

const noteOf = (fields: URLSearchParams): { readonly note?: string } => {
  const note = (fields.get("note") ?? "").trim().slice(0, 500);
  return note === "" ? {} : { note };
};

/** Returns the reference and the note of a posting. The reference is unique: a form that is sent twice is posted once. */
const textsOf = (fields: URLSearchParams): { readonly reference: string; readonly note?: string } => {
  const reference = (fields.get("reference") ?? "").trim().slice(0, 200);
  if (reference === "") throw new UserError("Missing reference: expected the id of the payment, or another new text.");
  return { reference, ...noteOf(fields) };
};
