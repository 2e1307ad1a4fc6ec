/** The `accounts` table: creates, reads and updates accounts. Balances and spending change only through the ledger. */
import { integerIn, integerOrNullIn, type Row, textIn } from "../base/json.ts";
import { randomId } from "../base/random-ids.ts";
import { UserError } from "../base/user-error.ts";
import { assignments, flagIn, insertInto, rowReader } from "../db/row-reader.ts";
import { type Sql, sql } from "../db/sql.ts";
import type { SqlDatabase } from "../db/sql-database.ts";
import { spentIn } from "./ledger/usage.ts";
import { type AccountState, defaultLowBalanceMicros } from "./policy/billing-state.ts";
import type { RateLimits } from "./policy/rate-limiter.ts";
import { type Tier, tierLimits, tiers } from "./policy/tiers.ts";

export const readAccount = rowReader({
  accountId: textIn,
  email: textIn,
  createdAtMs: integerIn,
  tier: tierIn,
  state: stateIn,
  balanceMicros: integerIn,
  lowBalanceMicros: (row: Row): number => integerIn(row, "low_micros"),
  /** The UTC month (`YYYY-MM`) that `spentMicros` covers. */
  month: textIn,
  spentMicros: integerIn,
  capMicros: integerOrNullIn,
  /** Operators see and change all accounts in the web application. */
  isOperator: flagIn,
  /** Whether nothing has been charged to the account yet. */
  isNew: flagIn,
  /** Rate limits that replace those of the tier; null if the tier's apply. */
  rateLimitOverride: (row: Row): RateLimits | null =>
    row.per_10s === null ? null : { per10s: integerIn(row, "per_10s"), per60s: integerIn(row, "per_60s") },
});

export type Account = ReturnType<typeof readAccount>;

/** Returns the rate limits that apply to an account: its override, else those of its tier. */
export const effectiveLimits = ({ tier, rateLimitOverride }: Account): RateLimits =>
  rateLimitOverride ?? tierLimits[tier];

export const unknownAccountError = (accountId: string): UserError =>
  new UserError(`Unknown account ${accountId}: expected an id listed by "carquet accounts list".`);

export const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 254;

/** Inserts an account with a zero balance. Returns its id. */
export async function createAccount(
  database: SqlDatabase,
  { email, tier, atMs }: { readonly email: string; readonly tier: Tier; readonly atMs: number },
): Promise<string> {
  const accountId = `acct_${randomId(16)}`;
  const account = {
    accountId,
    email: foldedEmail(email),
    createdAtMs: atMs,
    tier,
    low_micros: defaultLowBalanceMicros,
  };
  await database.run(insertInto("accounts", account));
  return accountId;
}

/** Returns an address with its letters beyond ASCII in lower case, which `lower` of SQLite does not change. */
export const foldedEmail = (email: string): string =>
  email.replaceAll(/\P{ASCII}+/gu, (letters) => letters.toLowerCase());

/** Returns all accounts with their spending in a UTC month, oldest first. */
export const listAccounts = async (database: SqlDatabase, month: string): Promise<readonly Account[]> =>
  (await database.all(sql`${selectAccounts(month)} ORDER BY created_at_ms, accounts.account_id`)).map(readAccount);

/** Returns the first accounts whose id or email address contains a text, oldest first, and their total. */
export const searchAccounts = (
  opened: SqlDatabase,
  search: string,
  month: string,
  limit: number,
): Promise<{ readonly accounts: readonly Account[]; readonly total: number }> =>
  opened.reading(async (database) => {
    const { contains } = database.dialect;
    const matches = sql`(${contains(sql`lower(email)`, sql`lower(${foldedEmail(search)})`)} OR ${contains(sql`accounts.account_id`, sql`lower(${search})`)})`;
    const total = integerIn(await database.one(sql`SELECT count(*) AS total FROM accounts WHERE ${matches}`), "total");
    const rows = await database.all(sql`
      ${selectAccounts(month)} WHERE ${matches} ORDER BY created_at_ms, accounts.account_id LIMIT ${limit}`);
    return { accounts: rows.map(readAccount), total };
  });

/** Returns an account with its spending in a UTC month, or undefined if the id is unknown. */
export async function findAccount(
  database: SqlDatabase,
  accountId: string,
  month: string,
): Promise<Account | undefined> {
  const row = await database.one(sql`${selectAccounts(month)} WHERE accounts.account_id = ${accountId}`);
  return row && readAccount(row);
}

/** Returns an account with its spending in a UTC month. Throws a UserError if the id is unknown. */
export async function getAccount(database: SqlDatabase, accountId: string, month: string): Promise<Account> {
  const account = await findAccount(database, accountId, month);
  if (account === undefined) throw unknownAccountError(accountId);
  return account;
}

/** Locks an account until the end of the transaction. Throws a UserError if the id is unknown. */
export async function lockAccount(database: SqlDatabase, accountId: string): Promise<void> {
  const row = await database.one(sql`
    SELECT 1 AS found FROM accounts WHERE account_id = ${accountId} ${database.dialect.forUpdate}`);
  if (row === undefined) throw unknownAccountError(accountId);
}

/** Selects accounts, with their spending in a UTC month, and the columns of what is joined to them. */
export const selectAccounts = (month: string): Sql => sql`
  SELECT *, ${month} AS month, ${spentIn(sql`${month}`)} AS spent_micros,
         CASE WHEN EXISTS (SELECT 1 FROM usage_days WHERE usage_days.account_id = accounts.account_id) THEN 0 ELSE 1 END AS is_new
  FROM   accounts`;

function stateIn(row: Row): AccountState {
  return row.state === "suspended" ? "suspended" : "active";
}

/** Returns the tier in a column. Throws a TypeError for any other value. */
export function tierIn(row: Row, column: string): Tier {
  const tier = tiers.find((known) => known === row[column]);
  if (tier === undefined)
    throw new TypeError(`Invalid value ${JSON.stringify(row[column])} in column ${column}: expected a tier, 1 to 4.`);
  return tier;
}

/** The fields of an account to update; absent fields keep their value. */
export type AccountChange = Partial<
  Pick<Account, "tier" | "state" | "lowBalanceMicros" | "capMicros" | "rateLimitOverride" | "isOperator">
>;

/** Updates an account. Throws a UserError if the id is unknown. */
export async function changeAccount(
  database: SqlDatabase,
  accountId: string,
  { lowBalanceMicros, rateLimitOverride: limits, ...change }: AccountChange,
): Promise<void> {
  const per10s = limits === undefined ? undefined : (limits?.per10s ?? null);
  const per60s = limits === undefined ? undefined : (limits?.per60s ?? null);
  const columns = { ...change, low_micros: lowBalanceMicros, per_10s: per10s, per_60s: per60s };
  const updatedRows = await database.run(
    sql`UPDATE accounts SET ${assignments(columns)} WHERE account_id = ${accountId}`,
  );
  if (updatedRows === 0) throw unknownAccountError(accountId);
}
