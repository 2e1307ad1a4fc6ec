/** Reads of the accounts file for pages, by name. They run on the administration's worker. */
import type { SqlDatabase } from "../../db/sql-database.ts";
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
  session: (database: SqlDatabase, { sha256, atMs }: OfSecret) => findSession(database, sha256, atMs),
  link: (database: SqlDatabase, { sha256, atMs, kind }: OfSecret & { readonly kind: LinkKind }) =>
    findLink(database, sha256, kind, atMs),
  credentials: (database: SqlDatabase, { name }: { readonly name: string }) => findCredentials(database, name),
  account: (database: SqlDatabase, { accountId, month }: OfAccount & { readonly month: string }): Account | null =>
    findAccount(database, accountId, month) ?? null,
  oauthState: (database: SqlDatabase, { atMs, ...name }: StateName & { readonly atMs: number }) =>
    findState(database, name, atMs),
  grant: (database: SqlDatabase, { keyId }: { readonly keyId: string }) => findGrant(database, keyId),
  keys: (database: SqlDatabase, { accountId }: OfAccount) => listKeys(database, accountId),
  credits: (database: SqlDatabase, { accountId }: OfAccount) => listEntries(database, accountId),
  entries: (database: SqlDatabase, page: EntryPage) => listEntryPage(database, page),
  usage: (database: SqlDatabase, { accountId, range }: OfAccount & { readonly range: UsageRange }) =>
    listUsage(database, accountId, range),
  tierProgress: (
    database: SqlDatabase,
    { accountId, day }: OfAccount & { readonly day: string },
  ): TierProgress | null => tierProgress(database, accountId, day) ?? null,
  accounts: (database: SqlDatabase, search: AccountSearch) => searchAccounts(database, search),
  queuedReviews: (database: SqlDatabase, _: object) => queuedReviews(database),
  auditLog: (database: SqlDatabase, page: AuditLogPage) => listAuditRecords(database, page),
};

type QueryTable = typeof queries;
export type QueryName = keyof QueryTable;
export type QueryInput<Name extends QueryName> = Parameters<QueryTable[Name]>[1];
export type QueryOutput<Name extends QueryName> = ReturnType<QueryTable[Name]>;

export type QueryRequest = {
  readonly [Name in QueryName]: { readonly name: Name; readonly input: QueryInput<Name> };
}[QueryName];

/** Runs a query. */
export function runQuery(database: SqlDatabase, { name, input }: QueryRequest): QueryOutput<QueryName> {
  // The input belongs to the name; the compiler loses this when it looks the query up.
  const query = queries[name] as (database: SqlDatabase, input: unknown) => QueryOutput<QueryName>;
  return query(database, input);
}
