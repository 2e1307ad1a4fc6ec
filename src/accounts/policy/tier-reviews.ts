/** Tier reviews: applies the rules of `tiers.ts` to the accounts in the file, records reviews, and promotes accounts. */
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { rowReader } from "../../db/row-reader.ts";
import { integerLiteral, type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { type Account, changeAccount, findAccount, listAccounts, lockAccount, tierIn } from "../account.ts";
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

/**
 * Reviews all accounts as of a UTC day. Returns the accounts that it promoted or queued. With `recordOnce`, reviews a day once, and calls that with
 * results in their transaction.
 */
export async function reviewAccounts(
  database: SqlDatabase,
  day: string,
  recordOnce?: (database: SqlDatabase, results: readonly ReviewResult[]) => Promise<void>,
): Promise<readonly ReviewResult[]> {
  const reviewed = await database.one(sql`SELECT day FROM reviewed_days WHERE day = ${day}`);
  if (reviewed !== undefined && recordOnce !== undefined) return [];
  const due = await findPromotions(database, day);
  return database.transaction(async (transaction) => {
    const days = await transaction.run(sql`INSERT INTO reviewed_days VALUES (${day}) ON CONFLICT DO NOTHING`);
    if (days === 0 && recordOnce !== undefined) return [];
    const results = await applyPromotions(transaction, due, day);
    if (results.length > 0) await recordOnce?.(transaction, results);
    return results;
  });
}

/** Returns the accounts that qualify for the next tier. Reads all accounts. */
const findPromotions = (database: SqlDatabase, day: string): Promise<readonly ReviewResult[]> =>
  database.reading(async (reader) => {
    const historyOf = await readHistories(reader);
    const accounts = await listAccounts(reader, day.slice(0, 7));
    return accounts.flatMap((account) => {
      const { accountId, email, tier: from } = account;
      const { to, reviewKind } = decideTier(historyOf(account), day);
      if (to === null) return [];
      return [{ accountId, email, from, to, outcome: reviewKind === "automatic" ? "automatic" : "queued" } as const];
    });
  });

/** Promotes or queues accounts whose tier is still the reviewed tier. Returns those that it has. */
async function applyPromotions(
  database: SqlDatabase,
  due: readonly ReviewResult[],
  day: string,
): Promise<readonly ReviewResult[]> {
  const results: ReviewResult[] = [];
  for (const review of due) {
    const { accountId, from, to, outcome } = review;
    const insertedRows = await database.run(sql`
      INSERT INTO reviews (account_id, day, from_tier, to_tier, outcome)
      SELECT account_id, ${day}, tier, ${integerLiteral(to)}, ${outcome} FROM accounts WHERE account_id = ${accountId} AND tier = ${from}
      ON CONFLICT DO NOTHING`);
    if (insertedRows === 0) continue;
    if (outcome === "automatic") await changeAccount(database, accountId, { tier: to });
    results.push(review);
  }
  return results;
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
export async function tierProgress(
  database: SqlDatabase,
  accountId: string,
  day: string,
): Promise<TierProgress | undefined> {
  const account = await findAccount(database, accountId, day.slice(0, 7));
  if (account === undefined) return undefined;
  const queued = await database.one(
    sql`SELECT 1 AS found FROM reviews WHERE account_id = ${accountId} AND outcome = 'queued'`,
  );
  const { missing } = decideTier((await readHistories(database, accountId))(account), day);
  return { tier: account.tier, missing, isQueued: queued !== undefined };
}

/** Returns a function that returns the history of an account: of one, or of all. */
async function readHistories(
  database: SqlDatabase,
  ofAccountId?: string,
): Promise<(account: Account) => AccountHistory> {
  const credits = await listPaidCredits(database, ofAccountId);
  const declined = await listDeclined(database, ofAccountId);
  return (account) => {
    const { accountId } = account;
    return { ...account, credits: credits.get(accountId) ?? [], declined: declined.get(accountId) ?? null };
  };
}

async function listPaidCredits(
  database: SqlDatabase,
  accountId?: string,
): Promise<ReadonlyMap<string, readonly PaidCredit[]>> {
  // The index of entries other than charges has the condition `kind <> 'charge'`.
  const rows = await database.all(sql`
    SELECT   entries.account_id, entries.micros, confirmations.at_ms AS confirmed_at_ms, reversal.at_ms AS reversed_at_ms
    FROM     entries
    LEFT JOIN confirmations ON confirmations.credit_id = entries.entry_id
    LEFT JOIN entries AS reversal ON reversal.credit_id = entries.entry_id AND reversal.kind = 'chargeback_reversal'
    WHERE    entries.kind <> 'charge' AND entries.kind = 'paid' AND ${ofAccount(sql`entries.account_id`, accountId)}
    ORDER BY entries.entry`);
  const credits = new Map<string, readonly PaidCredit[]>();
  for (const row of rows) {
    const payer = textIn(row, "account_id");
    credits.set(payer, [...(credits.get(payer) ?? []), paidCreditFromRow(row)]);
  }
  return credits;
}

function paidCreditFromRow(row: Row): PaidCredit {
  const day = (column: string): string | null => (row[column] === null ? null : dayOf(integerIn(row, column)));
  return { micros: integerIn(row, "micros"), confirmed: day("confirmed_at_ms"), reversed: day("reversed_at_ms") };
}

/** Returns the day of the last declined review of one account or of all, by account id. */
async function listDeclined(database: SqlDatabase, accountId?: string): Promise<ReadonlyMap<string, string>> {
  const rows = await database.all(sql`
    SELECT   account_id, max(decided_day) AS day FROM reviews
    WHERE    outcome = 'declined' AND ${ofAccount(sql`account_id`, accountId)} GROUP BY account_id`);
  return new Map(rows.map((row) => [textIn(row, "account_id"), textIn(row, "day")]));
}

const ofAccount = (column: Sql, accountId: string | undefined): Sql =>
  accountId === undefined ? sql`true` : sql`${column} = ${accountId}`;

/** A manual review that waits for an operator's decision. */
export type QueuedReview = ReturnType<typeof readReview>;

const readReview = rowReader({ accountId: textIn, email: textIn, day: textIn, fromTier: tierIn, toTier: tierIn });

/** Returns the queued manual reviews, oldest first. */
export async function queuedReviews(database: SqlDatabase): Promise<readonly QueuedReview[]> {
  const query = sql`SELECT * FROM reviews JOIN accounts USING (account_id) WHERE outcome = 'queued' ORDER BY review`;
  return (await database.all(query)).map(readReview);
}

/** Decides a queued review and promotes an approved account. Returns the review. Throws a UserError if none is queued. */
export function decideReview(
  database: SqlDatabase,
  accountId: string,
  outcome: "approved" | "declined",
  day: string,
): Promise<QueuedReview> {
  return database.transaction(async (database) => {
    await lockAccount(database, accountId);
    const queued = (await queuedReviews(database)).find((review) => review.accountId === accountId);
    if (queued === undefined)
      throw new UserError(`No queued review of account ${accountId}: expected an account in "carquet tiers queue".`);
    await database.run(sql`
      UPDATE reviews SET outcome = ${outcome}, decided_day = ${day}
      WHERE  account_id = ${accountId} AND outcome = 'queued'`);
    if (outcome === "approved") await changeAccount(database, accountId, { tier: queued.toTier });
    return queued;
  });
}
