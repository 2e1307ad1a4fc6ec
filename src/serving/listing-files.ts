/** The files of a version that hold every listing there ever was, once, by the state of the listings in them. */
import type { Row } from "../base/json.ts";
import { join, literal, type Sql, sql } from "../db/sql.ts";
import type { LakeFile, Manifest } from "../lake/manifest.ts";
import { type ServedColumn, selectServed } from "../lake/served-columns.ts";
import { type TableName, tableOf } from "../lake/tables.ts";
import { withRowNumbers } from "../lake/views.ts";

export type ListingState = "active" | "missing" | "sold" | "ended";

/** A listing that was looked up, and what is read of it. */
export interface FoundListing {
  readonly state: ListingState;
  readonly row: Row;
}

/** A Parquet file of listings that are all in one state. */
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

/** The files of a version's listings: as of the published day, or for good. */
export function listingFiles({ tables, as_of }: Manifest): readonly ListingFile[] {
  const filesOf = (table: TableName): readonly LakeFile[] =>
    tables[table].filter(({ partition }) => tableOf(table).isAppendOnly === true || partition === as_of);
  return states.flatMap((state) => filesOf(tableOfState[state]).map((file) => ({ state, file })));
}

/** Looks an id (32 hex digits) or a VIN up in all files: rows with their `state`. A scan, for as long as there is no row store. */
export function lookUpStatement(
  manifest: Manifest,
  folder: string,
  by: "vin" | "id",
  wanted: string,
  names: readonly ServedColumn[],
): Sql {
  const isIt = by === "vin" ? sql`facts.vin = ${wanted}` : sql`facts.id = ${wanted}`;
  const parts = states.flatMap((state) => {
    const files = listingFiles(manifest).filter((one) => one.state === state);
    if (files.length === 0) return [];
    const rows = withRowNumbers(
      files.map(({ file }) => file),
      folder,
    );
    return [sql`SELECT ${literal(state)} AS state, ${selectServed(names)} FROM (${rows}) AS facts WHERE ${isIt}`];
  });
  return parts.length === 0 ? sql`SELECT NULL AS state WHERE false` : join(parts, sql` UNION ALL `);
}
