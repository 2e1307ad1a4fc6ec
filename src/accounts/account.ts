/** Accounts: made, looked up and changed. */

import { integerIn, type Row, textIn } from "../base/json.ts";
import { randomWord } from "../base/random-ids.ts";
import { UserError } from "../base/user-error.ts";
import { type Sql, sql } from "../db/sql.ts";
import type { SqliteDatabase } from "../db/sqlite.ts";
import { type AccountState, type Funds, lowBalanceMicros } from "./policy/billing-state.ts";
import type { RateLimits } from "./policy/rate-limiter.ts";
import { limitsOf, type Tier, tiers } from "./policy/tiers.ts";

export interface Account extends Funds {
  readonly accountId: string;
  readonly email: string;
  readonly createdAtMs: number;
  readonly tier: Tier;
  /** The UTC month that `spentMicros` is of. */
  readonly month: string;
  /** The account's own limits, where it has some that are not its tier's. */
  readonly override: RateLimits | null;
}

/** The limits that hold for an account. */
export const effectiveLimits = ({ tier, override }: Account): RateLimits => override ?? limitsOf[tier];

/** Makes an account; gives its id. */
export function createAccount(
  database: SqliteDatabase,
  { email, tier, atMs }: { readonly email: string; readonly tier: Tier; readonly atMs: number },
): string {
  const accountId = `acct_${randomWord(16)}`;
  database.run(sql`
    INSERT INTO accounts (account_id, email, created_at_ms, tier, low_micros)
    VALUES (${accountId}, ${email}, ${atMs}, ${tier}, ${lowBalanceMicros})`);
  return accountId;
}

/** All accounts with what they have spent in a UTC month, the oldest first. */
export function listAccounts(database: SqliteDatabase, month: string): readonly Account[] {
  return database.all(sql`${rowsOf(month)} ORDER BY created_at_ms, accounts.account_id`).map(accountOf);
}

/** An account with what it has spent in a UTC month; undefined when there is none. */
export function findAccount(database: SqliteDatabase, accountId: string, month: string): Account | undefined {
  const row = database.one(sql`${rowsOf(month)} WHERE accounts.account_id = ${accountId}`);
  return row && accountOf(row);
}

/** An account that has to be there. */
export function accountAt(database: SqliteDatabase, accountId: string, month: string): Account {
  const found = findAccount(database, accountId, month);
  if (found === undefined) throw new UserError(`there is no account ${accountId}.`);
  return found;
}

/** What an account has, as far as paying goes. */
export function fundsAt(database: SqliteDatabase, accountId: string, month: string): Funds {
  const row = database.one(sql`
    SELECT state, balance_micros, low_micros, cap_micros,
           coalesce((SELECT micros FROM spending WHERE account_id = ${accountId} AND month = ${month}), 0) AS spent_micros
    FROM   accounts WHERE account_id = ${accountId}`);
  if (row === undefined) throw new UserError(`there is no account ${accountId}.`);
  return fundsOf(row);
}

const rowsOf = (month: string): Sql => sql`
  SELECT accounts.*, ${month} AS month, coalesce(spending.micros, 0) AS spent_micros
  FROM   accounts
  LEFT JOIN spending ON spending.account_id = accounts.account_id AND spending.month = ${month}`;

function accountOf(row: Row): Account {
  return {
    accountId: textIn(row, "account_id"),
    email: textIn(row, "email"),
    createdAtMs: integerIn(row, "created_at_ms"),
    tier: tierIn(row, "tier"),
    month: textIn(row, "month"),
    ...fundsOf(row),
    override: row.per_10s === null ? null : { per10s: integerIn(row, "per_10s"), per60s: integerIn(row, "per_60s") },
  };
}

function fundsOf(row: Row): Funds {
  return {
    state: row.state === "suspended" ? "suspended" : "active",
    balanceMicros: integerIn(row, "balance_micros"),
    lowMicros: integerIn(row, "low_micros"),
    spentMicros: integerIn(row, "spent_micros"),
    capMicros: row.cap_micros === null ? null : integerIn(row, "cap_micros"),
  };
}

/** A tier in a column. */
export function tierIn(row: Row, column: string): Tier {
  const found = tiers.find((tier) => tier === row[column]);
  if (found === undefined) throw new TypeError(`Column ${column} holds ${JSON.stringify(row[column])}, not a tier.`);
  return found;
}

/** What can be changed of an account. */
export interface AccountChange {
  readonly tier?: Tier;
  readonly state?: AccountState;
  readonly lowMicros?: number;
  readonly capMicros?: number | null;
  readonly override?: RateLimits | null;
}

/** Changes what is given of an account. */
export function changeAccount(database: SqliteDatabase, accountId: string, change: AccountChange): void {
  const { tier, state, lowMicros, capMicros, override } = change;
  const changed = database.run(sql`
    UPDATE accounts
    SET    tier       = coalesce(${tier ?? null}, tier),
           state      = coalesce(${state ?? null}, state),
           low_micros = coalesce(${lowMicros ?? null}, low_micros),
           cap_micros = iif(${capMicros === undefined}, cap_micros, ${capMicros ?? null}),
           per_10s    = iif(${override === undefined}, per_10s, ${override?.per10s ?? null}),
           per_60s    = iif(${override === undefined}, per_60s, ${override?.per60s ?? null})
    WHERE  account_id = ${accountId}`);
  if (changed === 0) throw new UserError(`there is no account ${accountId}.`);
}
