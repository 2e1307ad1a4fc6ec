/**
 * The ledger: entries in integer micros that are added and never changed. Each has an id of its own, so that nothing is
 * posted twice; a charge's is that of its request (`charging.ts`). Whoever posts more than one at a time does so in one transaction.
 */

import { integerIn, type Row, textIn } from "../../base/json.ts";
import { randomWord } from "../../base/random-ids.ts";
import { UserError } from "../../base/user-error.ts";
import { sql } from "../../db/sql.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";

/** The kinds of credit that somebody is given. */
export const creditKinds = ["paid", "promotional"] as const;
export type CreditKind = (typeof creditKinds)[number];

export interface Credit {
  readonly accountId: string;
  readonly kind: CreditKind;
  readonly micros: number;
  readonly atMs: number;
  /** Whether a paid credit is known to have been paid; only then does it count towards a tier. */
  readonly isConfirmed: boolean;
  /** Whatever names the payment elsewhere; one payment is credited once. */
  readonly reference?: string;
  readonly note?: string;
}

/** Adds a credit to an account's balance; gives the credit's id. */
export function addCredit(database: SqliteDatabase, { kind, isConfirmed, ...posting }: Credit): string {
  return database.transaction(() => {
    const creditId = post(database, kind, "credit", posting);
    if (kind === "paid" && isConfirmed) confirm(database, creditId, posting.atMs);
    return creditId;
  });
}

/** Confirms a paid credit; one that is confirmed already stays so. */
export function confirmCredit(database: SqliteDatabase, creditId: string, atMs: number): void {
  database.transaction(() => {
    creditAt(database, creditId);
    confirm(database, creditId, atMs);
  });
}

function confirm(database: SqliteDatabase, creditId: string, atMs: number): void {
  database.run(sql`INSERT INTO confirmations VALUES (${creditId}, ${atMs}) ON CONFLICT DO NOTHING`);
}

/** Takes a paid credit back after a chargeback, whatever is left of it; gives the reversal's id. */
export function reverseCredit(database: SqliteDatabase, creditId: string, atMs: number, note?: string): string {
  return database.transaction(() => {
    const credit = creditAt(database, creditId);
    const known = database.one(
      sql`SELECT 1 FROM entries WHERE credit_id = ${creditId} AND kind = 'chargeback_reversal'`,
    );
    if (known !== undefined) throw new UserError(`the credit ${creditId} has been taken back already.`);
    const posting = { accountId: credit.accountId, micros: -credit.micros, atMs, creditId };
    return post(database, "chargeback_reversal", "reversal", note === undefined ? posting : { ...posting, note });
  });
}

/** Corrects a balance by some micros, up or down; gives the adjustment's id. */
export function adjustBalance(database: SqliteDatabase, posting: Posting): string {
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

function post(database: SqliteDatabase, kind: string, prefix: string, posting: Posting): string {
  const { accountId, micros, atMs, creditId = null, reference = null, note = null } = posting;
  if (database.one(sql`SELECT 1 FROM accounts WHERE account_id = ${accountId}`) === undefined)
    throw new UserError(`there is no account ${accountId}.`);
  const known = database.one(sql`SELECT entry_id FROM entries WHERE reference = ${reference}`);
  if (known !== undefined)
    throw new UserError(`the payment ${reference} has been credited already, as ${textIn(known, "entry_id")}.`);
  const entryId = `${prefix}_${randomWord(16)}`;
  database.run(sql`
    INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, credit_id, reference, note)
    VALUES (${entryId}, ${accountId}, ${kind}, ${micros}, ${atMs}, ${creditId}, ${reference}, ${note})`);
  return entryId;
}

function creditAt(database: SqliteDatabase, creditId: string): { readonly accountId: string; readonly micros: number } {
  const row = database.one(sql`SELECT account_id, micros FROM entries WHERE entry_id = ${creditId} AND kind = 'paid'`);
  if (row === undefined) throw new UserError(`there is no paid credit ${creditId}.`);
  return { accountId: textIn(row, "account_id"), micros: integerIn(row, "micros") };
}

/** What has been posted to an account beside charges, the oldest first: what, how much, when, confirmed when, taken back when. */
export function listEntries(database: SqliteDatabase, accountId: string): readonly Row[] {
  return database.all(sql`
    SELECT   posted.entry_id, posted.kind, posted.micros, posted.at_ms, confirmations.at_ms AS confirmed_at_ms,
             reversal.at_ms AS reversed_at_ms, posted.credit_id, posted.reference, posted.note
    FROM     entries AS posted
    LEFT JOIN confirmations ON confirmations.credit_id = posted.entry_id
    LEFT JOIN entries AS reversal ON reversal.credit_id = posted.entry_id AND reversal.kind = 'chargeback_reversal'
    WHERE    posted.account_id = ${accountId} AND posted.kind <> 'charge'
    ORDER BY posted.entry`);
}
