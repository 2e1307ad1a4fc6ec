/**
 * Schema migrations of the accounts file. `PRAGMA user_version` is the schema version; each step leads from one version to the next.
 *
 * To change the schema: change `account-tables.ts`, which new files are created from, and append a step here that changes existing files the
 * same way. A test compares the two. Released steps are never edited.
 */

import { integerIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { integerLiteral, type Sql, sql } from "../../db/sql.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { auditLogTriggers, signInTables, usageTrigger } from "./version-3-schema.ts";
import { oauthTables } from "./version-4-schema.ts";

/** The statements that migrate a file from the previous version to version `to`. */
export interface Migration {
  readonly to: number;
  readonly statements: readonly Sql[];
}

/** The schema version of the first release. */
const firstVersion = 1;

/** All migrations since the first release, in order. */
export const migrations: readonly Migration[] = [
  {
    to: 2,
    statements: [
      sql`CREATE TABLE idempotency_keys (
        account_id      TEXT NOT NULL REFERENCES accounts,
        idempotency_key TEXT NOT NULL,
        sha256          TEXT NOT NULL CHECK (length(sha256) = 64),
        charge_id       TEXT NOT NULL REFERENCES entries (entry_id),
        at_ms           INTEGER NOT NULL,
        PRIMARY KEY (account_id, idempotency_key)
      ) STRICT, WITHOUT ROWID`,
      sql`CREATE INDEX idempotency_keys_by_time ON idempotency_keys (at_ms)`,
    ],
  },
  {
    to: 3,
    statements: [
      sql`ALTER TABLE accounts ADD COLUMN is_operator INTEGER NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1))`,
      sql`ALTER TABLE keys ADD COLUMN name TEXT NOT NULL DEFAULT ''`,
      sql`ALTER TABLE keys ADD COLUMN is_web INTEGER NOT NULL DEFAULT 0 CHECK (is_web IN (0, 1))`,
      sql`ALTER TABLE usage_days ADD COLUMN first_entry INTEGER NOT NULL DEFAULT 0`,
      sql`ALTER TABLE usage_days ADD COLUMN last_entry INTEGER NOT NULL DEFAULT 0`,
      sql`UPDATE usage_days SET first_entry = charges.first_entry, last_entry = charges.last_entry
          FROM (SELECT account_id, date(at_ms / 1000, 'unixepoch') AS day, usage_class, min(entry) AS first_entry,
                       max(entry) AS last_entry
                FROM   entries JOIN prices USING (price) WHERE kind = 'charge' GROUP BY 1, 2, 3) AS charges
          WHERE charges.account_id = usage_days.account_id AND charges.day = usage_days.day
                AND charges.usage_class = usage_days.usage_class`,
      sql`DROP TRIGGER usage_follows_from_charges`,
      usageTrigger,
      ...signInTables,
      ...auditLogTriggers,
    ],
  },
  { to: 4, statements: [sql`ALTER TABLE keys ADD COLUMN client_id TEXT`, ...oauthTables] },
];

/** Returns the version that the last step leads to. */
export const versionAfter = (steps: readonly Migration[]): number => steps.at(-1)?.to ?? firstVersion;

/** The schema version that this release reads and writes. */
export const accountsVersion = versionAfter(migrations);

/** Returns the schema version of a file. */
export const schemaVersionOf = (database: SqliteDatabase): number =>
  integerIn(database.one(sql`PRAGMA user_version`), "user_version");

/**
 * Applies all steps above the version of the file, in one transaction. Runs `check` before the commit; an error rolls back. Throws a
 * UserError if no step starts from the file's version.
 */
export function applyMigrations(
  database: SqliteDatabase,
  steps: readonly Migration[] = migrations,
  check: () => void = () => {},
): void {
  database.transaction(() => {
    const version = schemaVersionOf(database);
    requireSchemaVersion(version, steps);
    for (const { to, statements } of steps.filter((step) => step.to > version)) {
      for (const statement of statements) database.run(statement);
      database.run(sql`PRAGMA user_version = ${integerLiteral(to)}`);
    }
    check();
  });
}

/** Returns the error for accounts of another schema version than this release has. */
export const wrongVersion = (location: string, version: number): UserError =>
  new UserError(
    version > accountsVersion
      ? `${location}: Accounts file version ${version} is too new: expected at most ${accountsVersion}. Use a newer release of carquet.`
      : `${location}: Accounts file version ${version} is too old: expected ${accountsVersion}. Run carquet migrate --accounts ${location}.`,
  );

/** Throws a UserError if a schema version is not one that the steps start from or lead to. */
export function requireSchemaVersion(version: number, steps: readonly Migration[]): void {
  const newest = versionAfter(steps);
  if (version > newest)
    throw new UserError(
      `Accounts file version ${version} is too new: expected at most ${newest}. Use a newer release of carquet.`,
    );
  if (version < firstVersion)
    throw new UserError(`Invalid accounts file version ${version}: expected ${firstVersion} to ${newest}.`);
}
