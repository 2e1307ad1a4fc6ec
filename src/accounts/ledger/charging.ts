/**
 * Posts charges to the ledger. A charge is one statement, whose triggers keep balance, spending and usage, and refuse what the account cannot pay; one with
 * an idempotency key is a transaction.
 */
import { classifyFault } from "../../db/engine-faults.ts";
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { findAccount, lockAccount } from "../account.ts";
import { monthOf } from "../clock.ts";
import { formatUsd } from "../money.ts";
import { type Shortfall, shortfall } from "../policy/billing-state.ts";
import { prices, pricingVersion, type UsageClass } from "../policy/prices.ts";
import { findRepetition, type IdempotentRequest, type Repetition, useIdempotencyKey } from "./idempotency.ts";
import { refundReference } from "./ledger.ts";

export interface ChargeEntry {
  /** A second charge with this id posts nothing. */
  readonly chargeId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly usageClass: UsageClass;
  /** How often the price of the class is charged; once by default. */
  readonly units?: number;
  readonly atMs: number;
  /** The idempotency key of the request, if it has one. */
  readonly request?: IdempotentRequest | undefined;
}

const microsOf = ({ usageClass, units = 1 }: Pick<ChargeEntry, "usageClass" | "units">): number =>
  prices[usageClass] * units;

/** Returns the options of `carquet credits adjust` that refund a charge. */
export const adjustmentOf = (charge: ChargeEntry): { account: string; usd: string; reference: string } => ({
  account: charge.accountId,
  usd: formatUsd(microsOf(charge)),
  reference: refundReference(charge.chargeId),
});

/** Posts a charge. Returns undefined if it is in the ledger, else why the account cannot pay, or that its idempotency key is taken. */
export async function postCharge(
  database: SqlDatabase,
  charge: ChargeEntry,
): Promise<Shortfall | Repetition | undefined> {
  const { accountId, request, atMs } = charge;
  try {
    if (request === undefined) {
      await insert(database, charge);
      return undefined;
    }
    const post = async (transaction: SqlDatabase): Promise<Repetition | undefined> => {
      await lockAccount(transaction, accountId);
      const repetition = await findRepetition(transaction, accountId, request, atMs);
      // The key of a charge that is posted again is its own.
      if (repetition !== undefined) return (await isPosted(transaction, charge.chargeId)) ? undefined : repetition;
      await insert(transaction, charge);
      await useIdempotencyKey(transaction, accountId, request, charge);
      return undefined;
    };
    return await database.transaction(post, true);
  } catch (thrown) {
    if (classifyFault(thrown) !== "constraint") throw thrown;
    if (await isPosted(database, charge.chargeId)) return undefined;
    const account = await findAccount(database, accountId, monthOf(atMs));
    const short = account && shortfall(account, microsOf(charge));
    if (short === undefined) throw thrown;
    return short;
  }
}

/** Locks the account before the entry is numbered: the entries of an account are numbered in the order in which they are committed. */
async function insert(database: SqlDatabase, charge: ChargeEntry): Promise<void> {
  const { chargeId, accountId, keyId, usageClass, atMs } = charge;
  const micros = -microsOf(charge);
  // SQLite has one writer, and would copy a SELECT into a temporary table first.
  const count = await database.post(
    database.dialect.name === "sqlite"
      ? sql`
        INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, price, key_id)
        VALUES (${chargeId}, ${accountId}, 'charge', ${micros}, ${atMs},
                (SELECT price FROM prices WHERE pricing_version = ${pricingVersion} AND usage_class = ${usageClass}), ${keyId})`
      : sql`
        INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, price, key_id)
        SELECT ${chargeId}, account_id, 'charge', ${micros}, ${atMs},
               (SELECT price FROM prices WHERE pricing_version = ${pricingVersion} AND usage_class = ${usageClass}), ${keyId}
        FROM   accounts WHERE account_id = ${accountId} FOR NO KEY UPDATE`,
  );
  if (count !== 1) throw new TypeError(`Unknown account ${accountId}: expected that of a key.`);
}

const isPosted = async (database: SqlDatabase, chargeId: string): Promise<boolean> =>
  (await database.one(sql`SELECT 1 AS found FROM entries WHERE entry_id = ${chargeId} AND kind = 'charge'`)) !==
  undefined;
