/** Opens, creates and migrates accounts in PostgreSQL. They are in the first schema of the connection's search path. */
import { integerIn } from "../../base/json.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import { PostgresDatabase, type PostgresOptions, withoutPassword } from "../../db/postgres.ts";
import { integerLiteral, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import type { AccountsMigrationResult } from "../file/backup.ts";
import { accountsVersion, type Migration, wrongVersion } from "../file/migrations.ts";
import { audit } from "../ledger/audit.ts";
import { postgresTables, postgresTriggers } from "./postgres-schema.ts";

/** The first schema version in PostgreSQL. */
const firstVersion = 4;

/** The steps since the first version. Each version has one here and one for files. Released steps are never edited. */
export const postgresMigrations: readonly Migration[] = [];

/** The oldest server that its project maintains. */
const serverVersionMin = 13;

/** Opens existing accounts of the current version. Throws a UserError for any other database. */
export const openPostgresAccounts = (url: string, options: PostgresOptions): PostgresDatabase =>
  requireCurrent(connectTo(url, options), url);

/** Returns the database, or closes it and throws a UserError if it has no accounts of the current version. */
function requireCurrent(database: PostgresDatabase, url: string): PostgresDatabase {
  const version = postgresVersionOf(database);
  if (version === accountsVersion) {
    database.recordCommits();
    return database;
  }
  database.close();
  throw version === undefined ? noAccounts(url) : wrongVersion(withoutPassword(url), version);
}

/** Opens accounts; creates them with the current schema if the database has none. */
export function createPostgresAccounts(url: string, options: PostgresOptions): PostgresDatabase {
  const database = connectTo(url, options);
  try {
    database.transaction(() => {
      // Of several services that start at once, one creates the schema.
      database.run(sql`SELECT pg_advisory_xact_lock(1668380020)`);
      if (postgresVersionOf(database) === undefined) createPostgresSchema(database);
    });
  } catch (thrown) {
    database.close();
    throw new UserError(`${withoutPassword(url)}: Accounts cannot be created: ${messageOf(thrown)}.`, {
      cause: thrown,
    });
  }
  return requireCurrent(database, url);
}

/** Creates all tables. Calls `fill` before the triggers exist, which derive values and forbid changes. */
export function createPostgresSchema(database: SqlDatabase, fill: () => void = () => undefined): void {
  for (const statement of postgresTables) database.run(statement);
  fill();
  for (const statement of postgresTriggers) database.run(statement);
}

/** Returns the schema version, or undefined if the database has no accounts. */
export function postgresVersionOf(database: SqlDatabase): number | undefined {
  const found = database.one(sql`SELECT to_regclass('carquet_accounts') IS NOT NULL AS is_there`);
  if (found?.is_there !== true) return undefined;
  return integerIn(database.one(sql`SELECT version FROM carquet_accounts`), "version");
}

/**
 * Migrates accounts to the current schema version, in one transaction. Rolls back if the result fails its audit. Does nothing if they
 * are current.
 */
export function migratePostgresAccounts(
  url: string,
  steps: readonly Migration[] = postgresMigrations,
): AccountsMigrationResult {
  const database = connectTo(url, { busyMs: 10_000 });
  const to = steps.at(-1)?.to ?? firstVersion;
  try {
    return database.transaction(() => {
      const from = postgresVersionOf(database);
      if (from === undefined) throw noAccounts(url);
      if (from < firstVersion || from > to) throw wrongVersion(withoutPassword(url), from);
      database.run(sql`LOCK TABLE carquet_accounts, entries`);
      for (const step of steps.filter((candidate) => candidate.to > from))
        for (const statement of step.statements) database.run(statement);
      database.run(sql`UPDATE carquet_accounts SET version = ${integerLiteral(to)}`);
      const [fault] = from === to ? [] : audit(database).faults;
      if (fault !== undefined) throw new UserError(`Migration rolled back, the result fails its audit: ${fault}.`);
      return { from, to, backup: undefined };
    });
  } finally {
    database.close();
  }
}

/** Writes a value again: proves that the database can be written, and changes nothing. */
export function rewriteVersion(database: SqlDatabase): void {
  database.run(sql`UPDATE carquet_accounts SET version = version`);
}

function connectTo(url: string, options: PostgresOptions): PostgresDatabase {
  const database = PostgresDatabase.open(url, options);
  const row = database.one(sql`SELECT current_setting('server_version_num')::integer / 10000 AS version`);
  const version = integerIn(row, "version");
  if (version >= serverVersionMin) return database;
  database.close();
  throw new UserError(
    `${withoutPassword(url)}: Unsupported PostgreSQL ${version}: expected version ${serverVersionMin} or newer.`,
  );
}

const noAccounts = (url: string): UserError =>
  new UserError(
    `${withoutPassword(url)}: The database has no accounts: expected tables made by "carquet accounts create".`,
  );
