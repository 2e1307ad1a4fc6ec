/** The reads and writes of accounts that a service makes, by name. A write is one transaction. A UserError refuses its input. */
import type { SqlDatabase } from "../../db/sql-database.ts";
import { type AccountSearch, findAccount, searchAccounts } from "../account.ts";
import { findGrant, type KeyUses, listKeys, localKeyOf, recordKeyUses } from "../keys/keys.ts";
import { listEntryPage } from "../ledger/entry-pages.ts";
import { listEntries } from "../ledger/ledger.ts";
import { listRevenue, sumRevenue } from "../ledger/revenue.ts";
import {
  consumeState,
  deleteState,
  deleteStateOfGrant,
  extendState,
  findState,
  type OAuthState,
  purgeOAuthState,
  type StateName,
  saveState,
} from "../oauth/oauth-state.ts";
import { queuedReviews, tierProgress } from "../policy/tier-reviews.ts";
import {
  consumeLink,
  endSession,
  findCredentials,
  findLink,
  findSession,
  insertSession,
  type LinkKind,
  type OneTimeLink,
  purgeSessions,
  touchSession,
} from "../sign-in/sign-in-tables.ts";
import { listAuditRecords } from "./audit-log.ts";
import { applyChange, type ChangeRequest } from "./changes.ts";
import { claimSearch, dueSearches, findSearch, listSearches, recordAttempt } from "./saved-searches.ts";

interface OfAccount {
  readonly accountId: string;
}

interface AtTime {
  readonly atMs: number;
}

/** Names a session, link or token by the hash of its secret. */
interface OfSecret extends AtTime {
  readonly sha256: string;
}

type Work<Input, Output> = (database: SqlDatabase, input: Input) => Promise<Output>;

/** A read that may be long. */
const scan =
  <Input, Output>(work: Work<Input, Output>): Work<Input, Output> =>
  (opened, input) =>
    opened.reading((database) => work(database, input));

const write =
  <Input, Output>(work: Work<Input, Output>): Work<Input, Output> =>
  (opened, input) =>
    opened.transaction((database) => work(database, input));

const calls = {
  listKeys: (database: SqlDatabase, { accountId }: OfAccount) => listKeys(database, accountId),
  recordKeyUses: write((database, { uses }: { readonly uses: KeyUses }) => recordKeyUses(database, uses)),
  listCredits: scan((database, { accountId }: OfAccount) => listEntries(database, accountId)),
  listEntryPage: scan(listEntryPage),
  sumRevenue: scan(sumRevenue),
  listRevenue: scan(listRevenue),

  listSearches: (database: SqlDatabase, { accountId }: OfAccount) => listSearches(database, accountId),
  findSearch: (database: SqlDatabase, { searchId }: { readonly searchId: string }) => findSearch(database, searchId),
  dueSearches,
  claimSearch: write(claimSearch),
  recordAttempt,

  /** Applies a change and records it in the audit log. */
  change: (database: SqlDatabase, { name, input, author }: ChangeRequest) => applyChange(database, name, input, author),
  findAccount: async (database: SqlDatabase, { accountId, month }: OfAccount & { readonly month: string }) =>
    (await findAccount(database, accountId, month)) ?? null,
  searchAccounts: scan((database, search: AccountSearch) => searchAccounts(database, search)),
  listAuditRecords: scan(listAuditRecords),
  tierProgress: async (database: SqlDatabase, { accountId, day }: OfAccount & { readonly day: string }) =>
    (await tierProgress(database, accountId, day)) ?? null,
  queuedReviews: (database: SqlDatabase, _: object) => queuedReviews(database),

  /** Returns the key of the local account of open access, which is created if there is none. */
  openLocalAccount: write((database, { atMs }: AtTime) => localKeyOf(database, atMs)),

  findCredentials: (database: SqlDatabase, { name }: { readonly name: string }) => findCredentials(database, name),
  findLink: (database: SqlDatabase, { sha256, kind, atMs }: OfSecret & { readonly kind: LinkKind }) =>
    findLink(database, sha256, kind, atMs),
  consumeLink: write(consumeLinkOnce),
  startSession: write(insertSession),
  findSession: (database: SqlDatabase, { sha256, atMs }: OfSecret) => findSession(database, sha256, atMs),
  touchSession: (database: SqlDatabase, { sha256, atMs }: OfSecret) => touchSession(database, sha256, atMs),
  endSession: (database: SqlDatabase, { sha256 }: Pick<OfSecret, "sha256">) => endSession(database, sha256),
  /** Deletes the sessions, one-time links and OAuth state that have expired. */
  purgeExpired: write(async (database, { atMs }: AtTime) => {
    await purgeSessions(database, atMs);
    await purgeOAuthState(database, atMs);
  }),

  findGrant: (database: SqlDatabase, { keyId }: { readonly keyId: string }) => findGrant(database, keyId),
  findOAuthState: (database: SqlDatabase, { atMs, ...name }: StateName & AtTime) => findState(database, name, atMs),
  /** Saves state of the authorization server; keeps the client that it belongs to until a time, if one is given. */
  saveOAuthState: write(async (database, { state, client }: NewOAuthState) => {
    await saveState(database, state);
    if (client !== undefined) await extendState(database, client, client.untilMs);
  }),
  consumeOAuthState: (database: SqlDatabase, { atMs, ...name }: StateName & AtTime) =>
    consumeState(database, name, atMs),
  deleteOAuthState: deleteState,
  deleteOAuthStateOfGrant: (
    database: SqlDatabase,
    { kind, keyId }: { readonly kind: string; readonly keyId: string },
  ) => deleteStateOfGrant(database, kind, keyId),
};

interface NewOAuthState {
  readonly state: OAuthState;
  readonly client?: StateName & { readonly untilMs: number };
}

/** Uses a sign-in link, or an invitation with the hash of the new password; null if it does not work any more. */
async function consumeLinkOnce(
  database: SqlDatabase,
  { sha256, passwordHash, atMs }: OfSecret & { readonly passwordHash: string | null },
): Promise<OneTimeLink | null> {
  const link = await consumeLink(database, sha256, passwordHash === null ? "sign_in" : "invitation", atMs);
  if (link === null || passwordHash === null) return link;
  const { accountId } = link;
  await applyChange(database, "accounts password", { accountId, hash: passwordHash }, { actor: accountId, atMs });
  return link;
}

type CallTable = typeof calls;
export type CallName = keyof CallTable;
export type CallInput<Name extends CallName> = Parameters<CallTable[Name]>[1];
export type CallOutput<Name extends CallName> = Awaited<ReturnType<CallTable[Name]>>;

/** The calls as functions of their names, so that the compiler relates an input to its call. */
const callsByName: { readonly [Name in CallName]: Work<CallInput<Name>, CallOutput<Name>> } = calls;

export const runCall = <Name extends CallName>(
  database: SqlDatabase,
  name: Name,
  input: CallInput<Name>,
): Promise<CallOutput<Name>> => callsByName[name](database, input);
