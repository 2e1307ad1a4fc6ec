/**
 * The versions of the accounts file. `PRAGMA user_version` says which one a file has; each step leads from a version to the next.
 *
 * To change the schema: change `layout.ts`, which new files are created from, and append a step here that changes existing files the
 * same way. A test compares the two. Steps that a release has contained are never edited.
 */

import { integerIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { integerLiteral, type Sql, sql } from "../../db/sql.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";

/** One step: the statements that turn a file of the version before it into one of version `to`. */
export interface Migration {
  readonly to: number;
  readonly statements: readonly Sql[];
}

/** The version of the first release. */
const firstVersion = 1;

/** Every step since the first release, in order. */
export const migrations: readonly Migration[] = [];

/** Returns the version that some steps lead to. */
export const versionAfter = (steps: readonly Migration[]): number => steps.at(-1)?.to ?? firstVersion;

/** The version that this release reads and writes. */
export const accountsVersion = versionAfter(migrations);

/** Returns the version of a file. */
export const schemaVersionOf = (database: SqliteDatabase): number =>
  integerIn(database.one(sql`PRAGMA user_version`), "user_version");

/**
 * Applies the steps that a file lacks, all in one transaction: it has the old version or the last one. Runs `check` before the commit;
 * what it throws rolls everything back. Fails when the file is of a newer release, or of a version that no step starts from.
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

/** Fails when a file of a version cannot be migrated by some steps. */
export function requireSchemaVersion(version: number, steps: readonly Migration[]): void {
  const newest = versionAfter(steps);
  if (version > newest)
    throw new UserError(
      `accounts file version ${version}; this release knows versions up to ${newest}. Use a newer release.`,
    );
  if (version < firstVersion)
    throw new UserError(`accounts file version ${version}; expected a version from ${firstVersion} to ${newest}.`);
}
