/**
 * The `saved_searches` table: searches with a name whose changes are delivered, by webhook or as an Atom feed. A search remembers the version that its
 * receiver has reached, and the page that is delivered next, so that messages go on where they stopped. The secret signs messages, hence it is kept.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { integerIn, integerOrNullIn, textIn, textOrNullIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { insertInto, rowReader } from "../../db/row-reader.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { lockAccount } from "../account.ts";

/** The most searches of an account. */
export const accountSearchesMax = 100;

const readSearch = rowReader({
  searchId: textIn,
  accountId: textIn,
  /** The key that pays. */
  keyId: textIn,
  name: textIn,
  /** The filters, `kinds` and `fields` of operation `listChanges`, as a query string. */
  query: textIn,
  /** Where messages are posted; null for a search without a webhook. */
  url: textOrNullIn,
  /** `whsec_` and 32 bytes in Base64. */
  secret: textIn,
  /** The secret before it, which signs too until a time. */
  oldSecret: textOrNullIn,
  oldUntilMs: integerIn,
  createdAtMs: integerIn,
  /** The version whose listings the receiver knows. */
  since: textIn,
  /** The version that the changes after `since` lead to; null unless pages of them are delivered. */
  target: textOrNullIn,
  /** The cursor of the next page; null for the first. */
  pageCursor: textOrNullIn,
  /** How many changes of that page have been delivered. */
  pageSent: integerIn,
  /** Why messages stopped; null while they go on. */
  stopped: textOrNullIn,
  /** Failed attempts of the next message. */
  attempts: integerIn,
  nextAtMs: integerIn,
  messages: integerIn,
  lastAtMs: integerOrNullIn,
  /** The outcome of the last attempt: `200`, or why it failed. */
  lastOutcome: textOrNullIn,
});

export type SavedSearch = ReturnType<typeof readSearch>;

/** What messages have reached. */
export type MessagePosition = Pick<SavedSearch, "since" | "target" | "pageCursor" | "pageSent">;

export type NewSearch = Pick<SavedSearch, "accountId" | "keyId" | "name" | "query" | "url" | "since">;

/** Creates a search. Throws a UserError if the account has `accountSearchesMax`. */
export async function createSearch(database: SqlDatabase, search: NewSearch, atMs: number): Promise<SavedSearch> {
  await lockAccount(database, search.accountId);
  if ((await listSearches(database, search.accountId)).length >= accountSearchesMax)
    throw new UserError(`Too many saved searches: expected at most ${accountSearchesMax} of an account.`);
  const created = { ...search, searchId: randomUUID(), secret: newSecret(), createdAtMs: atMs, nextAtMs: atMs };
  const row = await database.one(sql`${insertInto("saved_searches", created)} RETURNING *`);
  return readSearch(row ?? {});
}

const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

/** Names a search of an account. */
export interface OfSearch {
  readonly accountId: string;
  readonly searchId: string;
}

/** Returns the searches of an account, oldest first. */
export const listSearches = (database: SqlDatabase, accountId: string): Promise<readonly SavedSearch[]> =>
  searchesWhere(database, sql`account_id = ${accountId}`);

/** Returns a search by its id, of any account; undefined if it is unknown. */
export const findSearch = async (database: SqlDatabase, searchId: string): Promise<SavedSearch | undefined> =>
  (await searchesWhere(database, sql`search_id = ${searchId}`))[0];

/** Deletes a search. Throws a UserError if the account has no such search. */
export async function deleteSearch(database: SqlDatabase, { accountId, searchId }: OfSearch): Promise<undefined> {
  const rows = await database.run(
    sql`DELETE FROM saved_searches WHERE account_id = ${accountId} AND search_id = ${searchId}`,
  );
  if (rows === 0) throw unknownSearchError(searchId);
}

/** Starts stopped messages again, with the message that failed. Throws a UserError if the account has no such search. */
export const resumeSearch = (database: SqlDatabase, search: OfSearch, atMs: number): Promise<SavedSearch> =>
  updateSearch(database, search, sql`stopped = NULL, attempts = 0, next_at_ms = ${atMs}`);

/** How long a secret that has been replaced signs and opens the feed. */
const oldSecretMs = 24 * 3600 * 1000;

/** Replaces the secret of a search. Throws a UserError if the account has no such search. */
export const rotateSecret = (database: SqlDatabase, search: OfSearch, atMs: number): Promise<SavedSearch> =>
  updateSearch(
    database,
    search,
    sql`old_secret = secret, old_until_ms = ${atMs + oldSecretMs}, secret = ${newSecret()}`,
  );

async function updateSearch(
  database: SqlDatabase,
  { accountId, searchId }: OfSearch,
  changes: Sql,
): Promise<SavedSearch> {
  const row = await database.one(sql`
    UPDATE saved_searches SET ${changes} WHERE account_id = ${accountId} AND search_id = ${searchId} RETURNING *`);
  if (row === undefined) throw unknownSearchError(searchId);
  return readSearch(row);
}

/** Returns the secrets that are valid at a time, the newest first. */
export const secretsOf = (
  { secret, oldSecret, oldUntilMs }: Pick<SavedSearch, "secret" | "oldSecret" | "oldUntilMs">,
  atMs: number,
): readonly string[] => [secret, ...(oldSecret === null || atMs >= oldUntilMs ? [] : [oldSecret])];

const readDue = rowReader({ searchId: textIn, accountId: textIn });

export type DueSearch = ReturnType<typeof readDue>;

interface DueOptions {
  readonly version: string;
  readonly atMs: number;
  /** Whether the next message has failed before. */
  readonly isRepeated: boolean;
  readonly limit: number;
}

/** The condition that a search has a message under way, or that a version is newer than that which its receiver has. */
function hasChanges(version: string): Sql {
  const [day = "", sequence] = version.split(".");
  const isBefore = sql`(substr(since, 1, 10), CAST(substr(since, 12) AS INTEGER)) < (${day}, ${Number(sequence)})`;
  return sql`(target IS NOT NULL OR ${isBefore})`;
}

/**
 * Returns searches with a webhook that is to receive the changes up to a version now, in turn of their accounts: first the oldest of each account, then the
 * second oldest of each, and so on.
 */
export async function dueSearches(
  database: SqlDatabase,
  { version, atMs, isRepeated, limit }: DueOptions,
): Promise<readonly DueSearch[]> {
  const rows = await database.all(sql`
    SELECT search_id, account_id
    FROM  (SELECT search_id, account_id, next_at_ms, row_number() OVER (PARTITION BY account_id ORDER BY next_at_ms, search_id) AS turn
           FROM   saved_searches
           WHERE  url IS NOT NULL AND stopped IS NULL AND next_at_ms <= ${atMs} AND ${hasChanges(version)}
           AND    ${isRepeated ? sql`attempts > 0` : sql`attempts = 0`}) AS due
    ORDER BY turn, next_at_ms, search_id LIMIT ${limit}`);
  return rows.map(readDue);
}

interface Claim {
  readonly searchId: string;
  /** The version that the message leads to, unless it is one of several, or repeated. */
  readonly version: string;
  readonly atMs: number;
  /** No other service delivers the search until then. */
  readonly untilMs: number;
}

/**
 * Claims the next message of a search for a service, by postponing it; undefined if another service has, or has sent it. Records what the message leads
 * to: if its attempt is not recorded, because the service is killed, it is repeated, and is no other one.
 */
export const claimSearch = (
  opened: SqlDatabase,
  { searchId, version, atMs, untilMs }: Claim,
): Promise<SavedSearch | undefined> =>
  opened.transaction(async (database) => {
    const rows = await database.run(sql`
      UPDATE saved_searches SET next_at_ms = ${untilMs}, target = COALESCE(target, ${version})
      WHERE  search_id = ${searchId} AND stopped IS NULL AND next_at_ms <= ${atMs} AND ${hasChanges(version)}`);
    return rows === 0 ? undefined : findSearch(database, searchId);
  });

/** The result of an attempt. */
export type AttemptRecord = MessagePosition &
  Pick<SavedSearch, "searchId" | "stopped" | "attempts" | "nextAtMs" | "messages" | "lastAtMs" | "lastOutcome">;

/** Records an attempt, unless the search has been deleted. */
export async function recordAttempt(database: SqlDatabase, record: AttemptRecord): Promise<void> {
  await database.run(sql`
    UPDATE saved_searches
    SET    since = ${record.since}, target = ${record.target}, page_cursor = ${record.pageCursor}, page_sent = ${record.pageSent},
           stopped = ${record.stopped}, attempts = ${record.attempts}, next_at_ms = ${record.nextAtMs}, messages = ${record.messages},
           last_at_ms = ${record.lastAtMs}, last_outcome = ${record.lastOutcome}
    WHERE  search_id = ${record.searchId}`);
}

const unknownSearchError = (searchId: string): UserError =>
  new UserError(`Unknown saved search ${searchId}: expected one of the account.`);

const searchesWhere = async (database: SqlDatabase, condition: Sql): Promise<readonly SavedSearch[]> =>
  (await database.all(sql`SELECT * FROM saved_searches WHERE ${condition} ORDER BY created_at_ms, search_id`)).map(
    readSearch,
  );
