/**
 * Idempotency keys: a request that is repeated with the same key within 24 hours is charged once. A key belongs to an account and is
 * stored in the transaction of its charge. Responses are not stored: a repeated request is computed again.
 */
import { textIn } from "../../base/json.ts";
import { sql } from "../../db/sql.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import type { Shortfall } from "../policy/billing-state.ts";
import type { ChargeBatch, ChargeEntry } from "./charging.ts";

/** The idempotency key of a request, and what the key stands for. */
export interface IdempotentRequest {
  readonly idempotencyKey: string;
  /** SHA-256 of the operation and its parameters, in hex. */
  readonly sha256: string;
}

/** What became of a used key: the same request has been charged, or the key stands for a different request. */
export type Repetition = "repeated" | "mismatched";

/** How long a key is kept. */
export const idempotencyMs = 24 * 3_600_000;

/** Returns what became of the key of a request of an account; undefined if the key can be used. */
export function findRepetition(
  database: SqliteDatabase,
  accountId: string,
  { idempotencyKey, sha256 }: IdempotentRequest,
  atMs: number,
): Repetition | undefined {
  const row = database.one(sql`
    SELECT sha256 FROM idempotency_keys
    WHERE  account_id = ${accountId} AND idempotency_key = ${idempotencyKey} AND at_ms > ${atMs - idempotencyMs}`);
  if (row === undefined) return undefined;
  return textIn(row, "sha256") === sha256 ? "repeated" : "mismatched";
}

/** Posts a charge and its idempotency key, unless the key is taken. Returns undefined if it is posted, else why not. */
export function postOnce(
  database: SqliteDatabase,
  charges: ChargeBatch,
  charge: ChargeEntry,
  request: IdempotentRequest,
): Shortfall | Repetition | undefined {
  const { chargeId, accountId, atMs } = charge;
  const repetition = findRepetition(database, accountId, request, atMs);
  if (repetition !== undefined) return repetition;
  const short = charges.add(charge);
  if (short !== undefined) return short;
  database.run(sql`
    INSERT INTO idempotency_keys (account_id, idempotency_key, sha256, charge_id, at_ms)
    VALUES (${accountId}, ${request.idempotencyKey}, ${request.sha256}, ${chargeId}, ${atMs})
    ON CONFLICT DO UPDATE SET sha256 = excluded.sha256, charge_id = excluded.charge_id, at_ms = excluded.at_ms`);
  return undefined;
}

/** The most keys that one transaction deletes, so that charges wait only briefly. */
const purgedKeysMost = 2_000;

/** Deletes the oldest keys used before a time. Returns true if there may be more. */
export function purgeIdempotencyKeys(database: SqliteDatabase, beforeMs: number): boolean {
  const deleted = database.run(sql`
    DELETE FROM idempotency_keys WHERE (account_id, idempotency_key) IN (
      SELECT account_id, idempotency_key FROM idempotency_keys WHERE at_ms <= ${beforeMs} LIMIT ${purgedKeysMost})`);
  return deleted === purgedKeysMost;
}
