/** Whether an accounts file is sound: everything that follows from the entries is summed again, and the file checked. */
import { integerIn } from "../../base/json.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";

/** What has to hold, and a query for the rows that break it, each as a text `what`. */
const rules: Readonly<Record<string, Sql>> = {
  "the file is damaged": sql`SELECT integrity_check AS what FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
  "a row refers to nothing": sql`SELECT "table" || ' ' || rowid || ' to ' || parent AS what FROM pragma_foreign_key_check`,
  "a balance is not the sum of its entries": sql`
    SELECT account_id || ': ' || balance_micros || ', entries ' || coalesce(micros, 0) AS what
    FROM   accounts LEFT JOIN (SELECT account_id, sum(micros) AS micros FROM entries GROUP BY account_id) USING (account_id)
    WHERE  balance_micros <> coalesce(micros, 0)`,
  "a charge took a balance below zero": sql`
    SELECT entry_id || ' of ' || account_id AS what
    FROM   (SELECT *, sum(micros) OVER (PARTITION BY account_id ORDER BY entry) AS balance_micros FROM entries)
    WHERE  kind = 'charge' AND balance_micros < 0`,
  "a charge is not what its price was": sql`
    SELECT entry_id AS what FROM entries JOIN prices USING (price) WHERE entries.micros <> -prices.micros`,
  "a reversal is not what was credited": sql`
    SELECT reversal.entry_id AS what
    FROM   entries AS reversal JOIN entries AS credit ON credit.entry_id = reversal.credit_id
    WHERE  reversal.kind = 'chargeback_reversal'
           AND (credit.kind <> 'paid' OR credit.micros <> -reversal.micros OR credit.account_id <> reversal.account_id)`,
  "a month's spending is not the sum of its charges": sql`
    SELECT account_id || ' ' || month AS what
    FROM   spending FULL JOIN (
             SELECT account_id, strftime('%Y-%m', at_ms / 1000, 'unixepoch') AS month, -sum(micros) AS summed
             FROM   entries WHERE kind = 'charge' GROUP BY account_id, month
           ) USING (account_id, month)
    WHERE  micros IS NOT summed`,
  "a day's usage is not the sum of its charges": sql`
    SELECT account_id || ' ' || day || ' ' || usage_class AS what
    FROM   usage_days FULL JOIN (
             SELECT account_id, date(at_ms / 1000, 'unixepoch') AS day, usage_class, count(*) AS counted, -sum(entries.micros) AS summed
             FROM   entries JOIN prices USING (price) WHERE kind = 'charge'
             GROUP BY account_id, day, usage_class
           ) USING (account_id, day, usage_class)
    WHERE  requests IS NOT counted OR charged_micros IS NOT summed`,
};

export interface AuditResult {
  /** What is wrong, in words; empty when nothing is. */
  readonly faults: readonly string[];
  readonly accounts: number;
  readonly entries: number;
  readonly charges: number;
}

/** Audits a file, in one transaction, so that what is written meanwhile is not half seen. */
export function audit(database: SqliteDatabase): AuditResult {
  return database.reading(() => {
    const faults = Object.entries(rules).flatMap(([rule, query]) =>
      database.all(query).map(({ what }) => `${rule}: ${String(what)}`),
    );
    const counted = database.one(sql`
      SELECT (SELECT count(*) FROM accounts) AS accounts, count(*) AS entries,
             count(*) FILTER (WHERE kind = 'charge') AS charges
      FROM   entries`);
    return {
      faults,
      accounts: integerIn(counted, "accounts"),
      entries: integerIn(counted, "entries"),
      charges: integerIn(counted, "charges"),
    };
  });
}
