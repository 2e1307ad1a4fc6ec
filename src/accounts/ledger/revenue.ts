/**
 * Revenue: the charges of all accounts by UTC day, usage class and account, and the credits that were added. Reads the ledger, never writes it. Charges
 * that were refunded because their request failed count nowhere; see `ledger.ts`.
 */
import { dayStartMs, epochDay, plusDays } from "../../base/day.ts";
import { integerIn, textIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { rowReader } from "../../db/row-reader.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { type Account, readAccount, selectAccounts } from "../account.ts";

/** UTC days, both ends included, at most `revenueDaysMax`. */
export interface RevenueDays {
  readonly startDate: string;
  readonly endDate: string;
}

export const revenueDaysMax = 400;

/** Charges in micros: of the period, and of the one before. */
const comparedIn = rowReader({ micros: integerIn, beforeMicros: integerIn });
type ComparedCharges = ReturnType<typeof comparedIn>;

export interface RevenueSums {
  readonly total: ComparedCharges;
  /** Days with charges of either period, in order. */
  readonly days: readonly { readonly date: string; readonly requests: number; readonly micros: number }[];
  /** Those with the highest charges of the period first, as accounts are. */
  readonly classes: readonly (ComparedCharges & { readonly usageClass: string })[];
  readonly accounts: readonly (ComparedCharges & { readonly account: Account })[];
  /** The number of accounts with charges, those that are not listed included. */
  readonly accountCount: number;
  /** Sums of entries beside charges and their refunds, by day of either period and kind; those that take from a balance are negative. */
  readonly credits: readonly ReturnType<typeof readCredits>[];
}

/**
 * Returns sums of the charges and credits of two periods that are compared, such as the days of a month so far and those of the month before, which can
 * overlap, and the first `accountsMax` accounts. Throws a UserError for a period that is reversed or too long.
 */
export function sumRevenue(
  database: SqlDatabase,
  period: RevenueDays,
  before: RevenueDays,
  accountsMax: number,
): Promise<RevenueSums> {
  for (const range of [period, before]) requireRange(range);
  return database.reading(async (database) => {
    const chargedIn = (range: RevenueDays): Sql => sql`sum(CASE WHEN ${isIn(range)} THEN charged_micros ELSE 0 END)`;
    const sums = sql`CAST(${chargedIn(period)} AS bigint) AS micros, CAST(${chargedIn(before)} AS bigint) AS before_micros`;
    const rows = sql`usage_days WHERE requests > 0 AND (${isIn(period)} OR ${isIn(before)})`;
    const total = (await database.one(sql`SELECT ${sums}, count(DISTINCT account_id) AS accounts FROM ${rows}`)) ?? {};
    const days = await database.all(sql`
      SELECT day AS date, CAST(sum(requests) AS bigint) AS requests, CAST(sum(charged_micros) AS bigint) AS micros FROM ${rows} GROUP BY day ORDER BY day`);
    const classes = await database.all(sql`
      SELECT usage_class, ${sums} FROM ${rows} GROUP BY usage_class ORDER BY micros DESC, before_micros DESC, usage_class`);
    const accounts = await database.all(sql`
      ${selectAccounts(period.endDate.slice(0, 7))}
      JOIN     (SELECT account_id, ${sums} FROM ${rows} GROUP BY account_id) AS charged USING (account_id)
      ORDER BY micros DESC, before_micros DESC, account_id LIMIT ${accountsMax}`);
    return {
      total: total.micros == null ? { micros: 0, beforeMicros: 0 } : comparedIn(total),
      days: days.map(readDay),
      classes: classes.map((row) => ({ usageClass: textIn(row, "usage_class"), ...comparedIn(row) })),
      accounts: accounts.map((row) => ({ account: readAccount(row), ...comparedIn(row) })),
      accountCount: integerIn(total, "accounts"),
      credits: await creditsOf(database, [period, before]),
    };
  });
}

/** A charge of the CSV file: an account's requests of a day and class. */
export type RevenueRow = ReturnType<typeof readRevenue>;

const readRevenue = rowReader({
  date: textIn,
  usageClass: textIn,
  accountId: textIn,
  email: textIn,
  requests: integerIn,
  micros: integerIn,
});

/**
 * Returns a page of the charges of a period, by account, day and class, after the last row of the page before; null for the first page. Throws a
 * UserError for a period that is reversed or too long.
 */
export async function listRevenue(
  database: SqlDatabase,
  range: RevenueDays,
  after: Pick<RevenueRow, "accountId" | "date" | "usageClass"> | null,
  limit: number,
): Promise<readonly RevenueRow[]> {
  requireRange(range);
  const isAfter =
    after === null
      ? sql`true`
      : sql`(usage_days.account_id, day, usage_class) > (${after.accountId}, ${after.date}, ${after.usageClass})`;
  const query = sql`
    SELECT   usage_days.account_id, day AS date, usage_class, email, requests, charged_micros AS micros
    FROM     usage_days JOIN accounts ON accounts.account_id = usage_days.account_id
    WHERE    requests > 0 AND ${isIn(range)} AND ${isAfter}
    ORDER BY usage_days.account_id, day, usage_class LIMIT ${limit}`;
  return (await database.reading((reader) => reader.all(query))).map(readRevenue);
}

function requireRange({ startDate, endDate }: RevenueDays): void {
  const days = epochDay(endDate) - epochDay(startDate) + 1;
  if (days >= 1 && days <= revenueDaysMax) return;
  throw new UserError(
    `Invalid period from ${startDate} to ${endDate}: expected from 1 to ${revenueDaysMax} days, the first one first.`,
  );
}

const isIn = ({ startDate, endDate }: RevenueDays): Sql => sql`day BETWEEN ${startDate} AND ${endDate}`;

const readDay = rowReader({ date: textIn, requests: integerIn, micros: integerIn });

const readCredits = rowReader({ date: textIn, kind: textIn, micros: integerIn });

/** Sums the entries beside charges. Reads those of each account by their index, which leaves charges out: SQLite keeps the order of a CROSS JOIN. */
async function creditsOf(database: SqlDatabase, ranges: readonly RevenueDays[]): Promise<RevenueSums["credits"]> {
  const days = ranges.flatMap(({ startDate, endDate }) => [startDate, endDate]).sort();
  const [first = ""] = days;
  const last = days.at(-1) ?? "";
  const rows = await database.all(sql`
    SELECT   day AS date, kind, CAST(sum(micros) AS bigint) AS micros
    FROM     (SELECT ${database.dialect.dayOf(sql`at_ms`)} AS day, kind, entries.micros AS micros
              FROM   accounts CROSS JOIN entries
              WHERE  entries.account_id = accounts.account_id AND kind <> 'charge' AND coalesce(substr(reference, 1, 7), '') <> 'refund_'
                     AND at_ms >= ${dayStartMs(first)} AND at_ms < ${dayStartMs(plusDays(last, 1))}) AS credits
    GROUP BY day, kind ORDER BY day, kind`);
  return rows
    .map(readCredits)
    .filter(({ date }) => ranges.some(({ startDate, endDate }) => startDate <= date && date <= endDate));
}
