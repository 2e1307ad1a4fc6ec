/** Opens the accounts at the location of `--accounts`: a SQLite file, or a PostgreSQL database if it is a URL. */
import { isPostgresUrl, type PostgresOptions } from "../../db/postgres.ts";
import { integerLiteral, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import type { SqliteOptions } from "../../db/sqlite.ts";
import { prices, pricingVersion } from "../policy/prices.ts";
import { accountsVersion } from "./account-tables.ts";
import { createAccountsFile, openAccountsFile, openReadOnly } from "./accounts-file.ts";
import { createPostgresAccounts, openPostgresAccounts } from "./postgres-accounts.ts";

type OpenAccountsOptions = SqliteOptions & PostgresOptions;

/** Opens existing accounts of the current schema version. Throws a UserError for any other location. */
export function openAccounts(location: string, options: OpenAccountsOptions): SqlDatabase {
  const open = isPostgresUrl(location) ? openPostgresAccounts : openAccountsFile;
  return withPrices(open(location, options));
}

/** Opens accounts; creates them if the file does not exist, or the database has none. */
export function createAccounts(location: string, options: OpenAccountsOptions): SqlDatabase {
  const create = isPostgresUrl(location) ? createPostgresAccounts : createAccountsFile;
  return withPrices(create(location, options));
}

export const openAccountsToRead = (location: string, options: OpenAccountsOptions): SqlDatabase =>
  isPostgresUrl(location) ? openPostgresAccounts(location, options) : openReadOnly(location);

/** Proves that accounts can be written, by writing their version again. */
export function assertWritable(database: SqlDatabase): void {
  database.run(
    database.dialect.name === "sqlite"
      ? sql`PRAGMA user_version = ${integerLiteral(accountsVersion)}`
      : sql`UPDATE carquet_accounts SET version = version`,
  );
}

/** Inserts the price list of this release if it is missing. Earlier price lists stay, because charges refer to them. */
export function publishPrices(database: SqlDatabase): void {
  const currentPrices = database.all(sql`SELECT price FROM prices WHERE pricing_version = ${pricingVersion}`);
  if (currentPrices.length > 0) return;
  database.transaction(() => {
    for (const [usageClass, micros] of Object.entries(prices))
      database.run(sql`
        INSERT INTO prices (pricing_version, usage_class, micros) VALUES (${pricingVersion}, ${usageClass}, ${micros})
        ON CONFLICT DO NOTHING`);
  });
}

function withPrices(database: SqlDatabase): SqlDatabase {
  publishPrices(database);
  return database;
}
