/**
 * Idempotency keys: a request that is repeated with the same key within 24 hours is charged once. A key belongs to an account and is
 * stored in the transaction of its charge. Responses are not stored: a repeated request is computed again.
 */
import { textIn } from "../../base/json.ts";
import { insertInto } from "../../db/row-reader.ts";
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";

export interface IdempotentRequest {
  readonly idempotencyKey: string;
  /** SHA-256 of the operation and its parameters, in hex. */
  readonly sha256: string;
}

/** The state of a used key: the same request has been charged, or the key belongs to a different request. */
export type Repetition = "repeated" | "mismatched";

/** How long a key is kept. */
export const idempotencyMs = 24 * 3_600_000;

/** Returns the state of the key of a request of an account; undefined if the key is unused. */
export async function findRepetition(
  database: SqlDatabase,
  accountId: string,
  { idempotencyKey, sha256 }: IdempotentRequest,
  atMs: number,
): Promise<Repetition | undefined> {
  const row = await database.one(sql`
    SELECT sha256 FROM idempotency_keys
    WHERE  account_id = ${accountId} AND idempotency_key = ${idempotencyKey} AND at_ms > ${atMs - idempotencyMs}`);
  if (row === undefined) return undefined;
  return textIn(row, "sha256") === sha256 ? "repeated" : "mismatched";
}

/** Stores the key of a request that is charged. */
export async function useIdempotencyKey(
  database: SqlDatabase,
  accountId: string,
  request: IdempotentRequest,
  { chargeId, atMs }: { readonly chargeId: string; readonly atMs: number },
): Promise<void> {
  await database.run(sql`
    ${insertInto("idempotency_keys", { accountId, ...request, chargeId, atMs })}
    ON CONFLICT (account_id, idempotency_key)
    DO UPDATE SET sha256 = excluded.sha256, charge_id = excluded.charge_id, at_ms = excluded.at_ms`);
}

/** The most keys that one transaction deletes, so that charges wait only briefly. */
const purgedKeysMax = 500;

/** Deletes the oldest keys used before a time. Returns true if there may be more. */
export async function purgeIdempotencyKeys(database: SqlDatabase, beforeMs: number): Promise<boolean> {
  const deleted = await database.run(sql`
    DELETE FROM idempotency_keys WHERE (account_id, idempotency_key) IN (
      SELECT account_id, idempotency_key FROM idempotency_keys WHERE at_ms <= ${beforeMs} LIMIT ${purgedKeysMax})`);
  return deleted === purgedKeysMax;
}
