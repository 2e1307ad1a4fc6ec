/**
 * The tasks of ledger workers: all reads and writes of accounts that a service makes. `LedgerClient.call` is typed by this table. Inputs and
 * outputs cross threads as JSON; an output of `undefined` stays `undefined`.
 */
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { type AccountSearch, findAccount, searchAccounts } from "../account.ts";
import { listAuditRecords, recordChange } from "../administration/audit-log.ts";
import { applyChange, type ChangeOutput, type ChangeRequest, changes } from "../administration/changes.ts";
import {
  type AttemptRecord,
  claimSearch,
  dueSearches,
  findSearch,
  listSearches,
  recordAttempt,
} from "../administration/saved-searches.ts";
import { type ActiveKey, findGrant, type KeyUses, listKeys, localKeyOf, recordKeyUses } from "../keys/keys.ts";
import { type ChargeBatch, type ChargeEntry, listKnownCharges } from "../ledger/charging.ts";
import { listEntryPage } from "../ledger/entry-pages.ts";
import {
  findRepetition,
  type IdempotentRequest,
  purgeIdempotencyKeys,
  type Repetition,
} from "../ledger/idempotency.ts";
import { listEntries } from "../ledger/ledger.ts";
import { listRevenue, sumRevenue } from "../ledger/revenue.ts";
import { listUsage, type UsageRange } from "../ledger/usage.ts";
import {
  consumeState,
  deleteState,
  deleteStateOfGrant,
  extendState,
  findAccessToken,
  findState,
  type OAuthState,
  purgeOAuthState,
  type StateName,
  saveState,
} from "../oauth/oauth-state.ts";
import type { Shortfall } from "../policy/billing-state.ts";
import { queuedReviews, type ReviewResult, reviewOnce, tierProgress } from "../policy/tier-reviews.ts";
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
import { assertWritable } from "../storage/open-accounts.ts";

interface OfAccount {
  readonly accountId: string;
}

interface OfKey {
  readonly keyId: string;
}

interface OfCharges {
  readonly chargeIds: readonly string[];
}

interface AtTime {
  readonly atMs: number;
}

/** Names a session, link or token by the hash of its secret. */
interface OfSecret extends AtTime {
  readonly sha256: string;
}

/** Finds an active key. Reads all keys of a batch together. */
export type KeyFinder = (keyId: string, month: string) => ActiveKey | null;

const read = <Input, Output>(run: (database: SqlDatabase, input: Input, findKey: KeyFinder) => Output) =>
  ({ kind: "read", run }) as const;

/** A write runs in a transaction. A UserError rolls the write back, and nothing else of the batch. */
const write = <Input, Output>(run: (database: SqlDatabase, input: Input, charges: ChargeBatch) => Output) =>
  ({ kind: "write", run }) as const;

const tasks = {
  /** Posts a charge; null if it is in the ledger, else why the account cannot pay, or that its idempotency key is taken. */
  charge: write((_, charge: ChargeEntry, charges): Shortfall | Repetition | null => charges.add(charge) ?? null),
  findCharges: read((database, { chargeIds }: OfCharges) => listKnownCharges(database, chargeIds)),
  /** Refunds those of the charges that are in the ledger. Idempotent. */
  refundCharges: write((_, { chargeIds }: OfCharges, charges): null => {
    charges.refund(chargeIds);
    return null;
  }),
  /** Deletes some of the idempotency keys used before a time; returns true if more are left. */
  purgeIdempotencyKeys: write((database, { beforeMs }: { readonly beforeMs: number }) =>
    purgeIdempotencyKeys(database, beforeMs),
  ),
  /** Returns the state of the idempotency key of a request of an account; null if the key is unused. */
  findRepetition: read(
    (database, { accountId, request, atMs }: OfAccount & AtTime & { readonly request: IdempotentRequest }) =>
      findRepetition(database, accountId, request, atMs) ?? null,
  ),
  /** Writes the file without a change. */
  probeWrite: write((database, _: object) => assertWritable(database)),
  probeRead: read((database, _: object) => void database.one(sql`SELECT account_id FROM accounts LIMIT 1`)),

  /** Returns an active key; null if it is unknown or revoked. */
  findKey: read((_, { keyId, month }: OfKey & { readonly month: string }, findKey) => findKey(keyId, month)),
  listKeys: read((database, { accountId }: OfAccount) => listKeys(database, accountId)),
  recordKeyUses: write((database, { uses }: { readonly uses: KeyUses }) => recordKeyUses(database, uses)),
  listUsage: read((database, { accountId, range }: OfAccount & { readonly range: UsageRange }) =>
    listUsage(database, accountId, range),
  ),
  listCredits: read((database, { accountId }: OfAccount) => listEntries(database, accountId)),
  listEntryPage: read(listEntryPage),
  sumRevenue: read(sumRevenue),
  listRevenue: read(listRevenue),

  listSearches: read((database, { accountId }: OfAccount) => listSearches(database, accountId)),
  findSearch: read((database, { searchId }: { readonly searchId: string }) => findSearch(database, searchId)),
  dueSearches: read(dueSearches),
  claimSearch: write(claimSearch),
  recordAttempt: write((database, record: AttemptRecord): null => {
    recordAttempt(database, record);
    return null;
  }),

  /** Applies a change and records it in the audit log. */
  change: write(
    (database, { name, input, author }: ChangeRequest): ChangeOutput => applyChange(database, name, input, author),
  ),
  findAccount: read(
    (database, { accountId, month }: OfAccount & { readonly month: string }) =>
      findAccount(database, accountId, month) ?? null,
  ),
  searchAccounts: read((database, search: AccountSearch) => searchAccounts(database, search)),
  listAuditRecords: read(listAuditRecords),
  tierProgress: read(
    (database, { accountId, day }: OfAccount & { readonly day: string }) =>
      tierProgress(database, accountId, day) ?? null,
  ),
  queuedReviews: read((database, _: object) => queuedReviews(database)),
  reviewTiers: write(reviewAndRecord),

  /** Returns the key of the local account of open access, which is created if there is none. */
  openLocalAccount: write((database, { atMs }: AtTime) => localKeyOf(database, atMs)),

  findCredentials: read((database, { name }: { readonly name: string }) => findCredentials(database, name)),
  findLink: read((database, { sha256, kind, atMs }: OfSecret & { readonly kind: LinkKind }) =>
    findLink(database, sha256, kind, atMs),
  ),
  consumeLink: write(consumeLinkOnce),
  startSession: write(insertSession),
  findSession: read((database, { sha256, atMs }: OfSecret) => findSession(database, sha256, atMs)),
  touchSession: write((database, { sha256, atMs }: OfSecret) => touchSession(database, sha256, atMs)),
  endSession: write((database, { sha256 }: Pick<OfSecret, "sha256">) => endSession(database, sha256)),
  /** Deletes the sessions, one-time links and OAuth state that have expired. */
  purgeExpired: write((database, { atMs }: AtTime) => {
    purgeSessions(database, atMs);
    purgeOAuthState(database, atMs);
  }),

  /** Returns an access token by its hash; null if it has expired, is revoked or unknown. */
  findToken: read((database, { sha256, atMs }: OfSecret) => findAccessToken(database, sha256, atMs)),
  findGrant: read((database, { keyId }: OfKey) => findGrant(database, keyId)),
  findOAuthState: read((database, { atMs, ...name }: StateName & AtTime) => findState(database, name, atMs)),
  /** Saves state of the authorization server; keeps the client that it belongs to until a time, if one is given. */
  saveOAuthState: write((database, { state, client }: NewOAuthState) => {
    saveState(database, state);
    if (client !== undefined) extendState(database, client, client.untilMs);
  }),
  consumeOAuthState: write((database, { atMs, ...name }: StateName & AtTime) => consumeState(database, name, atMs)),
  deleteOAuthState: write(deleteState),
  deleteOAuthStateOfGrant: write((database, { kind, keyId }: OfKey & { readonly kind: string }) =>
    deleteStateOfGrant(database, kind, keyId),
  ),
};

interface NewOAuthState {
  readonly state: OAuthState;
  readonly client?: StateName & { readonly untilMs: number };
}

/** Runs the daily review, and records it in the audit log if it promoted or queued an account. */
function reviewAndRecord(
  database: SqlDatabase,
  { day, atMs }: AtTime & { readonly day: string },
): readonly ReviewResult[] {
  const results = reviewOnce(database, day);
  const description = changes["tiers review"].describe({}, results);
  if (results.length > 0) recordChange(database, { atMs, actor: "service", action: "tiers review", ...description });
  return results;
}

/** Uses a sign-in link, or an invitation with the hash of the new password; null if it does not work any more. */
function consumeLinkOnce(
  database: SqlDatabase,
  { sha256, passwordHash, atMs }: OfSecret & { readonly passwordHash: string | null },
): OneTimeLink | null {
  const link = consumeLink(database, sha256, passwordHash === null ? "sign_in" : "invitation", atMs);
  if (link === null || passwordHash === null) return link;
  const { accountId } = link;
  applyChange(database, "accounts password", { accountId, hash: passwordHash }, { actor: accountId, atMs });
  return link;
}

type TaskTable = typeof tasks;
export type TaskName = keyof TaskTable;
export type TaskInput<Name extends TaskName> = Parameters<TaskTable[Name]["run"]>[1];
export type TaskOutput<Name extends TaskName = TaskName> = ReturnType<TaskTable[Name]["run"]>;

export type LedgerTask<Name extends TaskName = TaskName> = {
  readonly [N in Name]: { readonly name: N; readonly input: TaskInput<N> };
}[Name];

type TaskNameOf<Kind extends "read" | "write"> = {
  [Name in TaskName]: TaskTable[Name]["kind"] extends Kind ? Name : never;
}[TaskName];
export type ReadTask = LedgerTask<TaskNameOf<"read">>;
export type WriteTask = LedgerTask<TaskNameOf<"write">>;

export const isWriteTask = (task: LedgerTask): task is WriteTask => tasks[task.name].kind === "write";

/** The tasks as functions of their names, so that the compiler relates an input to its task. */
type Runs<Name extends TaskName, Batch> = {
  readonly [N in Name]: { run(database: SqlDatabase, input: TaskInput<N>, batch: Batch): TaskOutput<N> };
};
const reads: Runs<TaskNameOf<"read">, KeyFinder> = tasks;
const writes: Runs<TaskNameOf<"write">, ChargeBatch> = tasks;

export const runRead = <Name extends TaskNameOf<"read">>(
  database: SqlDatabase,
  { name, input }: LedgerTask<Name>,
  findKey: KeyFinder,
): TaskOutput<Name> => reads[name].run(database, input, findKey);

/** Runs a write within a transaction. Throws a UserError if the write is refused. */
export const runWrite = <Name extends TaskNameOf<"write">>(
  database: SqlDatabase,
  { name, input }: LedgerTask<Name>,
  charges: ChargeBatch,
): TaskOutput<Name> => writes[name].run(database, input, charges);
