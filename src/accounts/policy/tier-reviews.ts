/** Tier reviews: applies the rules of `tiers.ts` to the accounts in the file, records reviews, and promotes accounts. */
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { type Account, changeAccount, findAccount, listAccounts, lockAccounts, tierIn } from "../account.ts";
import { dayOf } from "../clock.ts";
import { type AccountHistory, decideTier, type PaidCredit, type Tier } from "./tiers.ts";

export interface ReviewResult {
  readonly accountId: string;
  readonly email: string;
  readonly from: Tier;
  readonly to: Tier;
  /** `automatic`: the account was promoted. `queued`: an operator has to approve. */
  readonly outcome: "automatic" | "queued";
}

/** Reviews all accounts as of a UTC day, in one transaction. Returns the accounts that it promoted or queued. */
export function reviewAccounts(database: SqlDatabase, day: string): readonly ReviewResult[] {
  return database.transaction(() => {
    insertReviewedDay(database, day);
    // Another review of the day ends first: its promotions are seen.
    database.one(sql`SELECT day FROM reviewed_days WHERE day = ${day} ${database.dialect.forUpdate}`);
    const credits = listPaidCredits(database);
    const declined = listDeclined(database);
    return listAccounts(database, day.slice(0, 7)).flatMap((account) => {
      const { accountId } = account;
      const history = { ...account, credits: credits.get(accountId) ?? [], declined: declined.get(accountId) ?? null };
      return reviewAccount(database, account, history, day);
    });
  });
}

/** Reviews all accounts unless that day has already been reviewed; then returns no results. */
export function reviewOnce(database: SqlDatabase, day: string): readonly ReviewResult[] {
  return database.transaction(() => (insertReviewedDay(database, day) ? reviewAccounts(database, day) : []));
}

/** Records that a day is reviewed. Returns false if it has been before. */
const insertReviewedDay = (database: SqlDatabase, day: string): boolean =>
  database.run(sql`INSERT INTO reviewed_days VALUES (${day}) ON CONFLICT DO NOTHING`) > 0;

function reviewAccount(
  database: SqlDatabase,
  { accountId, email, tier: from }: Account,
  history: AccountHistory,
  day: string,
): readonly ReviewResult[] {
  const decision = decideTier(history, day);
  if (decision.to === null) return [];
  const outcome = decision.reviewKind === "automatic" ? "automatic" : "queued";
  const insertedRows = database.run(sql`
    INSERT INTO reviews (account_id, day, from_tier, to_tier, outcome)
    VALUES (${accountId}, ${day}, ${from}, ${decision.to}, ${outcome}) ON CONFLICT DO NOTHING`);
  if (outcome === "automatic") changeAccount(database, accountId, { tier: decision.to });
  return insertedRows === 0 ? [] : [{ accountId, email, from, to: decision.to, outcome }];
}

/** The requirements for the next tier that an account does not meet. */
export interface TierProgress {
  readonly tier: Tier;
  /** The unmet requirements; empty if the account qualifies. */
  readonly missing: readonly string[];
  /** True if the promotion waits for an operator. */
  readonly isQueued: boolean;
}

/** Returns the progress of an account to the next tier as of a UTC day, or undefined if the account is unknown. */
export function tierProgress(database: SqlDatabase, accountId: string, day: string): TierProgress | undefined {
  const account = findAccount(database, accountId, day.slice(0, 7));
  if (account === undefined) return undefined;
  const queued = database.one(
    sql`SELECT 1 AS found FROM reviews WHERE account_id = ${accountId} AND outcome = 'queued'`,
  );
  const { missing } = decideTier(historyOf(database, account), day);
  return { tier: account.tier, missing, isQueued: queued !== undefined };
}

function historyOf(database: SqlDatabase, account: Account): AccountHistory {
  const { accountId } = account;
  const credits = listPaidCredits(database, accountId).get(accountId) ?? [];
  return { ...account, credits, declined: listDeclined(database, accountId).get(accountId) ?? null };
}

function listPaidCredits(database: SqlDatabase, accountId?: string): ReadonlyMap<string, readonly PaidCredit[]> {
  // The index of entries other than charges has the condition `kind <> 'charge'`.
  const rows = database.all(sql`
    SELECT   entries.account_id, entries.micros, confirmations.at_ms AS confirmed_at_ms, reversal.at_ms AS reversed_at_ms
    FROM     entries
    LEFT JOIN confirmations ON confirmations.credit_id = entries.entry_id
    LEFT JOIN entries AS reversal ON reversal.credit_id = entries.entry_id AND reversal.kind = 'chargeback_reversal'
    WHERE    entries.kind <> 'charge' AND entries.kind = 'paid' AND ${ofAccount(sql`entries.account_id`, accountId)}
    ORDER BY entries.entry`);
  const credits = new Map<string, PaidCredit[]>();
  for (const row of rows) {
    const known = credits.get(textIn(row, "account_id"));
    if (known === undefined) credits.set(textIn(row, "account_id"), [paidCreditFromRow(row)]);
    else known.push(paidCreditFromRow(row));
  }
  return credits;
}

function paidCreditFromRow(row: Row): PaidCredit {
  const day = (column: string): string | null => (row[column] === null ? null : dayOf(integerIn(row, column)));
  return { micros: integerIn(row, "micros"), confirmed: day("confirmed_at_ms"), reversed: day("reversed_at_ms") };
}

/** Returns the day of the last declined review of one account or of all, by account id. */
function listDeclined(database: SqlDatabase, accountId?: string): ReadonlyMap<string, string> {
  const rows = database.all(sql`
    SELECT   account_id, max(decided_day) AS day FROM reviews
    WHERE    outcome = 'declined' AND ${ofAccount(sql`account_id`, accountId)} GROUP BY account_id`);
  return new Map(rows.map((row) => [textIn(row, "account_id"), textIn(row, "day")]));
}

const ofAccount = (column: Sql, accountId: string | undefined): Sql =>
  accountId === undefined ? sql`true` : sql`${column} = ${accountId}`;

/** A manual review that waits for an operator's decision. */
export interface QueuedReview {
  readonly accountId: string;
  readonly email: string;
  readonly day: string;
  readonly from: Tier;
  readonly to: Tier;
}

/** Returns the queued manual reviews, oldest first. */
export function queuedReviews(database: SqlDatabase): readonly QueuedReview[] {
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
  database: SqlDatabase,
  accountId: string,
  outcome: "approved" | "declined",
  day: string,
): QueuedReview {
  return database.transaction(() => {
    lockAccounts(database, [accountId]);
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
