/** Tier reviews on the file: the history of each account goes into the rules of `tiers.ts`, and what they say is carried out. */

import { integerIn, type Row, textIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { sql } from "../../db/sql.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { type Account, changeAccount, listAccounts, tierIn } from "../account.ts";
import { dayOf } from "../clock.ts";
import { listEntries } from "../ledger/ledger.ts";
import { decideTier, type PaidCredit, type Tier } from "./tiers.ts";

/** What a review did with an account. */
export interface ReviewResult {
  readonly accountId: string;
  readonly email: string;
  readonly from: Tier;
  readonly to: Tier;
  /** `automatic`: the account has risen; `queued`: somebody has to approve it. */
  readonly outcome: "automatic" | "queued";
}

/** Reviews all accounts as of a UTC day, in one transaction; gives those that something came of. */
export function reviewAccounts(database: SqliteDatabase, day: string): readonly ReviewResult[] {
  return database.transaction(() => {
    database.run(sql`INSERT INTO reviewed_days VALUES (${day}) ON CONFLICT DO NOTHING`);
    return listAccounts(database, day.slice(0, 7)).flatMap((account) => reviewAccount(database, account, day));
  });
}

/** The review of a day, unless that day has had one. */
export function reviewOnce(database: SqliteDatabase, day: string): readonly ReviewResult[] {
  if (database.one(sql`SELECT 1 FROM reviewed_days WHERE day = ${day}`) !== undefined) return [];
  return reviewAccounts(database, day);
}

function reviewAccount(database: SqliteDatabase, account: Account, day: string): readonly ReviewResult[] {
  const { accountId, email, tier: from } = account;
  const credits = listEntries(database, accountId).flatMap(paidCreditOf);
  const declined = database.one(
    sql`SELECT max(decided_day) AS day FROM reviews WHERE account_id = ${accountId} AND outcome = 'declined'`,
  )?.day;
  const verdict = decideTier({ ...account, credits, declined: typeof declined === "string" ? declined : null }, day);
  if (verdict.to === null) return [];
  const outcome = verdict.reviewKind === "automatic" ? "automatic" : "queued";
  const added = database.run(sql`
    INSERT INTO reviews (account_id, day, from_tier, to_tier, outcome)
    VALUES (${accountId}, ${day}, ${from}, ${verdict.to}, ${outcome}) ON CONFLICT DO NOTHING`);
  if (outcome === "automatic") changeAccount(database, accountId, { tier: verdict.to });
  return added === 0 ? [] : [{ accountId, email, from, to: verdict.to, outcome }];
}

function paidCreditOf(row: Row): readonly PaidCredit[] {
  if (row.kind !== "paid") return [];
  const day = (column: string): string | null => (row[column] === null ? null : dayOf(integerIn(row, column)));
  return [{ micros: integerIn(row, "micros"), confirmed: day("confirmed_at_ms"), reversed: day("reversed_at_ms") }];
}

/** A manual review that waits for somebody's decision. */
export interface QueuedReview {
  readonly accountId: string;
  readonly email: string;
  readonly day: string;
  readonly from: Tier;
  readonly to: Tier;
}

/** The manual reviews that wait, the oldest first. */
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

/** Decides a manual review that waits; an approved account rises. Gives the review. */
export function decideReview(
  database: SqliteDatabase,
  accountId: string,
  outcome: "approved" | "declined",
  day: string,
): QueuedReview {
  return database.transaction(() => {
    const queued = queuedReviews(database).find((waiting) => waiting.accountId === accountId);
    if (queued === undefined) throw new UserError(`no review of the account ${accountId} is waiting.`);
    database.run(sql`
      UPDATE reviews SET outcome = ${outcome}, decided_day = ${day}
      WHERE  account_id = ${accountId} AND outcome = 'queued'`);
    if (outcome === "approved") changeAccount(database, accountId, { tier: queued.to });
    return queued;
  });
}
