/** Opens and creates the accounts at the location of `--accounts`: a SQLite file, or a PostgreSQL database if it is a URL. */
import { messageOf, UserError } from "../../base/user-error.ts";
import { isPostgresUrl, type PostgresOptions, withoutPassword } from "../../db/postgres.ts";
import { openSharedSqlite, openSqliteToRead, type SharedSqliteOptions } from "../../db/shared-sqlite.ts";
import { integerLiteral, sql } from "../../db/sql.ts";
import { checked, type SqlDatabase, useAndClose } from "../../db/sql-database.ts";
import { createPrivateFile } from "../../db/sqlite.ts";
import { prices, pricingVersion } from "../policy/prices.ts";
import { type AccountsSchema, accountsVersion, accountTableStatements } from "./account-tables.ts";
import { fileSchema } from "./accounts-file.ts";
import { connectServer, serverSchema } from "./postgres-accounts.ts";

export type OpenAccountsOptions = SharedSqliteOptions & PostgresOptions;

/** Opens existing accounts of the current version. Throws a UserError for any other location. */
export const openAccounts = async (location: string, options: OpenAccountsOptions): Promise<SqlDatabase> =>
  requireAccounts(location, await connect(location, options));

/** Opens accounts to read them: a file, such as a backup, read-only. Throws a UserError like `openAccounts`. */
export const openAccountsToRead = async (location: string, options: OpenAccountsOptions): Promise<SqlDatabase> =>
  isPostgresUrl(location) ? openAccounts(location, options) : requireAccounts(location, openSqliteToRead(location));

/**
 * Opens accounts; creates them if the file does not exist, or the database has none. SQLite syncs what it writes: another descriptor of the file would
 * release, when it is closed, the locks of all connections of this process, and other processes would then delete the write-ahead log that is in use.
 */
export async function createAccounts(location: string, options: OpenAccountsOptions): Promise<SqlDatabase> {
  if (!isPostgresUrl(location)) createPrivateFile(location);
  const { busyMs } = options;
  await useAndClose(connect(location, { busyMs }), (opened) =>
    opened.transaction(async (database) => {
      if (await schemaOf(database).isEmpty(database)) await createSchema(database);
    }),
  ).catch((thrown: unknown) => {
    if (thrown instanceof UserError) throw thrown;
    const reason = messageOf(thrown);
    throw new UserError(`${withoutPassword(location)}: Accounts cannot be created: ${reason}.`, { cause: thrown });
  });
  return checked(await openAccounts(location, options), publishPrices);
}

const connect = async (location: string, options: OpenAccountsOptions): Promise<SqlDatabase> =>
  isPostgresUrl(location) ? connectServer(location, options) : openSharedSqlite(location, options);

export const schemaOf = ({ dialect }: SqlDatabase): AccountsSchema =>
  dialect.name === "sqlite" ? fileSchema : serverSchema;

const requireAccounts = (location: string, opened: SqlDatabase): Promise<SqlDatabase> =>
  checked(opened, async (database) => {
    const version = await schemaOf(database).findVersion(database);
    if (version === undefined) throw new UserError(`${withoutPassword(location)}: ${schemaOf(database).missing}`);
    if (version !== accountsVersion)
      throw new UserError(
        `${withoutPassword(location)}: Unsupported accounts version ${version}: expected ${accountsVersion}. Use the release of carquet that created these accounts, or create new ones at another location.`,
      );
  });

/** Creates all tables. Calls `fill` before the triggers exist, which derive values and forbid changes. */
export async function createSchema(database: SqlDatabase, fill = async (): Promise<void> => undefined): Promise<void> {
  const { before, triggers } = schemaOf(database);
  for (const statement of [...before, ...accountTableStatements(database.dialect.name)]) await database.run(statement);
  await fill();
  for (const statement of triggers) await database.run(statement);
}

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
