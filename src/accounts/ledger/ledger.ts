/**
 * The ledger: append-only entries in integer micros. Posts credits, confirmations, reversals and adjustments; `charging.ts` posts
 * charges. Entry ids and payment references are unique, so nothing is posted twice.
 */

import { integerIn, type Row, textIn } from "../../base/json.ts";
import { randomId } from "../../base/random-ids.ts";
import { UserError } from "../../base/user-error.ts";
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { lockAccount } from "../account.ts";

export const creditKinds = ["paid", "promotional"] as const;
export type CreditKind = (typeof creditKinds)[number];

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
export function addCredit(database: SqlDatabase, { kind, isConfirmed, ...posting }: Credit): string {
  return database.transaction(() => {
    const creditId = post(database, kind, "credit", posting);
    if (kind === "paid" && isConfirmed) insertConfirmation(database, creditId, posting.atMs);
    return creditId;
  });
}

/** Confirms a paid credit. Idempotent: the first confirmation stays. Throws a UserError if the id is unknown. */
export function confirmCredit(database: SqlDatabase, creditId: string, atMs: number): void {
  database.transaction(() => {
    getPaidCredit(database, creditId);
    insertConfirmation(database, creditId, atMs);
  });
}

function insertConfirmation(database: SqlDatabase, creditId: string, atMs: number): void {
  database.run(sql`INSERT INTO confirmations VALUES (${creditId}, ${atMs}) ON CONFLICT DO NOTHING`);
}

/**
 * Reverses a paid credit in full after a chargeback; the balance may become negative. Returns the id of the reversal. Throws a UserError
 * if the id is unknown or already reversed.
 */
export function reverseCredit(database: SqlDatabase, creditId: string, atMs: number, note?: string): string {
  return database.transaction(() => {
    const credit = getPaidCredit(database, creditId);
    lockAccount(database, credit.accountId);
    const reversal = database.one(
      sql`SELECT 1 AS found FROM entries WHERE credit_id = ${creditId} AND kind = 'chargeback_reversal'`,
    );
    if (reversal !== undefined)
      throw new UserError(`Credit ${creditId} is already reversed: expected a credit without a reversal.`);
    const posting = { accountId: credit.accountId, micros: -credit.micros, atMs, creditId };
    return post(database, "chargeback_reversal", "reversal", note === undefined ? posting : { ...posting, note });
  });
}

/** Adjusts a balance by a positive or negative amount. Returns the id of the adjustment. */
export function adjustBalance(database: SqlDatabase, posting: Posting): string {
  return database.transaction(() => post(database, "adjustment", "adjustment", posting));
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
function post(database: SqlDatabase, kind: string, idPrefix: string, posting: Posting): string {
  const { accountId, micros, atMs, creditId = null, reference = null, note = null } = posting;
  lockAccount(database, accountId);
  const duplicate =
    reference === null ? undefined : database.one(sql`SELECT entry_id FROM entries WHERE reference = ${reference}`);
  if (duplicate !== undefined)
    throw new UserError(
      `Reference ${reference} is already posted as ${textIn(duplicate, "entry_id")}: expected a new reference.`,
    );
  const entryId = `${idPrefix}_${randomId(16)}`;
  database.run(sql`
    INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, credit_id, reference, note)
    VALUES (${entryId}, ${accountId}, ${kind}, ${micros}, ${atMs}, ${creditId}, ${reference}, ${note})`);
  return entryId;
}

/** Returns a paid credit. Throws a UserError if the id is unknown, or, if an account is named, of another account. */
export function getPaidCredit(
  database: SqlDatabase,
  creditId: string,
  accountId?: string,
): { readonly accountId: string; readonly micros: number } {
  const row = database.one(sql`SELECT account_id, micros FROM entries WHERE entry_id = ${creditId} AND kind = 'paid'`);
  if (row === undefined || (accountId !== undefined && row.account_id !== accountId))
    throw new UserError(`Unknown credit ${creditId}: expected the id of a paid credit in "carquet credits list".`);
  return { accountId: textIn(row, "account_id"), micros: integerIn(row, "micros") };
}

/** Returns the entries of an account except charges, oldest first, with the times of their confirmation and reversal or null. */
export function listEntries(database: SqlDatabase, accountId: string): readonly Row[] {
  return database.all(sql`
    SELECT   entries.entry_id, entries.kind, entries.micros, entries.at_ms, confirmations.at_ms AS confirmed_at_ms,
             reversal.at_ms AS reversed_at_ms, entries.credit_id, entries.reference, entries.note
    FROM     entries
    LEFT JOIN confirmations ON confirmations.credit_id = entries.entry_id
    LEFT JOIN entries AS reversal ON reversal.credit_id = entries.entry_id AND reversal.kind = 'chargeback_reversal'
    WHERE    entries.account_id = ${accountId} AND entries.kind <> 'charge'
    ORDER BY entries.entry`);
}
