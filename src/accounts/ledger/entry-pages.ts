/** Pages of an account's entries, charges included, newest first. */
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { sql } from "../../db/sql.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";

/** The entries of an account below `before`; null for the newest. */
export interface EntryPage {
  readonly accountId: string;
  readonly before: number | null;
  readonly limit: number;
}

export interface LedgerEntry {
  /** Increases from entry to entry. */
  readonly entry: number;
  readonly entryId: string;
  readonly kind: string;
  readonly micros: number;
  readonly atMs: number;
  /** The usage class and the key of a charge. */
  readonly usageClass: string | null;
  readonly keyId: string | null;
  readonly reference: string | null;
  readonly note: string | null;
}

/** Returns a page of entries. */
export function listEntryPage(
  database: SqliteDatabase,
  { accountId, before, limit }: EntryPage,
): readonly LedgerEntry[] {
  return database
    .all(sql`
      SELECT   entry, entry_id, kind, entries.micros, at_ms, usage_class, key_id, reference, note
      FROM     entries INDEXED BY entries_by_account LEFT JOIN prices USING (price)
      WHERE    account_id = ${accountId} AND entry < ${before ?? Number.MAX_SAFE_INTEGER}
      ORDER BY entry DESC LIMIT ${limit}`)
    .map(entryFromRow);
}

const entryFromRow = (row: Row): LedgerEntry => ({
  entry: integerIn(row, "entry"),
  entryId: textIn(row, "entry_id"),
  kind: textIn(row, "kind"),
  micros: integerIn(row, "micros"),
  atMs: integerIn(row, "at_ms"),
  usageClass: textOrNull(row, "usage_class"),
  keyId: textOrNull(row, "key_id"),
  reference: textOrNull(row, "reference"),
  note: textOrNull(row, "note"),
});

const textOrNull = (row: Row, column: string): string | null => (row[column] === null ? null : textIn(row, column));
