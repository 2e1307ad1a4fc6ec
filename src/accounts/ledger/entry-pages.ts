/** Pages of an account's entries, charges included, newest first. */
import { integerIn, integerOrNullIn, type Row, textIn, textOrNullIn } from "../../base/json.ts";
import { rowReader } from "../../db/row-reader.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";

/** The entries of an account below `before`; null for the newest. */
export interface EntryPage {
  readonly accountId: string;
  readonly before: number | null;
  readonly limit: number;
}

const readEntry = rowReader({
  entry: integerIn,
  entryId: textIn,
  kind: textIn,
  micros: integerIn,
  atMs: integerIn,
  /** The usage class and the key of a charge. */
  usageClass: textOrNullIn,
  keyId: textOrNullIn,
  /** How often the price of the class was charged. */
  units: integerOrNullIn,
  reference: textOrNullIn,
  note: textOrNullIn,
});

export type LedgerEntry = ReturnType<typeof readEntry>;

/** Returns a page of entries. Reads the entries of all accounts only between the first and the last charge of the account in a day. */
export const listEntryPage = (opened: SqlDatabase, page: EntryPage): Promise<readonly LedgerEntry[]> =>
  opened.reading(async (database) => {
    const { accountId, limit } = page;
    const end = page.before ?? Number.MAX_SAFE_INTEGER;
    const others = await database.all(sql`
      ${selectEntries(accountId)} AND kind <> 'charge' AND entry < ${end} ORDER BY entry DESC LIMIT ${limit}`);
    return [...others, ...(await listCharges(database, page, end))]
      .map(readEntry)
      .sort((a, b) => b.entry - a.entry)
      .slice(0, limit);
  });

/** Returns the last charges of an account below an entry, day by day. */
async function listCharges(
  database: SqlDatabase,
  { accountId, limit }: EntryPage,
  before: number,
): Promise<readonly Row[]> {
  const days = await database.all(sql`
    SELECT   min(first_entry) AS first_entry, max(last_entry) AS last_entry
    FROM     usage_days WHERE account_id = ${accountId} GROUP BY day
    HAVING   min(first_entry) < ${before} ORDER BY last_entry DESC`);
  const charges: Row[] = [];
  let end = before;
  for (const day of days) {
    // A charge after midnight can precede one before midnight: days can overlap.
    const first = integerIn(day, "first_entry");
    const next = Math.min(end, integerIn(day, "last_entry") + 1);
    if (charges.length === limit) break;
    charges.push(
      ...(await database.all(sql`
        ${selectEntries(accountId)} AND kind = 'charge' AND entry >= ${first} AND entry < ${next}
        ORDER BY entry DESC LIMIT ${limit - charges.length}`)),
    );
    end = Math.min(end, first);
  }
  return charges;
}

const selectEntries = (accountId: string): Sql => sql`
  SELECT entry, entry_id, kind, entries.micros, at_ms, usage_class, key_id, entries.micros / -prices.micros AS units, reference, note
  FROM   entries LEFT JOIN prices USING (price) WHERE account_id = ${accountId}`;
