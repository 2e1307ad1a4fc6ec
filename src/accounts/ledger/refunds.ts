/**
 * Refunds of charges whose requests were not answered: adjustments by the amount of the charge, with its id in the reference. By triggers,
 * a refunded charge counts neither as spending nor as usage, also when the command line posts the refund.
 */
import { integerIn, textIn } from "../../base/json.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase, SqlDialect } from "../../db/sql-database.ts";
import { adjustBalance } from "./ledger.ts";

export const refundReference = (chargeId: string): string => `refund_${chargeId}`;

/** Selects the charges that some entries refund. */
export const chargesRefundedBy = (entries: Sql): Sql => sql`
  SELECT charge.* FROM ${entries} AS refund CROSS JOIN entries AS charge
  WHERE  charge.entry_id = substr(refund.reference, 8) AND refund.reference = 'refund_' || charge.entry_id AND refund.kind = 'adjustment'
         AND charge.kind = 'charge' AND charge.account_id = refund.account_id AND charge.micros = -refund.micros`;

/** Returns the statements that take the charges refunded by some entries from spending and usage. */
export const applyRefunds = ({ monthOf, dayOf }: SqlDialect, entries: Sql): readonly Sql[] => [
  sql`UPDATE spending SET micros = spending.micros - refunded.micros
      FROM (SELECT account_id, ${monthOf(sql`at_ms`)} AS month, -sum(micros) AS micros
            FROM (${chargesRefundedBy(entries)}) AS charges GROUP BY 1, 2) AS refunded
      WHERE refunded.account_id = spending.account_id AND refunded.month = spending.month`,
  sql`UPDATE usage_days SET requests = usage_days.requests - refunded.requests, charged_micros = charged_micros - refunded.micros
      FROM (SELECT account_id, ${dayOf(sql`at_ms`)} AS day, usage_class, count(*) AS requests, -sum(charges.micros) AS micros
            FROM (${chargesRefundedBy(entries)}) AS charges JOIN prices ON prices.price = charges.price GROUP BY 1, 2, 3) AS refunded
      WHERE refunded.account_id = usage_days.account_id AND refunded.day = usage_days.day
            AND refunded.usage_class = usage_days.usage_class`,
];

export interface RefundedCharge {
  readonly accountId: string;
  readonly micros: number;
  readonly atMs: number;
}

/**
 * Refunds a charge whose request was not answered, and frees its idempotency key. Idempotent. Returns the charge; undefined if it is not in the
 * ledger, or refunded already.
 */
export function refundCharge(database: SqlDatabase, chargeId: string): RefundedCharge | undefined {
  const charge = database.one(sql`
    SELECT account_id, micros, at_ms FROM entries WHERE entry_id = ${chargeId} AND kind = 'charge'`);
  const reference = refundReference(chargeId);
  if (
    charge === undefined ||
    database.one(sql`SELECT entry_id FROM entries WHERE reference = ${reference}`) !== undefined
  )
    return undefined;
  const [accountId, atMs] = [textIn(charge, "account_id"), integerIn(charge, "at_ms")];
  const micros = -integerIn(charge, "micros");
  const note = "the request failed before its answer, but its charge was on disk";
  adjustBalance(database, { accountId, micros, atMs, reference, note });
  database.run(sql`DELETE FROM idempotency_keys WHERE account_id = ${accountId} AND charge_id = ${chargeId}`);
  return { accountId, micros, atMs };
}
