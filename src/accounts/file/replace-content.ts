/**
 * Replaces the content of an open accounts file with that of a backup, in one transaction: connections of other processes stay valid and
 * see either the old or the new content. The backup has the current schema.
 */
import { integerIn, textIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { ident, join, sql } from "../../db/sql.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { audit } from "../ledger/audit.ts";
import { createSchema } from "./schema.ts";

/**
 * Replaces the content. When it holds the write lock, and before it changes anything, calls `beforeReplacing` with the number of accounts,
 * keys, entries, confirmations, reviews and passwords that the backup lacks or has with other values. Rolls back if that throws, or if the result
 * fails its audit.
 */
export function replaceContent(
  database: SqliteDatabase,
  backup: string,
  beforeReplacing: (discardedRows: number) => void,
): void {
  database.run(sql`ATTACH ${backup} AS backup`);
  // Has no effect within a transaction. With foreign keys on, DROP TABLE deletes row by row.
  database.run(sql`PRAGMA foreign_keys = OFF`);
  database.transaction(() => {
    beforeReplacing(countDiscardedRows(database));
    const tables = database
      .all(sql`SELECT name FROM main.sqlite_schema WHERE type = 'table'`)
      .map((row) => ident(textIn(row, "name")));
    // Drops indexes and triggers, too.
    for (const table of tables) database.run(sql`DROP TABLE main.${table}`);
    createSchema(database, () => {
      for (const table of tables) database.run(sql`INSERT INTO main.${table} SELECT * FROM backup.${table}`);
    });
    deleteTemporaryCredentials(database);
    const [fault] = audit(database).faults;
    if (fault !== undefined) throw new UserError(`Restore rolled back, the result fails its audit: ${fault}.`);
  });
  database.run(sql`PRAGMA foreign_keys = ON`);
  // The copied pages are in the write-ahead log.
  database.all(sql`PRAGMA main.wal_checkpoint(FULL)`);
}

/**
 * Deletes sessions, one-time links, and the codes and tokens of agents: one that has been ended, used or rotated since the backup must not be valid
 * again.
 */
export function deleteTemporaryCredentials(database: SqliteDatabase): void {
  database.run(sql`DELETE FROM sessions`);
  database.run(sql`DELETE FROM one_time_links`);
  database.run(sql`DELETE FROM oauth_state WHERE kind <> 'Client'`);
}

function countDiscardedRows(database: SqliteDatabase): number {
  const counts = ["accounts", "keys", "entries", "confirmations", "reviews", "passwords"].map(
    (table) =>
      sql`(SELECT count(*) FROM (SELECT * FROM ${ident("main", table)} EXCEPT SELECT * FROM ${ident("backup", table)}))`,
  );
  return integerIn(database.one(sql`SELECT ${join(counts, sql` + `)} AS row_count`), "row_count");
}
