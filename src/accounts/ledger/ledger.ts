/**
 * The ledger: append-only entries in integer micros. Posts credits, confirmations, reversals and adjustments; `charging.ts` posts charges.
 * Entry ids and payment references are unique, so nothing is posted twice.
 *
 * A refund of a charge is an adjustment by the amount of the charge, with its id in the reference. By triggers, a refunded charge counts neither as
 * spending nor as usage.
 */
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { randomId } from "../../base/random-ids.ts";
import { UserError } from "../../base/user-error.ts";
import { insertInto } from "../../db/row-reader.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase, SqlDialect } from "../../db/sql-database.ts";
import { lockAccount } from "../account.ts";

export const creditKinds = ["paid", "promotional"] as const;
type CreditKind = (typeof creditKinds)[number];

export interface Credit {
  readonly accountId: string;
  readonly kind: CreditKind;
  readonly micros: number;
  readonly atMs: number;
  /** True if the payment is confirmed. Only confirmed paid credits count towards a tier. */
  readonly isConfirmed: boolean;
  /** The id of the payment in another system. Unique: a payment is credited once. */
  readonly reference?: string;
  readonly note?: string;
}

/** Adds a credit to an account's balance. Returns the id of the credit. */
export function addCredit(database: SqlDatabase, { kind, isConfirmed, ...posting }: Credit): Promise<string> {
  return database.transaction(async (database) => {
    const creditId = await post(database, kind, "credit", posting);
    if (kind === "paid" && isConfirmed) await insertConfirmation(database, creditId, posting.atMs);
    return creditId;
  });
}

/** Confirms a paid credit. Idempotent: the first confirmation stays. Throws a UserError if the id is unknown. */
export async function confirmCredit(database: SqlDatabase, creditId: string, atMs: number): Promise<void> {
  await database.transaction(async (database) => {
    await getPaidCredit(database, creditId);
    await insertConfirmation(database, creditId, atMs);
  });
}

async function insertConfirmation(database: SqlDatabase, creditId: string, atMs: number): Promise<void> {
  await database.run(sql`INSERT INTO confirmations VALUES (${creditId}, ${atMs}) ON CONFLICT DO NOTHING`);
}

/**
 * Reverses a paid credit in full after a chargeback; the balance may become negative. Returns the id of the reversal. Throws a UserError
 * if the id is unknown or already reversed.
 */
export function reverseCredit(database: SqlDatabase, creditId: string, atMs: number, note?: string): Promise<string> {
  return database.transaction(async (database) => {
    const credit = await getPaidCredit(database, creditId);
    await lockAccount(database, credit.accountId);
    const reversal = await database.one(
      sql`SELECT 1 AS found FROM entries WHERE credit_id = ${creditId} AND kind = 'chargeback_reversal'`,
    );
    if (reversal !== undefined)
      throw new UserError(`Credit ${creditId} is already reversed: expected a credit without a reversal.`);
    const posting = { accountId: credit.accountId, micros: -credit.micros, atMs, creditId };
    return post(database, "chargeback_reversal", "reversal", note === undefined ? posting : { ...posting, note });
  });
}

/** Adjusts a balance by a positive or negative amount. Returns the id of the adjustment. */
export function adjustBalance(database: SqlDatabase, posting: Posting): Promise<string> {
  return database.transaction(async (database) => post(database, "adjustment", "adjustment", posting));
}

interface Posting {
  readonly accountId: string;
  readonly micros: number;
  readonly atMs: number;
  readonly creditId?: string;
  readonly reference?: string;
  readonly note?: string;
}

/** Inserts an entry. Returns its id. Throws a UserError if the account is unknown or the reference is taken. */
async function post(database: SqlDatabase, kind: string, idPrefix: string, posting: Posting): Promise<string> {
  const { accountId, reference } = posting;
  await lockAccount(database, accountId);
  const duplicate =
    reference === undefined
      ? undefined
      : await database.one(sql`SELECT entry_id FROM entries WHERE reference = ${reference}`);
  if (duplicate !== undefined)
    throw new UserError(
      `Reference ${reference} is already posted as ${textIn(duplicate, "entry_id")}: expected a new reference.`,
    );
  const entryId = `${idPrefix}_${randomId(16)}`;
  await database.run(insertInto("entries", { ...posting, entryId, kind }));
  return entryId;
}

/** Returns a paid credit. Throws a UserError if the id is unknown, or, if an account is named, of another account. */
export async function getPaidCredit(
  database: SqlDatabase,
  creditId: string,
  accountId?: string,
): Promise<{ readonly accountId: string; readonly micros: number }> {
  const row = await database.one(
    sql`SELECT account_id, micros FROM entries WHERE entry_id = ${creditId} AND kind = 'paid'`,
  );
  if (row === undefined || (accountId !== undefined && row.account_id !== accountId))
    throw new UserError(`Unknown credit ${creditId}: expected the id of a paid credit in "carquet credits list".`);
  return { accountId: textIn(row, "account_id"), micros: integerIn(row, "micros") };
}

/** Returns the entries of an account except charges, oldest first, with the times of their confirmation and reversal or null. */
export function listEntries(database: SqlDatabase, accountId: string): Promise<readonly Row[]> {
  const query = sql`
    SELECT   entries.entry_id, entries.kind, entries.micros, entries.at_ms, confirmations.at_ms AS confirmed_at_ms,
             reversal.at_ms AS reversed_at_ms, entries.credit_id, entries.reference, entries.note
    FROM     entries
    LEFT JOIN confirmations ON confirmations.credit_id = entries.entry_id
    LEFT JOIN entries AS reversal ON reversal.credit_id = entries.entry_id AND reversal.kind = 'chargeback_reversal'
    WHERE    entries.account_id = ${accountId} AND entries.kind <> 'charge'
    ORDER BY entries.entry`;
  return database.reading((reader) => reader.all(query));
}

export const refundReference = (chargeId: string): string => `refund_${chargeId}`;

/** Selects the charges that some entries refund. */
export const chargesRefundedBy = (entries: Sql): Sql => sql`
  SELECT charge.* FROM ${entries} AS refund CROSS JOIN entries AS charge
  WHERE  charge.entry_id = substr(refund.reference, 8) AND refund.reference = 'refund_' || charge.entry_id AND refund.kind = 'adjustment'
         AND charge.kind = 'charge' AND charge.account_id = refund.account_id AND charge.micros = -refund.micros`;

/** Returns the statement that takes the charges refunded by some entries from usage. */
export const applyRefunds = ({ dayOf }: SqlDialect, entries: Sql): Sql => sql`
  UPDATE usage_days SET requests = usage_days.requests - refunded.requests, charged_micros = charged_micros - refunded.micros
  FROM   (SELECT account_id, ${dayOf(sql`at_ms`)} AS day, usage_class, count(*) AS requests, -sum(charges.micros) AS micros
          FROM (${chargesRefundedBy(entries)}) AS charges JOIN prices ON prices.price = charges.price GROUP BY 1, 2, 3) AS refunded
  WHERE  refunded.account_id = usage_days.account_id AND refunded.day = usage_days.day
         AND refunded.usage_class = usage_days.usage_class`;
