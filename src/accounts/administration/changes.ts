/**
 * Changes of accounts, by the name of their command. A change and its record in the audit log are one transaction. A change of operators is one row with its
 * fields: the command, the form in the operator's view and the details in the audit log derive from it.
 */
import type { Row } from "../../base/json.ts";
import { randomId } from "../../base/random-ids.ts";
import { UserError } from "../../base/user-error.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { type Account, type AccountChange, changeAccount, createAccount, getAccount, isEmail } from "../account.ts";
import { dayOf, monthOf } from "../clock.ts";
import {
  type ApiScope,
  createKey,
  defaultScopes,
  isKeyLabel,
  keyLabelRule,
  type NewKey,
  revokeKey,
  scopes,
} from "../keys/keys.ts";
import {
  addCredit,
  adjustBalance,
  confirmCredit,
  creditKinds,
  getPaidCredit,
  reverseCredit,
} from "../ledger/ledger.ts";
import { formatUsd } from "../money.ts";
import { defaultLowBalanceMicros } from "../policy/billing-state.ts";
import { decideReview, type ReviewResult, reviewAccounts } from "../policy/tier-reviews.ts";
import { tiers } from "../policy/tiers.ts";
import { createLink, setPassword } from "../sign-in/sign-in-tables.ts";
import { type Author, recordChange } from "./audit-log.ts";
import {
  anyText,
  type ChangeFields,
  choiceOf,
  type FieldValues,
  formatValues,
  requestsIn,
  usdFrom,
} from "./change-fields.ts";
import { createSearch, deleteSearch, type OfSearch, resumeSearch, rotateSecret } from "./saved-searches.ts";

/** The share of a first credit below which the balance is low, if that is less than usual: the first charge does not make it so. */
const lowShare = 0.2;

/** A change: its effect, and its record. */
interface Change<Input, Output> {
  readonly apply: (database: SqlDatabase, input: Input, atMs: number) => Promise<Output>;
  readonly describe: (input: Input, output: Output) => { readonly accountId: string | null; readonly details: string };
}

const defineChange = <Input, Output>(
  apply: Change<Input, Output>["apply"],
  describe: Change<Input, Output>["describe"],
): Change<Input, Output> => ({ apply, describe });

/** What a change of operators has done, and to which account. */
export interface ChangeOutcome {
  readonly accountId: string;
  /** The id of what it has created. */
  readonly id?: string;
  /** What the audit log says; by default, that id and the values of the fields. */
  readonly details?: string;
  /** What the command prints; by default, the account, the change and the details. */
  readonly line?: string;
  /** What the command prints with `--json`; by default, the account. */
  readonly json?: Row;
}

/** How the operator's view offers a change. One without buttons is offered beside what it changes. */
interface ChangeForm {
  /** The texts of buttons, with the field and the text that each sends. */
  readonly buttons?: readonly (readonly [text: string, field?: string, value?: string])[];
  /** How a change ends something: its form unfolds behind the title, below the effect. */
  readonly ending?: {
    readonly title: string;
    readonly effect: string;
    /** The field that is sent, and its value if it is always the same. */
    readonly field: string;
    readonly value?: string;
    /** Whether the change ends something now; by default, always. */
    readonly isNow?: (account: Account) => boolean;
  };
}

/** What a change of operators declares besides its effect. */
export interface Declaration {
  /** The summary of the command. */
  readonly summary: string;
  readonly fields: ChangeFields;
  readonly form: ChangeForm;
}

interface OfAccount {
  readonly accountId: string;
}

/** Declares a change of operators. If an account is named, what the fields name has to belong to it. */
const declare = <const F extends ChangeFields, Output extends ChangeOutcome>(
  summary: string,
  fields: F,
  apply: Change<Partial<OfAccount> & FieldValues<F>, Output>["apply"],
  form: ChangeForm = {},
) => ({
  summary,
  fields,
  form,
  apply: async (database: SqlDatabase, input: Partial<OfAccount> & FieldValues<F>, atMs: number) => {
    const output = await apply(database, input, atMs);
    const ids = output.id === undefined ? [] : [output.id];
    return { ...output, details: output.details ?? [...ids, ...formatValues(fields, input)].join(", ") };
  },
  describe: (_: unknown, { accountId, details }: OfAccount & { readonly details: string }) => ({ accountId, details }),
});

async function update(database: SqlDatabase, accountId: string, change: AccountChange): Promise<ChangeOutcome> {
  await changeAccount(database, accountId, change);
  return { accountId };
}

/** Returns the outcome of a posting: its id, under a name, and the new balance. */
async function posted(
  database: SqlDatabase,
  accountId: string,
  idName: string,
  id: string,
  atMs: number,
): Promise<ChangeOutcome> {
  const balance = formatUsd((await getAccount(database, accountId, monthOf(atMs))).balanceMicros);
  return { accountId, id, line: `${id}; new balance ${balance} USD`, json: { [idName]: id, balance_usd: balance } };
}

// biome-ignore format: a table is read by its columns
const shared = {
  account: { flags: "--account <id>", help: "account id", isRequired: true, ...anyText },
  credit: { flags: "<credit-id>", help: "id of the credit", ...anyText },
  note: { flags: "--note <text>", help: "reason, stored with the entry", label: "Note", ...anyText },
  // The form proposes a new reference, so that a form that is sent twice is posted once.
  reference: { flags: "--reference <text>", help: "unique id of the payment or cause; the same one is posted once", label: "Reference",
    proposed: () => `form_${randomId(16)}`, ...anyText },
} as const satisfies ChangeFields;

const decision = (outcome: "approved" | "declined", summary: string) =>
  declare(summary, { accountId: shared.account }, async (database, { accountId }, atMs): Promise<ChangeOutcome> => {
    const { fromTier, toTier } = await decideReview(database, accountId, outcome, dayOf(atMs));
    const tier = outcome === "approved" ? toTier : fromTier;
    return {
      accountId,
      details: `from tier ${fromTier} to tier ${toTier}`,
      line: `${accountId} is now in tier ${tier}`,
      json: { account_id: accountId, outcome, tier },
    };
  });

// biome-ignore format: a table is read by its columns
export const changes = {
  "accounts create": declare(
    "create an account and an invitation to the web application; to use the API it also needs a key and credits",
    {
      email: { flags: "--email <email>", help: "contact address", isRequired: true, label: "E-mail", inputMode: "email", expected: "an email address",
        parse: (text: string) => (isEmail(text) ? text : undefined) },
      tier: { flags: "--tier <n>", help: "usage tier", default: 1, label: "Tier", ...choiceOf(tiers), expected: "1, 2, 3 or 4", format: (tier) => `tier ${tier}` },
      creditMicros: { flags: "--credit <usd>", help: "promotional credit that the account starts with, in USD", label: "First credit",
        proposed: "5.00", ...usdFrom("zero") },
    },
    async (database, { email, tier, creditMicros: micros = 0 }, atMs) => {
      const accountId = await createAccount(database, { email, tier, atMs });
      if (micros > 0) {
        await addCredit(database, { accountId, kind: "promotional", micros, isConfirmed: false, note: "starting credit", atMs });
        await update(database, accountId, { lowBalanceMicros: Math.min(defaultLowBalanceMicros, Math.ceil(micros * lowShare)) });
      }
      return { accountId };
    },
  ),
  "accounts invite": defineChange(createLink, ({ accountId, kind }) => ({ accountId, details: kind === "invitation" ? "invitation" : "sign-in link" })),
  "accounts status": declare(
    "suspend an account, which refuses its paid requests, or reactivate it",
    { accountId: shared.account, state: { flags: "<status>", help: "new status", ...choiceOf(["active", "suspended"]) } },
    (database, { accountId, state }) => update(database, accountId, { state }),
    {
      buttons: [["Reactivate the account", "state", "active"]],
      ending: { title: "Suspend the account", effect: "All its paid requests are refused until an operator reactivates it.",
        field: "state", value: "suspended", isNow: ({ state }) => state === "active" },
    },
  ),
  "accounts operator": declare(
    "let an account see and change all accounts in the web application, or stop that",
    {
      accountId: shared.account,
      isOperator: { flags: "<on|off>", help: "whether the account is an operator", choices: ["on", "off"], expected: "on or off",
        parse: (text: string) => (text === "on" ? true : text === "off" ? false : undefined) },
    },
    async (database, { accountId, isOperator }) => ({ ...(await update(database, accountId, { isOperator })), details: isOperator ? "on" : "off" }),
    {
      buttons: [["Give the operator's view", "isOperator", "on"]],
      ending: { title: "Take the operator's view away", effect: "It no longer sees or changes other accounts.",
        field: "isOperator", value: "off", isNow: ({ isOperator }) => isOperator },
    },
  ),
  "accounts cap": declare(
    "set the spend cap of an account per UTC calendar month",
    {
      accountId: shared.account,
      capMicros: { flags: "<usd>", help: "amount in USD, or none", label: "Monthly limit, USD, or none", expected: "an amount in USD such as 25 or 0.50, or none",
        parse: (text: string) => (text === "none" ? null : usdFrom("zero").parse(text)),
        format: (micros: number | null) => (micros === null ? "none" : `${formatUsd(micros)} USD`),
        proposed: ({ capMicros }) => (capMicros === null ? "none" : formatUsd(capMicros)) },
    },
    (database, { accountId, capMicros }) => update(database, accountId, { capMicros }),
    { buttons: [["Set the limit"]] },
  ),
  "accounts low-balance": declare(
    "set the balance below which the status of an account is low_balance (default: 5 USD)",
    {
      accountId: shared.account,
      lowBalanceMicros: { flags: "<usd>", help: "amount in USD", label: "Low balance, USD", ...usdFrom("zero"),
        proposed: (account) => formatUsd(account.lowBalanceMicros) },
    },
    (database, { accountId, lowBalanceMicros }) => update(database, accountId, { lowBalanceMicros }),
    { buttons: [["Set the bound"]] },
  ),
  "accounts rate-limit": declare(
    "override the rate limits of an account's tier, or restore them with --none",
    {
      accountId: shared.account,
      per10s: { flags: "--per10s <n>", help: "requests in 10 seconds; needs --per60s", ...requestsIn(10) },
      per60s: { flags: "--per60s <n>", help: "requests in 60 seconds; needs --per10s", ...requestsIn(60) },
      none: { flags: "--none", help: "restore the limits of the tier" },
    },
    (database, { accountId, per10s, per60s, none }) => {
      const limits = per10s === undefined || per60s === undefined ? null : { per10s, per60s };
      if (none !== (per10s === undefined && per60s === undefined) || none !== (limits === null))
        throw new UserError("Invalid rate limits: expected both --per10s and --per60s, or --none.");
      return update(database, accountId, { rateLimitOverride: limits });
    },
    { buttons: [["Override the limits"], ["Restore those of the tier", "none", "on"]] },
  ),
  "accounts password": defineChange(setPassword, ({ accountId }) => ({ accountId, details: "" })),
  "keys create": declare(
    "create a key and print it; it cannot be shown again",
    {
      accountId: shared.account,
      scopes: { flags: "--scopes <list>", help: `scopes of the key, separated by commas: ${scopes.join()}`, default: defaultScopes,
        expected: `a list of ${scopes.join(", ")}`, parse: parseScopes },
      name: { flags: "--name <text>", help: "what the key is for", default: "", expected: keyLabelRule,
        parse: (text: string) => (isKeyLabel(text) ? text : undefined), format: (name) => `"${name}"` },
    },
    async (database, input, atMs) => {
      const { key, keyId } = await createKey(database, { ...input, atMs });
      return { accountId: input.accountId, id: keyId, line: key, json: { key, key_id: keyId } };
    },
  ),
  "keys revoke": declare(
    "revoke a key permanently",
    { keyId: { flags: "<key-id>", help: "id of the key, not the key itself", ...anyText } },
    async (database, { keyId, accountId }, atMs) => ({
      accountId: await revokeKey(database, keyId, atMs, accountId),
      line: `${keyId} is now revoked`,
      json: { key_id: keyId, revoked: true },
    }),
    { ending: { title: "Revoke the key", effect: "The key stops working within a second, and for good.", field: "keyId" } },
  ),
  "agents connect": defineChange(
    async (database, grant: Omit<NewKey, "atMs" | "isWeb"> & { readonly clientId: string }, atMs) => (await createKey(database, { ...grant, atMs })).keyId,
    ({ accountId, clientId, scopes: granted, name = "" }, keyId) => ({
      accountId,
      details: `${keyId}, ${granted.join()}, "${name}", client ${clientId}`,
    }),
  ),
  "searches create": defineChange(createSearch, ({ accountId, name, url }, { searchId }) => ({
    accountId,
    details: `${searchId}, "${name}"${url === null ? "" : `, ${url}`}`,
  })),
  "searches delete": defineChange(deleteSearch, describeSearch),
  "searches resume": defineChange(resumeSearch, describeSearch),
  "searches rotate": defineChange(rotateSecret, describeSearch),
  "credits add": declare(
    "add a credit to the balance of an account",
    {
      accountId: shared.account,
      micros: { flags: "--usd <amount>", help: "amount in USD", isRequired: true, label: "Credit, USD", ...usdFrom("positive") },
      kind: { flags: "--kind <kind>", help: "kind of credit", default: "paid", label: "Kind", ...choiceOf(creditKinds) },
      unconfirmed: { flags: "--unconfirmed", help: "the payment is not confirmed: it can be spent but does not count towards a tier", label: "Unconfirmed" },
      reference: shared.reference,
      note: shared.note,
    },
    async (database, { unconfirmed, ...credit }, atMs) =>
      posted(database, credit.accountId, "credit_id", await addCredit(database, { ...credit, isConfirmed: !unconfirmed, atMs }), atMs),
    { buttons: [["Add the credit"]] },
  ),
  "credits confirm": declare(
    "confirm the payment of a paid credit",
    { creditId: shared.credit },
    async (database, { creditId, accountId }, atMs) => {
      const credit = await getPaidCredit(database, creditId, accountId);
      await confirmCredit(database, creditId, atMs);
      return { ...credit, line: `${creditId} is confirmed`, json: { credit_id: creditId, confirmed: true } };
    },
  ),
  "credits adjust": declare(
    "adjust the balance of an account by a positive or negative amount",
    {
      accountId: shared.account,
      micros: { flags: "--usd <amount>", help: "amount in USD; a negative one lowers the balance", isRequired: true, label: "Adjustment, USD", ...usdFrom("negative") },
      reference: shared.reference,
      note: shared.note,
    },
    async (database, posting, atMs) => posted(database, posting.accountId, "adjustment_id", await adjustBalance(database, { ...posting, atMs }), atMs),
    { buttons: [["Adjust the balance"]] },
  ),
  "credits reverse": declare(
    "reverse a paid credit after a chargeback; the balance may become negative",
    { creditId: shared.credit, note: shared.note },
    async (database, { creditId, accountId, note }, atMs) => {
      const credit = await getPaidCredit(database, creditId, accountId);
      const reversalId = await reverseCredit(database, creditId, atMs, note);
      return { ...credit, line: reversalId, json: { reversal_id: reversalId } };
    },
    { ending: { title: "Reverse the credit", effect: "Its amount is taken from the balance, which can fall below zero, for good.", field: "creditId" } },
  ),
  "tiers approve": decision("approved", "approve the queued review of an account and promote it"),
  "tiers decline": decision("declined", "decline the queued review of an account; the next one is possible after 30 days"),
  "tiers review": defineChange(
    (database, _: object, atMs): Promise<readonly ReviewResult[]> => reviewAccounts(database, dayOf(atMs)),
    (_, results) => ({
      accountId: null,
      details: results.map(({ accountId, to, outcome }) => `${accountId} to tier ${to}: ${outcome}`).join("; "),
    }),
  ),
};

function describeSearch({ accountId, searchId }: OfSearch) {
  return { accountId, details: searchId };
}

function parseScopes(text: string): readonly ApiScope[] | undefined {
  const names = text.split(",").map((name) => name.trim());
  const known = scopes.filter((scope) => names.includes(scope));
  return known.length === new Set(names).size ? known : undefined;
}

type ChangeTable = typeof changes;
export type ChangeName = keyof ChangeTable;
export type ChangeInput<Name extends ChangeName> = Parameters<ChangeTable[Name]["apply"]>[1];
export type ChangeOutput<Name extends ChangeName = ChangeName> = Awaited<ReturnType<ChangeTable[Name]["apply"]>>;

/** The changes that operators make by a command or a form. */
export type OperatorChangeName = {
  [Name in ChangeName]: ChangeTable[Name] extends Declaration ? Name : never;
}[ChangeName];

/** The changes by name, so that the compiler relates an input to its change. */
const changesByName: { readonly [Name in ChangeName]: Change<ChangeInput<Name>, ChangeOutput<Name>> } = changes;

/** Applies a change and records it. Throws a UserError, without a record, if the change is refused. */
export function applyChange<Name extends ChangeName>(
  database: SqlDatabase,
  name: Name,
  input: ChangeInput<Name>,
  { actor, atMs }: Author,
): Promise<ChangeOutput<Name>> {
  const { apply, describe } = changesByName[name];
  return database.transaction(async (transaction): Promise<ChangeOutput<Name>> => {
    // The output of a change is no promise.
    const output = (await apply(transaction, input, atMs)) as ChangeOutput<Name>;
    await recordChange(transaction, { atMs, actor, action: name, ...describe(input, output) });
    return output;
  });
}

/** Runs the review of a day once, and records it in the audit log if it promoted or queued an account. */
export const reviewDaily = (database: SqlDatabase, atMs: number): Promise<readonly ReviewResult[]> =>
  reviewAccounts(database, dayOf(atMs), async (transaction, results) => {
    const description = changes["tiers review"].describe({}, results);
    await recordChange(transaction, { atMs, actor: "service", action: "tiers review", ...description });
  });
