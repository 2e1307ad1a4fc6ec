/**
 * Idempotency keys: a request that is repeated with the same key within 24 hours is charged once. A key belongs to an account and is
 * stored in the transaction of its charge. Responses are not stored: a repeated request is computed again.
 */
import { integerIn, textIn } from "../../base/json.ts";
import { sql, type Value } from "../../db/sql.ts";
import type { Columns, SqlDatabase } from "../../db/sql-database.ts";

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
export function findRepetition(
  database: SqlDatabase,
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

interface KeyedCharge {
  readonly accountId: string;
  readonly chargeId: string;
  readonly atMs: number;
  readonly request?: IdempotentRequest;
}

interface KeyUse {
  readonly account_id: string;
  readonly idempotency_key: string;
  readonly sha256: string;
  readonly charge_id: string;
  readonly at_ms: number;
}

/** The idempotency keys of a batch of charges, those used before and those that the batch uses. The accounts are locked. */
export class UsedIdempotencyKeys {
  private readonly posted: (KeyUse & Readonly<Record<string, Value>>)[] = [];

  private constructor(
    private readonly database: SqlDatabase,
    private readonly uses: Map<string, Pick<KeyUse, "sha256" | "at_ms">>,
  ) {}

  static load(database: SqlDatabase, charges: readonly KeyedCharge[]): UsedIdempotencyKeys {
    const keys = charges.flatMap(({ accountId, request }) =>
      request === undefined ? [] : [{ account_id: accountId, idempotency_key: request.idempotencyKey }],
    );
    if (keys.length === 0) return new UsedIdempotencyKeys(database, new Map());
    const rows = database.all(sql`
      SELECT account_id, idempotency_key, sha256, at_ms FROM idempotency_keys
      WHERE  (account_id, idempotency_key) IN (
               SELECT account_id, idempotency_key
               FROM   ${database.dialect.rows({ account_id: "text", idempotency_key: "text" }, keys)})`);
    const uses = rows.map((row): [string, Pick<KeyUse, "sha256" | "at_ms">] => [
      mapKeyOf(textIn(row, "account_id"), textIn(row, "idempotency_key")),
      { sha256: textIn(row, "sha256"), at_ms: integerIn(row, "at_ms") },
    ]);
    return new UsedIdempotencyKeys(database, new Map(uses));
  }

  /** Returns the state of the key of a charge; undefined for no key or an unused one. */
  find({ accountId, request, atMs }: KeyedCharge): Repetition | undefined {
    if (request === undefined) return undefined;
    const use = this.uses.get(mapKeyOf(accountId, request.idempotencyKey));
    if (use === undefined || use.at_ms <= atMs - idempotencyMs) return undefined;
    return use.sha256 === request.sha256 ? "repeated" : "mismatched";
  }

  add({ accountId, chargeId, atMs, request }: KeyedCharge): void {
    if (request === undefined) return;
    const { idempotencyKey, sha256 } = request;
    const use = { account_id: accountId, idempotency_key: idempotencyKey, sha256, charge_id: chargeId, at_ms: atMs };
    this.uses.set(mapKeyOf(accountId, idempotencyKey), use);
    this.posted.push(use);
  }

  post(): void {
    if (this.posted.length === 0) return;
    this.database.queueOver(
      useColumns,
      this.posted.splice(0),
      (items) => sql`
      INSERT INTO idempotency_keys (account_id, idempotency_key, sha256, charge_id, at_ms)
      SELECT account_id, idempotency_key, sha256, charge_id, at_ms FROM ${items} WHERE true
      ON CONFLICT (account_id, idempotency_key)
      DO UPDATE SET sha256 = excluded.sha256, charge_id = excluded.charge_id, at_ms = excluded.at_ms`,
    );
  }
}

const useColumns: Columns = {
  account_id: "text",
  idempotency_key: "text",
  sha256: "text",
  charge_id: "text",
  at_ms: "integer",
};

/** The key of an account's idempotency key in a map. Account ids contain no space. */
const mapKeyOf = (accountId: string, idempotencyKey: string): string => `${accountId} ${idempotencyKey}`;

/** The most keys that one transaction deletes, so that charges wait only briefly. */
const purgedKeysMax = 2_000;

/** Deletes the oldest keys used before a time. Returns true if there may be more. */
export function purgeIdempotencyKeys(database: SqlDatabase, beforeMs: number): boolean {
  const deleted = database.run(sql`
    DELETE FROM idempotency_keys WHERE (account_id, idempotency_key) IN (
      SELECT account_id, idempotency_key FROM idempotency_keys WHERE at_ms <= ${beforeMs} LIMIT ${purgedKeysMax})`);
  return deleted === purgedKeysMax;
}
