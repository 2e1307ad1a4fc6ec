/** Backs up and restores the accounts file, also while the service runs. Never replaces data without saving it first. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { integerIn, textIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { isPostgresUrl, withoutPassword } from "../../db/postgres.ts";
import { ident, join, sql } from "../../db/sql.ts";
import { type SqlDatabase, useAndClose } from "../../db/sql-database.ts";
import { createPrivateFile, syncFile } from "../../db/sqlite.ts";
import { type AuditResult, audit, damagedFileFault, openAndAudit } from "../ledger/audit.ts";
import { createSchema, openAccounts, openAccountsToRead, publishPrices } from "./open-accounts.ts";

/** How long to wait for the lock of another process that writes. */
const options = { busyMs: 10_000 } as const;

/** Copies an accounts file, in a consistent state, to a new path and audits the copy. Does not block writers. */
export async function backUp(path: string, copy: string): Promise<AuditResult> {
  if (existsSync(copy)) throw new UserError(`File ${copy} already exists: expected a new path for the backup.`);
  requireFile(path);
  await writeAtomically(copy, async (temporary) => {
    await useAndClose(openAccounts(path, options), (live) => live.run(sql`VACUUM INTO ${temporary}`));
  });
  return useAndClose(openAccountsToRead(copy, options), audit);
}

interface RestoreResult {
  readonly audit: AuditResult;
  /** The path of the saved file; undefined if no file was replaced. */
  readonly previousFile: string | undefined;
}

/**
 * Restores an accounts file from a backup, also while the service runs. Compares, saves and replaces the current file under its write lock, so that
 * no charge is lost: each is in the saved file or in the restored one. The saved file is named `<path>.before-<stamp>`, followed by a number if that
 * exists. Replaces a damaged or missing file as a whole. Throws a UserError if the backup fails its audit, or if the current file has rows that the
 * backup lacks and `discard` is false.
 */
export async function restore(
  path: string,
  backup: string,
  { stamp, discard }: { readonly stamp: string; readonly discard: boolean },
): Promise<RestoreResult> {
  if (isPostgresUrl(path)) requireFile(path);
  const backupAudit = await useAndClose(openAccountsToRead(backup, options), audit);
  if (backupAudit.faults.length > 0)
    throw new UserError(
      `Backup ${backup} fails its audit: ${backupAudit.faults[0]}. Expected a backup without faults.`,
    );
  const previousFile = unusedPath(`${path}.before-${stamp}`);
  if (!existsSync(path) || !(await isReadable(path))) {
    const isReplaced = existsSync(path);
    return {
      audit: await replaceFile(path, backup, previousFile),
      previousFile: isReplaced ? previousFile : undefined,
    };
  }
  await useAndClose(openAccounts(path, options), (live) =>
    replaceContent(live, backup, async (discardedRows) => {
      if (discardedRows > 0 && !discard)
        throw new UserError(
          `Restoring ${backup} would discard ${discardedRows} ${discardedRows === 1 ? "row" : "rows"} of ${path}: expected --discard to confirm.`,
        );
      // Over another connection, which sees committed rows: the write lock prevents further ones.
      await backUp(path, previousFile);
    }),
  );
  return { audit: await useAndClose(openAccountsToRead(path, options), audit), previousFile };
}

/**
 * Replaces the content of an open accounts file with that of a backup, in one transaction: connections of other processes stay valid and see either
 * the old or the new content. When it holds the write lock, and before it changes anything, calls `beforeReplacing` with the number of accounts,
 * keys, entries, confirmations, reviews, passwords and audit records that the backup lacks or has with other values. Rolls back if that throws, or if the result
 * fails its audit.
 */
async function replaceContent(
  live: SqlDatabase,
  backup: string,
  beforeReplacing: (discardedRows: number) => Promise<void>,
): Promise<void> {
  await live.run(sql`ATTACH ${backup} AS backup`);
  // Has no effect within a transaction. With foreign keys on, DROP TABLE deletes row by row.
  await live.run(sql`PRAGMA foreign_keys = OFF`);
  await live.transaction(async (database) => {
    await beforeReplacing(await countDiscardedRows(database));
    const tables = (await database.all(sql`SELECT name FROM main.sqlite_schema WHERE type = 'table'`)).map((row) =>
      ident(textIn(row, "name")),
    );
    // Drops indexes and triggers, too.
    for (const table of tables) await database.run(sql`DROP TABLE main.${table}`);
    await createSchema(database, async () => {
      for (const table of tables) await database.run(sql`INSERT INTO main.${table} SELECT * FROM backup.${table}`);
    });
    await deleteTemporaryCredentials(database);
    // The service charges by them, also after the restore of a backup with other prices.
    await publishPrices(database);
    const [fault] = (await audit(database)).faults;
    if (fault !== undefined) throw new UserError(`Restore rolled back, the result fails its audit: ${fault}.`);
  });
  await live.run(sql`PRAGMA foreign_keys = ON`);
  // The copied pages are in the write-ahead log.
  await live.all(sql`PRAGMA main.wal_checkpoint(FULL)`);
}

/**
 * Deletes sessions, one-time links, and the codes and tokens of agents: one that has been ended, used or rotated since the backup must not be valid
 * again.
 */
async function deleteTemporaryCredentials(database: SqlDatabase): Promise<void> {
  await database.run(sql`DELETE FROM sessions`);
  await database.run(sql`DELETE FROM one_time_links`);
  await database.run(sql`DELETE FROM oauth_state WHERE kind <> 'Client'`);
}

async function countDiscardedRows(database: SqlDatabase): Promise<number> {
  const counts = ["accounts", "keys", "entries", "confirmations", "reviews", "passwords", "audit_log"].map(
    (table) =>
      sql`(SELECT count(*) FROM (SELECT * FROM ${ident("main", table)} EXCEPT SELECT * FROM ${ident("backup", table)}))`,
  );
  return integerIn(await database.one(sql`SELECT ${join(counts, sql` + `)} AS row_count`), "row_count");
}

/**
 * Replaces a file that is missing or damaged as a whole, and returns the audit of the result. Renames what is left of it first: SQLite would
 * replay a write-ahead log that remains.
 */
async function replaceFile(path: string, backup: string, previousFile: string): Promise<AuditResult> {
  await writeAtomically(path, async (temporary) => {
    await useAndClose(openAccountsToRead(backup, options), (saved) => saved.run(sql`VACUUM INTO ${temporary}`));
    await useAndClose(openAccounts(temporary, options), deleteTemporaryCredentials);
    for (const suffix of ["", "-wal", "-shm"])
      if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${previousFile}${suffix}`);
  });
  return useAndClose(openAccountsToRead(path, options), audit);
}

/** Returns a path that no file has: the given one, or the given one with a number. */
function unusedPath(path: string): string {
  for (let number = 2, candidate = path; ; number += 1) {
    if (!existsSync(candidate)) return candidate;
    candidate = `${path}-${number}`;
  }
}

function requireFile(path: string): void {
  if (isPostgresUrl(path))
    throw new UserError(
      `${withoutPassword(path)}: Not a file: expected an accounts file. Back up PostgreSQL with its own tools, such as pg_dump.`,
    );
  if (!existsSync(path)) throw new UserError(`File ${path} does not exist: expected an accounts file.`);
}

const isReadable = async (path: string): Promise<boolean> =>
  (await openAndAudit(() => openAccountsToRead(path, options))).faults.every(
    (fault) => !fault.startsWith(damagedFileFault),
  );

/** Writes to a temporary name, syncs, then renames atomically. Of what throws, nothing is left. */
export async function writeAtomically<T>(path: string, write: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  createPrivateFile(temporary);
  try {
    const result = await write(temporary);
    syncFile(temporary);
    renameSync(temporary, path);
    syncFile(dirname(path));
    return result;
  } catch (thrown) {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${temporary}${suffix}`, { force: true });
    throw thrown;
  }
}
