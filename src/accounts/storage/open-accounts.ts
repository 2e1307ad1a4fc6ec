/** Opens the accounts at the location of `--accounts`: a SQLite file, or a PostgreSQL database if it is a URL. */
import { isPostgresUrl, type PostgresOptions } from "../../db/postgres.ts";
import type { SharedSqliteOptions } from "../../db/shared-sqlite.ts";
import { integerLiteral, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { prices, pricingVersion } from "../policy/prices.ts";
import { accountsVersion } from "./account-tables.ts";
import { createAccountsFile, openAccountsFile, openReadOnly } from "./accounts-file.ts";
import { createPostgresAccounts, openPostgresAccounts } from "./postgres-accounts.ts";

export type OpenAccountsOptions = SharedSqliteOptions & PostgresOptions;

/** Opens existing accounts of the current schema version. Throws a UserError for any other location. */
export const openAccounts = async (location: string, options: OpenAccountsOptions): Promise<SqlDatabase> =>
  withPrices(await (isPostgresUrl(location) ? openPostgresAccounts : openAccountsFile)(location, options));

/** Opens accounts; creates them if the file does not exist, or the database has none. */
export const createAccounts = async (location: string, options: OpenAccountsOptions): Promise<SqlDatabase> =>
  withPrices(await (isPostgresUrl(location) ? createPostgresAccounts : createAccountsFile)(location, options));

export const openAccountsToRead = async (location: string, options: OpenAccountsOptions): Promise<SqlDatabase> =>
  isPostgresUrl(location) ? await openPostgresAccounts(location, options) : await openReadOnly(location);

/** Proves that accounts can be written, by writing their version again. */
export async function assertWritable(database: SqlDatabase): Promise<void> {
  await database.run(
    database.dialect.name === "sqlite"
      ? sql`PRAGMA user_version = ${integerLiteral(accountsVersion)}`
      : sql`UPDATE carquet_accounts SET version = version`,
  );
}

/** Inserts the price list of this release if it is missing. Earlier price lists stay, because charges refer to them. */
export async function publishPrices(opened: SqlDatabase): Promise<void> {
  const current = await opened.one(sql`SELECT price FROM prices WHERE pricing_version = ${pricingVersion} LIMIT 1`);
  if (current !== undefined) return;
  await opened.transaction(async (database) => {
    for (const [usageClass, micros] of Object.entries(prices))
      await database.run(sql`
        INSERT INTO prices (pricing_version, usage_class, micros) VALUES (${pricingVersion}, ${usageClass}, ${micros})
        ON CONFLICT DO NOTHING`);
  });
}

async function withPrices(database: SqlDatabase): Promise<SqlDatabase> {
  await publishPrices(database);
  return database;
}
