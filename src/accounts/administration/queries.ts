/** Reads of the accounts file for pages, by name. They run on the administration's worker. */
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { type Account, type AccountSearch, findAccount, searchAccounts } from "../account.ts";
import { findGrant, listKeys } from "../keys.ts";
import { type EntryPage, listEntryPage } from "../ledger/entry-pages.ts";
import { listEntries } from "../ledger/ledger.ts";
import { listUsage, type UsageRange } from "../ledger/usage.ts";
import { findState, type StateName } from "../oauth/oauth-state.ts";
import { queuedReviews, type TierProgress, tierProgress } from "../policy/tier-reviews.ts";
import { findCredentials } from "../sign-in/credentials.ts";
import { findLink, type LinkKind } from "../sign-in/one-time-links.ts";
import { findSession } from "../sign-in/session-table.ts";
import { type AuditLogPage, listAuditRecords } from "./audit-log.ts";

interface OfAccount {
  readonly accountId: string;
}

interface OfSecret {
  readonly sha256: string;
  readonly atMs: number;
}

const queries = {
  session: (database: SqliteDatabase, { sha256, atMs }: OfSecret) => findSession(database, sha256, atMs),
  link: (database: SqliteDatabase, { sha256, atMs, kind }: OfSecret & { readonly kind: LinkKind }) =>
    findLink(database, sha256, kind, atMs),
  credentials: (database: SqliteDatabase, { name }: { readonly name: string }) => findCredentials(database, name),
  account: (database: SqliteDatabase, { accountId, month }: OfAccount & { readonly month: string }): Account | null =>
    findAccount(database, accountId, month) ?? null,
  oauthState: (database: SqliteDatabase, { atMs, ...name }: StateName & { readonly atMs: number }) =>
    findState(database, name, atMs),
  grant: (database: SqliteDatabase, { keyId }: { readonly keyId: string }) => findGrant(database, keyId),
  keys: (database: SqliteDatabase, { accountId }: OfAccount) => listKeys(database, accountId),
  credits: (database: SqliteDatabase, { accountId }: OfAccount) => listEntries(database, accountId),
  entries: (database: SqliteDatabase, page: EntryPage) => listEntryPage(database, page),
  usage: (database: SqliteDatabase, { accountId, range }: OfAccount & { readonly range: UsageRange }) =>
    listUsage(database, accountId, range),
  tierProgress: (
    database: SqliteDatabase,
    { accountId, day }: OfAccount & { readonly day: string },
  ): TierProgress | null => tierProgress(database, accountId, day) ?? null,
  accounts: (database: SqliteDatabase, search: AccountSearch) => searchAccounts(database, search),
  queuedReviews: (database: SqliteDatabase, _: object) => queuedReviews(database),
  auditLog: (database: SqliteDatabase, page: AuditLogPage) => listAuditRecords(database, page),
};

type QueryTable = typeof queries;
export type QueryName = keyof QueryTable;
export type QueryInput<Name extends QueryName> = Parameters<QueryTable[Name]>[1];
export type QueryOutput<Name extends QueryName> = ReturnType<QueryTable[Name]>;

export type QueryRequest = {
  readonly [Name in QueryName]: { readonly name: Name; readonly input: QueryInput<Name> };
}[QueryName];

/** Runs a query. */
export function runQuery(database: SqliteDatabase, { name, input }: QueryRequest): QueryOutput<QueryName> {
  // The input belongs to the name; the compiler loses this when it looks the query up.
  const query = queries[name] as (database: SqliteDatabase, input: unknown) => QueryOutput<QueryName>;
  return query(database, input);
}
