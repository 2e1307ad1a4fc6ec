/**
 * Schema versions of accounts in PostgreSQL, and the steps between them. The database records its version, and the oldest version whose
 * releases may use it: replicas of two releases work on the same accounts while one after the other is replaced.
 *
 * Each transaction reads that at its start, in the round trip that records it in `carquet_commits`. A step locks this table, so that no
 * transaction of a service runs meanwhile, and each later one knows whether its release may go on.
 */
import { integerIn, type Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { integerLiteral, type Sql, sql } from "../../db/sql.ts";
import { postgresDialect, type SqlDatabase } from "../../db/sql-database.ts";
import type { AccountsMigrationResult } from "../file/backup.ts";
import { accountsVersion, type Migration, wrongVersionError } from "../file/migrations.ts";
import { audit } from "../ledger/audit.ts";
import { applyRefunds } from "../ledger/refunds.ts";
import { addEntries } from "./postgres-schema.ts";

export interface PostgresMigration extends Migration {
  /**
   * All statements of releases of the version before still work and mean the same, and those of the step take a moment at any table size: new
   * tables, columns that are null or have a constant default, functions. Then services go on during the step and after it.
   */
  readonly isAdditive?: boolean;
}

const firstVersion = 4;

/** The steps since the first version. Each version has one here and one for files. Released steps are never edited. */
export const postgresMigrations: readonly PostgresMigration[] = [
  {
    to: 5,
    isAdditive: true,
    statements: [
      sql`CREATE TABLE saved_searches (
        search_id     TEXT PRIMARY KEY,
        account_id    TEXT NOT NULL REFERENCES accounts,
        key_id        TEXT NOT NULL REFERENCES keys,
        name          TEXT NOT NULL,
        query         TEXT NOT NULL,
        url           TEXT,
        secret        TEXT NOT NULL,
        created_at_ms BIGINT  NOT NULL,
        since         TEXT NOT NULL,
        target        TEXT,
        page_cursor   TEXT,
        stopped       TEXT,
        attempts      BIGINT  NOT NULL DEFAULT 0,
        next_at_ms    BIGINT  NOT NULL,
        messages      BIGINT  NOT NULL DEFAULT 0,
        last_at_ms    BIGINT ,
        last_outcome  TEXT
      )`,
      sql`CREATE INDEX saved_searches_by_account ON saved_searches (account_id)`,
    ],
  },
  // Releases of version 5 take refunded charges for spending, in their audits too.
  { to: 6, statements: [addEntries, ...applyRefunds(postgresDialect, sql`entries`)] },
];

/** How long a step waits for a lock, less than services wait for theirs, and how often it is tried, with pauses. */
export const migrationLockMs = 400;
const [attemptsMax, attemptPauseMs] = [60, 1_000];

export interface SchemaVersions {
  readonly version: number;
  /** The oldest version whose releases may use the database. */
  readonly compatible: number;
}

/** Returns the oldest compatible version after some steps, given that before them. */
const compatibleAfter = (steps: readonly PostgresMigration[], before: number): number =>
  steps.findLast(({ isAdditive }) => isAdditive !== true)?.to ?? before;

export const createdVersions: SchemaVersions = {
  version: accountsVersion,
  compatible: compatibleAfter(postgresMigrations, firstVersion),
};

/** Returns the versions of a database; undefined if it has no accounts. */
export function postgresVersionsOf(database: SqlDatabase): SchemaVersions | undefined {
  const found = database.one(sql`SELECT to_regclass('carquet_accounts') IS NOT NULL AS is_there`);
  if (found?.is_there !== true) return undefined;
  return schemaVersionsIn(database.one(versionsQuery));
}

export const versionsQuery: Sql = sql`SELECT version, compatible_version FROM carquet_accounts`;

export const schemaVersionsIn = (row: Row | undefined): SchemaVersions => ({
  version: integerIn(row, "version"),
  compatible: integerIn(row, "compatible_version"),
});

/** Throws a UserError if this release may not use a database with these versions. */
export function requireCompatible({ version, compatible }: SchemaVersions, location: string): void {
  if (version < accountsVersion) throw wrongVersionError(location, version);
  if (compatible > accountsVersion)
    throw new UserError(
      `${location}: Accounts version ${version} is too new for this release, which has version ${accountsVersion}: expected a release with version ${compatible} or newer.`,
    );
}

/** Throws a UserError if a database has another version than this release, which then lacks some of its columns. */
export function requireOwnVersion(database: SqlDatabase, location: string): void {
  const { version } = requireVersions(database, location);
  if (version !== accountsVersion) throw wrongVersionError(location, version);
}

/**
 * Migrates accounts to the current schema version, in one transaction. Services go on if all steps are additive; else they must be stopped,
 * and the migration is rolled back if the result fails its audit. Does nothing if the accounts are current, or newer and compatible.
 * Several migrations at once are one.
 */
export function migrateTables(
  database: SqlDatabase,
  location: string,
  steps: readonly PostgresMigration[],
): AccountsMigrationResult {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return database.transaction(() => applySteps(database, location, steps));
    } catch (thrown) {
      if (classifyFault(thrown) !== "busy") throw thrown;
      if (attempt === attemptsMax)
        throw new UserError(
          `${location}: Accounts are locked: expected no backup, report or other long transaction on them. Nothing was changed; run the command again.`,
          { cause: thrown },
        );
    }
    database.run(sql`SELECT pg_sleep(${integerLiteral(attemptPauseMs)} / 1000.0)`);
  }
}

function applySteps(
  database: SqlDatabase,
  location: string,
  steps: readonly PostgresMigration[],
): AccountsMigrationResult {
  const to = steps.at(-1)?.to ?? firstVersion;
  const before = requireVersions(database, location);
  if (before.version >= to) return keptVersion(before, to, location);
  // No transaction of a service runs during a step; the effects of another migration are visible.
  database.run(sql`LOCK TABLE carquet_commits IN EXCLUSIVE MODE`);
  const { version: from, compatible } = requireVersions(database, location);
  const missing = steps.filter((step) => step.to > from);
  if (from < firstVersion) throw wrongVersionError(location, from);
  if (missing.length === 0) return { from, to: from, backup: undefined };
  const isAdditive = missing.every((step) => step.isAdditive === true);
  if (!isAdditive) database.run(sql`LOCK TABLE carquet_accounts, entries`);
  for (const step of missing) for (const statement of step.statements) database.run(statement);
  database.run(sql`
    UPDATE carquet_accounts
    SET version = ${integerLiteral(to)}, compatible_version = ${integerLiteral(compatibleAfter(missing, compatible))}`);
  const [fault] = isAdditive ? [] : audit(database).faults;
  if (fault !== undefined) throw new UserError(`Migration rolled back, the result fails its audit: ${fault}.`);
  return { from, to, backup: undefined };
}

/** Returns the result for accounts that need no step. Throws a UserError if releases of version `to` may not use them. */
function keptVersion({ version, compatible }: SchemaVersions, to: number, location: string): AccountsMigrationResult {
  if (compatible > to) throw wrongVersionError(location, version);
  return { from: version, to: version, backup: undefined };
}

/** Returns the versions of accounts. Throws a UserError if the database has no accounts. */
export function requireVersions(database: SqlDatabase, location: string): SchemaVersions {
  const versions = postgresVersionsOf(database);
  if (versions !== undefined) return versions;
  throw new UserError(
    `${location}: The database has no accounts: expected tables created by "carquet accounts create".`,
  );
}
