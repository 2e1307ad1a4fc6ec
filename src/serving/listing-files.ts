/** The Parquet files of a version that contain listings, by state and by day. */
import { plusDays } from "../base/day.ts";
import type { Row } from "../base/json.ts";
import { join, literal, type Sql, sql } from "../db/sql.ts";
import type { LakeFile, Manifest } from "../lake/manifest.ts";
import { type ServedColumn, selectServed } from "../lake/served-columns.ts";
import { type TableName, tableOf } from "../lake/tables.ts";
import { withRowNumbers } from "../lake/views.ts";
import { life } from "../listing/life.ts";

export type ListingState = "active" | "missing" | "sold" | "ended";

/** A listing found by a look-up, with the requested columns. */
export interface FoundListing {
  readonly state: ListingState;
  readonly row: Row;
}

/** A Parquet file of listings in a single state. */
export interface ListingFile {
  readonly state: ListingState;
  readonly file: LakeFile;
}

const tableOfState: Readonly<Record<ListingState, TableName>> = {
  active: "snapshots",
  missing: "missing",
  sold: "sold",
  ended: "ended",
};

const states = Object.keys(tableOfState) as readonly ListingState[];

/** Returns the files that contain each listing of a version exactly once: active and missing as of its day, sold and ended in full. */
export function listingFiles({ tables, as_of }: Manifest): readonly ListingFile[] {
  const filesOf = (table: TableName): readonly LakeFile[] =>
    tables[table].filter(({ partition }) => tableOf(table).isAppendOnly === true || partition === as_of);
  return states.flatMap((state) => filesOf(tableOfState[state]).map((file) => ({ state, file })));
}

/** Returns the number of listings of each day with a snapshot, in the order of days. */
export function snapshotSizesOf({ tables }: Manifest): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const { partition, rows } of tables.snapshots) {
    const day = partition ?? "";
    sizes.set(day, (sizes.get(day) ?? 0) + rows);
  }
  return new Map([...sizes].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns the snapshots of some days. */
export function snapshotFilesOf({ tables }: Manifest, days: readonly string[]): readonly LakeFile[] {
  const requested = new Set<string | null>(days);
  return tables.snapshots.filter(({ partition }) => requested.has(partition));
}

/**
 * Returns the files of listings sold on or after a day, and perhaps of some sold earlier. The month of a file is that of the sale or of the day on
 * which it became known.
 */
export function soldFilesSince({ tables }: Manifest, day: string): readonly LakeFile[] {
  const month = plusDays(day, 1 - life.soldAfterDays).slice(0, "YYYY-MM".length);
  return tables.sold.filter(({ partition }) => (partition ?? "") >= month);
}

/** Returns the listing files without those of past listings that were last observed before a day's month. */
export function listingFilesSince(manifest: Manifest, day: string): readonly LakeFile[] {
  const month = day.slice(0, "YYYY-MM".length);
  return listingFiles(manifest)
    .filter(({ state, file }) => state === "active" || state === "missing" || (file.partition ?? "") >= month)
    .map(({ file }) => file);
}

export interface LookUpRequest {
  readonly key: "vin" | "id";
  /** A VIN, or an id of 32 hexadecimal digits. */
  readonly value: string;
  readonly columns: readonly ServedColumn[];
}

/** Returns a query for the listings of an id or a VIN: `state` and the columns. It scans all files; the row store is the fast path. */
export function lookUpStatement(manifest: Manifest, folder: string, { key, value, columns }: LookUpRequest): Sql {
  const isMatch = key === "vin" ? sql`facts.vin = ${value}` : sql`facts.id = ${value}`;
  const selects = states.flatMap((state) => {
    const files = listingFiles(manifest).filter((listingFile) => listingFile.state === state);
    if (files.length === 0) return [];
    const rows = withRowNumbers(
      files.map(({ file }) => file),
      folder,
    );
    return [sql`SELECT ${literal(state)} AS state, ${selectServed(columns)} FROM (${rows}) AS facts WHERE ${isMatch}`];
  });
  return selects.length === 0 ? sql`SELECT NULL AS state WHERE false` : join(selects, sql` UNION ALL `);
}
