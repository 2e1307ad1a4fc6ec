/** Backs up and restores the accounts file, also while the service runs, and migrates it. Never replaces data without saving it first. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, UserError } from "../../base/user-error.ts";
import { isPostgresUrl, withoutPassword } from "../../db/postgres.ts";
import { sql } from "../../db/sql.ts";
import { createPrivateFile, type SqliteDatabase, syncFile } from "../../db/sqlite.ts";
import { type AuditResult, audit, damagedFileFault, openAndAudit } from "../ledger/audit.ts";
import {
  applyMigrations,
  type Migration,
  migrations,
  requireSchemaVersion,
  schemaVersionOf,
  versionAfter,
} from "./migrations.ts";
import { deleteTemporaryCredentials, replaceContent } from "./replace-content.ts";
import { openAccountsFile, openAnyVersion, openReadOnly } from "./schema.ts";

/** How long to wait for the lock of another process that writes. */
const busyMs = 10_000;

/** Copies an accounts file, in a consistent state, to a new path and audits the copy. Does not block writers. */
export function backUp(path: string, copy: string): AuditResult {
  if (existsSync(copy)) throw new UserError(`File ${copy} already exists: expected a new path for the backup.`);
  requireFile(path);
  writeAtomically(copy, (temporary) =>
    useAndClose(openAccountsFile(path, { busyMs }), (live) => live.run(sql`VACUUM INTO ${temporary}`)),
  );
  return useAndClose(openReadOnly(copy), audit);
}

export interface RestoreResult {
  readonly audit: AuditResult;
  /** The path of the saved file; undefined if no file was replaced. */
  readonly previousFile: string | undefined;
}

export interface RestoreOptions {
  /** Distinguishes the saved file, for example a time: it is named `<path>.before-<stamp>`, followed by a number if that exists. */
  readonly stamp: string;
  /** Allow the restore to discard rows that the backup lacks. */
  readonly discard: boolean;
}

/**
 * Restores an accounts file from a backup, also while the service runs. Compares, saves and replaces the current file under its write lock, so that
 * no charge is lost: each is in the saved file or in the restored one. Replaces a damaged or missing file as a whole. Throws a UserError if the backup fails
 * its audit, or if the current file has rows that the backup lacks and `discard` is false.
 */
export function restore(path: string, backup: string, { stamp, discard }: RestoreOptions): RestoreResult {
  if (isPostgresUrl(path)) requireFile(path);
  const backupAudit = useAndClose(openReadOnly(backup), audit);
  if (backupAudit.faults.length > 0)
    throw new UserError(
      `Backup ${backup} fails its audit: ${backupAudit.faults[0]}. Expected a backup without faults.`,
    );
  const previousFile = unusedPath(`${path}.before-${stamp}`);
  if (!existsSync(path) || !isReadable(path)) {
    const isReplaced = existsSync(path);
    return { audit: replaceFile(path, backup, previousFile), previousFile: isReplaced ? previousFile : undefined };
  }
  useAndClose(openAccountsFile(path, { busyMs }), (live) =>
    replaceContent(live, backup, (discardedRows) => {
      if (discardedRows > 0 && !discard)
        throw new UserError(
          `Restoring ${backup} would discard ${discardedRows} ${discardedRows === 1 ? "row" : "rows"} of ${path}: expected --discard to confirm.`,
        );
      // Over another connection, which sees committed rows: the write lock prevents further ones.
      backUp(path, previousFile);
    }),
  );
  return { audit: useAndClose(openReadOnly(path), audit), previousFile };
}

/**
 * Replaces a file that is missing or damaged as a whole, and returns the audit of the result. Renames what is left of it first: SQLite would
 * replay a write-ahead log that remains.
 */
function replaceFile(path: string, backup: string, previousFile: string): AuditResult {
  writeAtomically(path, (temporary) => {
    useAndClose(openReadOnly(backup), (saved) => saved.run(sql`VACUUM INTO ${temporary}`));
    useAndClose(openAccountsFile(temporary, { busyMs }), deleteTemporaryCredentials);
    for (const suffix of ["", "-wal", "-shm"])
      if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${previousFile}${suffix}`);
  });
  return useAndClose(openReadOnly(path), audit);
}

/** Returns a path that no file has: the given one, or the given one with a number. */
function unusedPath(path: string): string {
  for (let number = 2, candidate = path; ; number += 1) {
    if (!existsSync(candidate)) return candidate;
    candidate = `${path}-${number}`;
  }
}

export interface AccountsMigrationResult {
  readonly from: number;
  readonly to: number;
  /** The backup from before the migration; undefined if the file was already current. */
  readonly backup: string | undefined;
}

/**
 * Migrates an accounts file to the current schema version, in one transaction, after a backup to `<path>.version-<n>`. Rolls back if
 * the result fails its audit. Does nothing if the file is current.
 */
export function migrateAccounts(path: string, steps: readonly Migration[] = migrations): AccountsMigrationResult {
  requireFile(path);
  return useAndClose(openAnyVersion(path, { busyMs }), (database) => {
    const [from, to] = [schemaVersionOf(database), versionAfter(steps)];
    if (from === to) return { from, to, backup: undefined };
    try {
      requireSchemaVersion(from, steps);
      const backup = `${path}.version-${from}`;
      writeAtomically(backup, (temporary) => database.run(sql`VACUUM INTO ${temporary}`));
      applyMigrations(database, steps, () => {
        const [fault] = audit(database).faults;
        if (fault !== undefined) throw new UserError(`Migration rolled back, the result fails its audit: ${fault}.`);
      });
      return { from, to, backup };
    } catch (thrown) {
      throw new UserError(`${path}: ${messageOf(thrown)}`, { cause: thrown });
    }
  });
}

function requireFile(path: string): void {
  if (isPostgresUrl(path))
    throw new UserError(
      `${withoutPassword(path)}: Not a file: expected an accounts file. Back up PostgreSQL with its own tools, such as pg_dump.`,
    );
  if (!existsSync(path)) throw new UserError(`File ${path} does not exist: expected an accounts file.`);
}

const isReadable = (path: string): boolean =>
  openAndAudit(() => openReadOnly(path)).faults.every((fault) => !fault.startsWith(damagedFileFault));

/** Writes to a temporary name, syncs, then renames atomically. */
export function writeAtomically(path: string, write: (temporary: string) => void): void {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  createPrivateFile(temporary);
  write(temporary);
  syncFile(temporary);
  renameSync(temporary, path);
  syncFile(dirname(path));
}

function useAndClose<T>(database: SqliteDatabase, work: (database: SqliteDatabase) => T): T {
  try {
    return work(database);
  } finally {
    database.close();
  }
}
