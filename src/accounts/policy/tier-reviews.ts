/** Tier reviews: applies the rules of `tiers.ts` to the accounts in the file, records reviews, and promotes accounts. */

import { integerIn, type Row, textIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { sql } from "../../db/sql.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { type Account, changeAccount, findAccount, listAccounts, tierIn } from "../account.ts";
import { dayOf } from "../clock.ts";
import { listEntries } from "../ledger/ledger.ts";
import { type AccountHistory, decideTier, type PaidCredit, type Tier } from "./tiers.ts";

/** The effect of a review on an account. */
export interface ReviewResult {
  readonly accountId: string;
  readonly email: string;
  readonly from: Tier;
  readonly to: Tier;
  /** `automatic`: the account was promoted. `queued`: an operator has to approve. */
  readonly outcome: "automatic" | "queued";
}

/** Reviews all accounts as of a UTC day, in one transaction. Returns the accounts that it promoted or queued. */
export function reviewAccounts(database: SqliteDatabase, day: string): readonly ReviewResult[] {
  return database.transaction(() => {
    database.run(sql`INSERT INTO reviewed_days VALUES (${day}) ON CONFLICT DO NOTHING`);
    return listAccounts(database, day.slice(0, 7)).flatMap((account) => reviewAccount(database, account, day));
  });
}

/** Reviews all accounts unless that day has already been reviewed; then returns no results. */
export function reviewOnce(database: SqliteDatabase, day: string): readonly ReviewResult[] {
  if (database.one(sql`SELECT 1 FROM reviewed_days WHERE day = ${day}`) !== undefined) return [];
  return reviewAccounts(database, day);
}

function reviewAccount(database: SqliteDatabase, account: Account, day: string): readonly ReviewResult[] {
  const { accountId, email, tier: from } = account;
  const decision = decideTier(historyOf(database, account), day);
  if (decision.to === null) return [];
  const outcome = decision.reviewKind === "automatic" ? "automatic" : "queued";
  const insertedRows = database.run(sql`
    INSERT INTO reviews (account_id, day, from_tier, to_tier, outcome)
    VALUES (${accountId}, ${day}, ${from}, ${decision.to}, ${outcome}) ON CONFLICT DO NOTHING`);
  if (outcome === "automatic") changeAccount(database, accountId, { tier: decision.to });
  return insertedRows === 0 ? [] : [{ accountId, email, from, to: decision.to, outcome }];
}

/** What an account lacks for the next tier. */
export interface TierProgress {
  readonly tier: Tier;
  /** The unmet requirements; empty if the account qualifies. */
  readonly missing: readonly string[];
  /** True if the promotion waits for an operator. */
  readonly isQueued: boolean;
}

/** Returns what an account lacks for the next tier as of a UTC day, or undefined if the account is unknown. */
export function tierProgress(database: SqliteDatabase, accountId: string, day: string): TierProgress | undefined {
  const account = findAccount(database, accountId, day.slice(0, 7));
  if (account === undefined) return undefined;
  const queued = database.one(sql`SELECT 1 FROM reviews WHERE account_id = ${accountId} AND outcome = 'queued'`);
  const { missing } = decideTier(historyOf(database, account), day);
  return { tier: account.tier, missing, isQueued: queued !== undefined };
}

function historyOf(database: SqliteDatabase, account: Account): AccountHistory {
  const { accountId } = account;
  const credits = listEntries(database, accountId).flatMap(paidCreditFromRow);
  const declined = database.one(
    sql`SELECT max(decided_day) AS day FROM reviews WHERE account_id = ${accountId} AND outcome = 'declined'`,
  )?.day;
  return { ...account, credits, declined: typeof declined === "string" ? declined : null };
}

function paidCreditFromRow(row: Row): readonly PaidCredit[] {
  if (row.kind !== "paid") return [];
  const day = (column: string): string | null => (row[column] === null ? null : dayOf(integerIn(row, column)));
  return [{ micros: integerIn(row, "micros"), confirmed: day("confirmed_at_ms"), reversed: day("reversed_at_ms") }];
}

/** A manual review that waits for an operator's decision. */
export interface QueuedReview {
  readonly accountId: string;
  readonly email: string;
  readonly day: string;
  readonly from: Tier;
  readonly to: Tier;
}

/** Returns the queued manual reviews, oldest first. */
export function queuedReviews(database: SqliteDatabase): readonly QueuedReview[] {
  return database
    .all(sql`SELECT * FROM reviews JOIN accounts USING (account_id) WHERE outcome = 'queued' ORDER BY review`)
    .map((row) => ({
      accountId: textIn(row, "account_id"),
      email: textIn(row, "email"),
      day: textIn(row, "day"),
      from: tierIn(row, "from_tier"),
      to: tierIn(row, "to_tier"),
    }));
}

/** Decides a queued review and promotes an approved account. Returns the review. Throws a UserError if none is queued. */
export function decideReview(
  database: SqliteDatabase,
  accountId: string,
  outcome: "approved" | "declined",
  day: string,
): QueuedReview {
  return database.transaction(() => {
    const queued = queuedReviews(database).find((review) => review.accountId === accountId);
    if (queued === undefined)
      throw new UserError(`No queued review of account ${accountId}: expected an account in "carquet tiers queue".`);
    database.run(sql`
      UPDATE reviews SET outcome = ${outcome}, decided_day = ${day}
      WHERE  account_id = ${accountId} AND outcome = 'queued'`);
    if (outcome === "approved") changeAccount(database, accountId, { tier: queued.to });
    return queued;
  });
}
