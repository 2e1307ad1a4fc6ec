/** Opens, creates and migrates accounts in PostgreSQL. They are in the first schema of the connection's search path. */
import { integerIn } from "../../base/json.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import { PostgresDatabase, type PostgresOptions, withoutPassword } from "../../db/postgres.ts";
import { integerLiteral, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import type { AccountsMigrationResult } from "../file/backup.ts";
import {
  createdVersions,
  migrateTables,
  migrationLockMs,
  type PostgresMigration,
  postgresMigrations,
  postgresVersionsOf,
  requireCompatible,
  requireVersions,
  schemaVersionsIn,
  versionsQuery,
} from "./postgres-migrations.ts";
import { postgresTables, postgresTriggers } from "./postgres-schema.ts";

/** The oldest server that its project maintains. */
const serverVersionMin = 13;

/** Opens existing accounts that this release may use. Throws a UserError for any other database. */
export const openPostgresAccounts = (url: string, options: PostgresOptions): PostgresDatabase =>
  guarded(connectTo(url, options), withoutPassword(url));

/**
 * Returns a database whose transactions fail once a migration excludes this release. Closes it and throws a UserError if it has no accounts that
 * this release may use.
 */
function guarded(database: PostgresDatabase, location: string): PostgresDatabase {
  try {
    requireCompatible(requireVersions(database, location), location);
    database.recordCommits({
      query: versionsQuery,
      check: (row) => requireCompatible(schemaVersionsIn(row), location),
    });
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Opens accounts; creates them with the current schema if the database has none. */
export function createPostgresAccounts(url: string, options: PostgresOptions): PostgresDatabase {
  const database = connectTo(url, options);
  try {
    database.transaction(() => {
      // If several services start at once, one creates the schema.
      database.run(sql`SELECT pg_advisory_xact_lock(1668380020)`);
      if (postgresVersionsOf(database) === undefined) createPostgresSchema(database);
    });
  } catch (thrown) {
    database.close();
    throw new UserError(`${withoutPassword(url)}: Accounts cannot be created: ${messageOf(thrown)}.`, {
      cause: thrown,
    });
  }
  return guarded(database, withoutPassword(url));
}

/** Creates all tables. Calls `fill` before the triggers exist, which derive values and forbid changes. */
export function createPostgresSchema(database: SqlDatabase, fill: () => void = () => undefined): void {
  for (const statement of postgresTables) database.run(statement);
  const { version, compatible } = createdVersions;
  database.run(sql`INSERT INTO carquet_accounts VALUES (${integerLiteral(version)}, ${integerLiteral(compatible)})`);
  fill();
  for (const statement of postgresTriggers) database.run(statement);
}

/** Migrates accounts to the current schema version, also while services run. Throws a UserError if that is impossible. */
export function migratePostgresAccounts(
  url: string,
  steps: readonly PostgresMigration[] = postgresMigrations,
): AccountsMigrationResult {
  const database = connectTo(url, { busyMs: migrationLockMs });
  try {
    return migrateTables(database, withoutPassword(url), steps);
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
