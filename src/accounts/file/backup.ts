/** Copies of the accounts file: made while it is written to, put back in its place while it is served, kept before it is migrated. */
import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { integerIn } from "../../base/json.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import { faultOf } from "../../db/engine-faults.ts";
import { sql } from "../../db/sql.ts";
import { makeFile, type SqliteDatabase, syncFile } from "../../db/sqlite.ts";
import { type AuditResult, audit } from "../ledger/audit.ts";
import {
  applyMigrations,
  type Migration,
  migrations,
  requireSchemaVersion,
  schemaVersionOf,
  versionAfter,
} from "./migrations.ts";
import { openAccountsFile, openAnyVersion, openBackup } from "./schema.ts";

/** How long a copy waits for whoever is writing. */
const busyMs = 10_000;

/** Copies an accounts file as it is at one moment to a path where nothing is, and audits the copy. Who writes goes on writing. */
export function backUp(path: string, copy: string): AuditResult {
  if (existsSync(copy)) throw new UserError(`${copy}: there is something already.`);
  if (!existsSync(path)) throw new UserError(`${path}: there is no accounts file.`);
  putInPlace(copy, (fresh) =>
    reading(openAccountsFile(path, { busyMs }), (live) => live.run(sql`VACUUM INTO ${fresh}`)),
  );
  return reading(openBackup(copy), audit);
}

export interface RestoreResult {
  readonly audit: AuditResult;
  /** Where what was there before has been put; undefined when there was nothing. */
  readonly before: string | undefined;
}

export interface RestoreOptions {
  /** Names what is put aside, for example a time. */
  readonly stamp: string;
  /** Whether rows that the copy does not have may go. */
  readonly discard: boolean;
}

/**
 * Puts a copy in the place of an accounts file, which may be in service: it is written over in one transaction, or exchanged when
 * it is damaged. What was there is put aside first. Fails, unless told to discard them, when it has rows that the copy lacks.
 */
export async function restore(path: string, copy: string, { stamp, discard }: RestoreOptions): Promise<RestoreResult> {
  const found = reading(openBackup(copy), audit);
  if (found.faults.length > 0) throw new UserError(`${copy}: it is not sound: ${found.faults[0]}.`);
  if (!existsSync(path)) {
    putInPlace(path, (fresh) => copyFileSync(copy, fresh));
    return { audit: found, before: undefined };
  }
  const before = `${path}.before-${stamp}`;
  if (!isReadable(path)) {
    for (const part of ["", "-wal", "-shm"])
      if (existsSync(`${path}${part}`)) renameSync(`${path}${part}`, `${before}${part}`);
    putInPlace(path, (fresh) => copyFileSync(copy, fresh));
    return { audit: found, before };
  }
  const lost = reading(openAccountsFile(path, { busyMs }), (live) => rowsBeyond(live, copy));
  if (lost > 0 && !discard)
    throw new UserError(
      `${path}: ${lost} of its rows are not in ${copy}, or not as they are now; --discard lets them go.`,
    );
  backUp(path, before);
  await writeOver(path, copy);
  return { audit: reading(openBackup(path), audit), before };
}

export interface AccountsMigrationResult {
  readonly from: number;
  readonly to: number;
  /** Where the file of the version before is kept; undefined when nothing had to be done. */
  readonly backup: string | undefined;
}

/**
 * Migrates an accounts file to the last version, in one transaction, after a copy of it has been put beside it. Rolls back when the
 * result is not sound. Does nothing when the file has that version.
 */
export function migrateAccounts(path: string, steps: readonly Migration[] = migrations): AccountsMigrationResult {
  if (!existsSync(path)) throw new UserError(`${path}: there is no accounts file.`);
  return reading(openAnyVersion(path, { busyMs }), (database) => {
    const [from, to] = [schemaVersionOf(database), versionAfter(steps)];
    if (from === to) return { from, to, backup: undefined };
    try {
      requireSchemaVersion(from, steps);
      const backup = `${path}.version-${from}`;
      putInPlace(backup, (fresh) => database.run(sql`VACUUM INTO ${fresh}`));
      applyMigrations(database, steps, () => {
        const [fault] = audit(database).faults;
        if (fault !== undefined) throw new UserError(`the migrated file would not be sound: ${fault}.`);
      });
      return { from, to, backup };
    } catch (thrown) {
      throw new UserError(`${path}: ${messageOf(thrown)}`, { cause: thrown });
    }
  });
}

/** Writes a copy over a live file. What the engine has copied is in the log only; the checkpoint forces it to the disk. */
async function writeOver(path: string, copy: string): Promise<void> {
  const database = openBackup(copy);
  try {
    await database.copyInto(path);
  } finally {
    database.close();
  }
  reading(openAccountsFile(path, { busyMs }), (live) => live.all(sql`PRAGMA wal_checkpoint(FULL)`));
}

/** Whether an accounts file can be opened and read through. */
function isReadable(path: string): boolean {
  try {
    return reading(openAccountsFile(path, { busyMs }), audit).faults.every(
      (fault) => !fault.startsWith("the file is damaged"),
    );
  } catch (thrown) {
    if (faultOf(thrown) === "damaged") return false;
    throw thrown;
  }
}

/** How many accounts, keys, entries, confirmations and reviews a file has that a copy does not have, or has otherwise. */
function rowsBeyond(live: SqliteDatabase, copy: string): number {
  live.run(sql`ATTACH ${copy} AS copy`);
  const counted = live.one(sql`
    SELECT (SELECT count(*) FROM (SELECT * FROM main.accounts      EXCEPT SELECT * FROM copy.accounts))
         + (SELECT count(*) FROM (SELECT * FROM main.keys          EXCEPT SELECT * FROM copy.keys))
         + (SELECT count(*) FROM (SELECT * FROM main.entries       EXCEPT SELECT * FROM copy.entries))
         + (SELECT count(*) FROM (SELECT * FROM main.confirmations EXCEPT SELECT * FROM copy.confirmations))
         + (SELECT count(*) FROM (SELECT * FROM main.reviews       EXCEPT SELECT * FROM copy.reviews)) AS n`);
  return integerIn(counted, "n");
}

/** Writes a file under another name, forces it to the disk, and gives it its own name at once. */
function putInPlace(path: string, write: (fresh: string) => void): void {
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  makeFile(fresh);
  write(fresh);
  syncFile(fresh);
  renameSync(fresh, path);
  syncFile(dirname(path));
}

function reading<T>(database: SqliteDatabase, work: (database: SqliteDatabase) => T): T {
  try {
    return work(database);
  } finally {
    database.close();
  }
}
