/** Audits accounts: recomputes balances and usage from the entries, and checks the integrity of a file. */
import { integerIn } from "../../base/json.ts";
import { messageOf } from "../../base/user-error.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { join, literal, type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase, SqlDialect } from "../../db/sql-database.ts";
import { unitClasses } from "../policy/prices.ts";
import { chargesRefundedBy } from "./ledger.ts";

/** The fault that means damage to the file itself rather than to its sums. */
export const damagedFileFault = "File damaged";

/** Checks that PostgreSQL needs not: it never violates a foreign key, and `pg_amcheck` checks its files. */
const fileChecks: Readonly<Record<string, Sql>> = {
  [damagedFileFault]: sql`
    SELECT integrity_check AS violation FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
  "Foreign key without a target": sql`
    SELECT "table" || ' row ' || rowid || ' refers to ' || parent AS violation FROM pragma_foreign_key_check`,
};

/** Returns one query per kind of fault. Each row it returns is a violation, described by its column `violation`. */
const checksIn = (dialect: SqlDialect): Readonly<Record<string, Sql>> => ({
  ...(dialect.name === "sqlite" ? fileChecks : {}),
  "Balance differs from the sum of its entries": sql`
    SELECT account_id || ' has ' || balance_micros || ' micros, expected ' || coalesce(micros, 0) AS violation
    FROM   accounts
    LEFT JOIN (SELECT account_id, sum(micros) AS micros FROM entries GROUP BY account_id) AS sums USING (account_id)
    WHERE  balance_micros <> coalesce(micros, 0)`,
  "Charge took a balance below zero": sql`
    SELECT entry_id || ' of ' || account_id AS violation
    FROM   (SELECT *, sum(micros) OVER (PARTITION BY account_id ORDER BY entry) AS balance_micros FROM entries) AS posted
    WHERE  kind = 'charge' AND balance_micros < 0`,
  "Charge differs from its price": sql`
    SELECT entry_id AS violation FROM entries JOIN prices USING (price)
    WHERE  entries.micros <> -prices.micros
           AND (entries.micros % prices.micros <> 0 OR usage_class NOT IN (${join(unitClasses.map(literal))}))`,
  "Reversal differs from its credit": sql`
    SELECT reversal.entry_id AS violation
    FROM   entries AS reversal JOIN entries AS credit ON credit.entry_id = reversal.credit_id
    WHERE  reversal.kind = 'chargeback_reversal'
           AND (credit.kind <> 'paid' OR credit.micros <> -reversal.micros OR credit.account_id <> reversal.account_id)`,
  // Of charges without those that are refunded.
  "Daily usage differs from the sum of its charges": sql`
    SELECT account_id || ' ' || day || ' ' || usage_class AS violation
    FROM   usage_days FULL JOIN (
             SELECT account_id, ${dialect.dayOf(sql`at_ms`)} AS day, usage_class, sum(counted) AS charge_count,
                    -sum(counted * charges.micros) AS charge_micros, min(entry) AS first_charge, max(entry) AS last_charge
             FROM   (SELECT entries.*, 1 AS counted FROM entries WHERE kind = 'charge'
                     UNION ALL
                     SELECT refunded.*, -1 FROM (${chargesRefundedBy(sql`entries`)}) AS refunded) AS charges
             JOIN   prices USING (price)
             GROUP BY account_id, day, usage_class
           ) AS charged USING (account_id, day, usage_class)
    WHERE  requests IS DISTINCT FROM charge_count OR charged_micros IS DISTINCT FROM charge_micros
           OR first_entry IS DISTINCT FROM first_charge OR last_entry IS DISTINCT FROM last_charge`,
});

/** How long a server may take for a statement over all entries, before its connection counts as lost. */
export const auditReplyMs = 3_600_000;

export interface AuditResult {
  /** One line per violation; empty if the file is sound. */
  readonly faults: readonly string[];
  readonly accounts: number;
  readonly entries: number;
  readonly charges: number;
}

/**
 * Audits accounts. Each check is one statement, which sees one state of the accounts, so that concurrent writes cannot produce false faults. No
 * transaction spans them: it would keep the write-ahead log from being reused.
 */
export async function audit(database: SqlDatabase): Promise<AuditResult> {
  const faults: string[] = [];
  for (const [fault, query] of Object.entries(checksIn(database.dialect)))
    faults.push(...(await database.all(query)).map(({ violation }) => `${fault}: ${String(violation)}`));
  const counts = await database.one(sql`
    SELECT (SELECT count(*) FROM accounts) AS accounts, count(*) AS entries,
           count(*) FILTER (WHERE kind = 'charge') AS charges
    FROM   entries`);
  return {
    faults,
    accounts: integerIn(counts, "accounts"),
    entries: integerIn(counts, "entries"),
    charges: integerIn(counts, "charges"),
  };
}

/** Opens accounts, audits and closes them. Damage by which a file cannot be read is a fault. */
export async function openAndAudit(open: () => Promise<SqlDatabase>): Promise<AuditResult> {
  let database: SqlDatabase | undefined;
  try {
    database = await open();
    return await audit(database);
  } catch (thrown) {
    if (classifyFault(thrown) !== "damaged") throw thrown;
    return { faults: [`${damagedFileFault}: ${messageOf(thrown)}`], accounts: 0, entries: 0, charges: 0 };
  } finally {
    await database?.close();
  }
}
