/**
 * Changes of accounts: the functions behind both the commands and the dashboard, by the name of the command. Each change and its record
 * in the audit log are one transaction.
 */
import type { SqlDatabase } from "../../db/sql-database.ts";
import { type AccountChange, changeAccount, createAccount } from "../account.ts";
import { dayOf } from "../clock.ts";
import { createKey, type NewKey, revokeKey } from "../keys/keys.ts";
import {
  addCredit,
  adjustBalance,
  type Credit,
  confirmCredit,
  getPaidCredit,
  reverseCredit,
} from "../ledger/ledger.ts";
import { formatUsd } from "../money.ts";
import type { AccountState } from "../policy/billing-state.ts";
import type { RateLimits } from "../policy/rate-limiter.ts";
import { decideReview, type QueuedReview, type ReviewResult, reviewAccounts } from "../policy/tier-reviews.ts";
import type { Tier } from "../policy/tiers.ts";
import { type Credentials, createLink, type LinkKind, setPassword } from "../sign-in/sign-in-tables.ts";
import { type Author, recordChange } from "./audit-log.ts";
import { createSearch, deleteSearch, type NewSearch, type OfSearch, resumeSearch } from "./saved-searches.ts";

interface Description {
  readonly accountId: string | null;
  readonly details: string;
}

/** A change: its effect, and its record. */
interface Change<Input, Output> {
  readonly apply: (database: SqlDatabase, input: Input, atMs: number) => Output;
  readonly describe: (input: Input, output: Output) => Description;
}

const defineChange = <Input, Output>(
  apply: Change<Input, Output>["apply"],
  describe: Change<Input, Output>["describe"],
): Change<Input, Output> => ({ apply, describe });

interface OfAccount {
  readonly accountId: string;
}

interface OfCredit extends Partial<OfAccount> {
  readonly creditId: string;
}

const accountChange = <Input extends OfAccount>(
  changeOf: (input: Input) => AccountChange,
  details: (input: Input) => string,
): Change<Input, null> =>
  defineChange(
    (database, input) => {
      changeAccount(database, input.accountId, changeOf(input));
      return null;
    },
    (input) => ({ accountId: input.accountId, details: details(input) }),
  );

/** An entry that is posted now. */
interface Posting extends OfAccount {
  readonly micros: number;
  readonly reference?: string;
  readonly note?: string;
}

const amount = ({ micros, reference, note }: Posting): string =>
  [`${formatUsd(micros)} USD`, reference, note].filter((part) => part !== undefined).join(", ");

const decision = (outcome: "approved" | "declined"): Change<OfAccount, QueuedReview> =>
  defineChange(
    (database, { accountId }, atMs) => decideReview(database, accountId, outcome, dayOf(atMs)),
    (_, { accountId, from, to }) => ({ accountId, details: `from tier ${from} to tier ${to}` }),
  );

export const changes = {
  "accounts create": defineChange(
    (database, { email, tier }: { readonly email: string; readonly tier: Tier }, atMs) =>
      createAccount(database, { email, tier, atMs }),
    ({ email, tier }, accountId) => ({ accountId, details: `${email}, tier ${tier}` }),
  ),
  "accounts invite": defineChange(
    (database, { accountId, kind }: OfAccount & { readonly kind: LinkKind }, atMs) =>
      createLink(database, { accountId, kind, atMs }),
    ({ accountId, kind }) => ({ accountId, details: kind === "invitation" ? "invitation" : "sign-in link" }),
  ),
  "accounts operator": accountChange(
    ({ isOperator }: OfAccount & { readonly isOperator: boolean }) => ({ isOperator }),
    ({ isOperator }) => (isOperator ? "on" : "off"),
  ),
  "accounts status": accountChange(
    ({ state }: OfAccount & { readonly state: AccountState }) => ({ state }),
    ({ state }) => state,
  ),
  "accounts cap": accountChange(
    ({ capMicros }: OfAccount & { readonly capMicros: number | null }) => ({ capMicros }),
    ({ capMicros }) => (capMicros === null ? "none" : `${formatUsd(capMicros)} USD`),
  ),
  "accounts low-balance": accountChange(
    ({ lowBalanceMicros }: OfAccount & { readonly lowBalanceMicros: number }) => ({ lowBalanceMicros }),
    ({ lowBalanceMicros }) => `${formatUsd(lowBalanceMicros)} USD`,
  ),
  "accounts rate-limit": accountChange(
    ({ rateLimitOverride }: OfAccount & { readonly rateLimitOverride: RateLimits | null }) => ({ rateLimitOverride }),
    ({ rateLimitOverride: limits }) =>
      limits === null ? "none" : `${limits.per10s} in 10 s, ${limits.per60s} in 60 s`,
  ),
  "accounts password": defineChange(
    (database, credentials: Credentials, atMs) => {
      setPassword(database, credentials, atMs);
      return null;
    },
    ({ accountId }) => ({ accountId, details: "" }),
  ),
  "keys create": defineChange(
    (database, key: Omit<NewKey, "atMs" | "isWeb" | "clientId">, atMs) => createKey(database, { ...key, atMs }),
    ({ accountId, scopes, name = "" }, { keyId }) => ({ accountId, details: `${keyId}, ${scopes.join()}, "${name}"` }),
  ),
  "keys revoke": defineChange(
    (database, { keyId, accountId }: { readonly keyId: string; readonly accountId?: string }, atMs) =>
      revokeKey(database, keyId, atMs, accountId),
    ({ keyId }, accountId) => ({ accountId, details: keyId }),
  ),
  "agents connect": defineChange(
    (database, grant: Omit<NewKey, "atMs" | "isWeb"> & { readonly clientId: string }, atMs) =>
      createKey(database, { ...grant, atMs }).keyId,
    ({ accountId, clientId, scopes, name = "" }, keyId) => ({
      accountId,
      details: `${keyId}, ${scopes.join()}, "${name}", client ${clientId}`,
    }),
  ),
  "searches create": defineChange(
    (database, search: NewSearch, atMs) => createSearch(database, { ...search, atMs }),
    ({ accountId, name, url }, { searchId }) => ({
      accountId,
      details: `${searchId}, "${name}"${url === null ? "" : `, ${url}`}`,
    }),
  ),
  "searches delete": defineChange(
    (database, search: OfSearch) => {
      deleteSearch(database, search);
      return null;
    },
    ({ accountId, searchId }) => ({ accountId, details: searchId }),
  ),
  "searches resume": defineChange(
    (database, search: OfSearch, atMs) => resumeSearch(database, search, atMs),
    ({ accountId, searchId }) => ({ accountId, details: searchId }),
  ),
  "credits add": defineChange(
    (database, credit: Omit<Credit, "atMs">, atMs) => addCredit(database, { ...credit, atMs }),
    (credit, creditId) => ({ accountId: credit.accountId, details: `${creditId}, ${credit.kind}, ${amount(credit)}` }),
  ),
  "credits adjust": defineChange(
    (database, posting: Posting, atMs) => adjustBalance(database, { ...posting, atMs }),
    (posting, entryId) => ({ accountId: posting.accountId, details: `${entryId}, ${amount(posting)}` }),
  ),
  "credits confirm": defineChange(
    (database, { creditId, accountId }: OfCredit, atMs) => {
      const credit = getPaidCredit(database, creditId, accountId);
      confirmCredit(database, creditId, atMs);
      return credit;
    },
    ({ creditId }, { accountId }) => ({ accountId, details: creditId }),
  ),
  "credits reverse": defineChange(
    (database, { creditId, accountId, note }: OfCredit & { readonly note?: string }, atMs) => ({
      ...getPaidCredit(database, creditId, accountId),
      reversalId: reverseCredit(database, creditId, atMs, note),
    }),
    ({ creditId, note }, { accountId }) => ({
      accountId,
      details: note === undefined ? creditId : `${creditId}, ${note}`,
    }),
  ),
  /** The feed is released in the lake; accounts keep who did that. */
  release: defineChange(
    (_, __: { readonly dealerId: string; readonly day: string }) => null,
    ({ dealerId, day }) => ({ accountId: null, details: `${dealerId} ${day}` }),
  ),
  "tiers approve": decision("approved"),
  "tiers decline": decision("declined"),
  "tiers review": defineChange(
    (database, _: object, atMs): readonly ReviewResult[] => reviewAccounts(database, dayOf(atMs)),
    (_, results) => ({
      accountId: null,
      details: results.map(({ accountId, to, outcome }) => `${accountId} to tier ${to}: ${outcome}`).join("; "),
    }),
  ),
};

type ChangeTable = typeof changes;
export type ChangeName = keyof ChangeTable;
export type ChangeInput<Name extends ChangeName> = Parameters<ChangeTable[Name]["apply"]>[1];
export type ChangeOutput<Name extends ChangeName = ChangeName> = ReturnType<ChangeTable[Name]["apply"]>;

/** A change with its author; the input is that of the name. */
export interface ChangeRequest {
  readonly name: ChangeName;
  readonly input: ChangeInput<ChangeName>;
  readonly author: Author;
}

/** The changes by name, so that the compiler relates an input to its change. */
const changesByName: { readonly [Name in ChangeName]: Change<ChangeInput<Name>, ChangeOutput<Name>> } = changes;

/** Applies a change and records it. Throws a UserError, without a record, if the change is refused. */
export function applyChange<Name extends ChangeName>(
  database: SqlDatabase,
  name: Name,
  input: ChangeInput<Name>,
  { actor, atMs }: Author,
): ChangeOutput<Name> {
  const { apply, describe } = changesByName[name];
  return database.transaction(() => {
    const output = apply(database, input, atMs);
    recordChange(database, { atMs, actor, action: name, ...describe(input, output) });
    return output;
  });
}
