/**
 * Point look-ups: a VIN or an id leads through sorted files to the listing's place, and the place to its row. Both steps read a
 * few row groups, however long the history is.
 */
import { join as joinPath } from "node:path";
import { join, literal, name, type Sql, sql } from "../base/sql.ts";
import type { TableName } from "./layout.ts";
import type { LakeFile, Manifest } from "./manifest.ts";
import { filesIn, positioned } from "./views.ts";

export type ListingState = "active" | "missing" | "sold" | "ended";

/** Where a listing is: its table by its state, the partition, and the leading columns of their order. */
export interface Place {
  /** As a UUID. */
  readonly id: string;
  readonly state: ListingState;
  readonly partition: string;
  readonly make: string | null;
  readonly model: string | null;
  readonly year: number | null;
}

const tableOf: Readonly<Record<ListingState, TableName>> = {
  active: "snapshots",
  missing: "missing",
  sold: "sold",
  ended: "ended",
};

/** The places of all listings of a VIN, or of the listing of an id (32 hex digits, or as a UUID): rows of `Place`. */
export function placesOf(manifest: Manifest, folder: string, by: "vin" | "id", wanted: string): Sql {
  const value = by === "id" ? wanted.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5") : wanted;
  const files = [
    ...filesIn(manifest.tables, by === "vin" ? "live_by_vin" : "live_by_id", manifest.as_of),
    ...manifest.tables[by === "vin" ? "past_by_vin" : "past_by_id"],
  ].filter((file) => mayHold(file, value));
  if (files.length === 0) return sql`SELECT NULL::VARCHAR AS id WHERE false`;
  const paths = files.map((file) => literal(joinPath(folder, file.path)));
  const isIt = by === "vin" ? sql`vin = ${value}` : sql`id = ${value}::UUID`;
  return sql`SELECT id::VARCHAR AS id, state, "partition", make, model, "year"
    FROM read_parquet([${join(paths)}], hive_partitioning = false) WHERE ${isIt}`;
}

/** Whether a value lies between the least and the greatest of a file. */
const mayHold = ({ min, max }: LakeFile, value: string): boolean =>
  min === null || max === null || (min <= value && value <= max);

/** The listing at a place, as a relation of the star with `row_number`. */
export function listingAt(manifest: Manifest, folder: string, place: Place): Sql {
  const { id, state, partition } = place;
  const leading = (["make", "model", "year"] as const).map((column) => {
    const value = place[column];
    return value === null ? sql`${name(column)} IS NULL` : sql`${name(column)} = ${value}`;
  });
  const files = filesIn(manifest.tables, tableOf[state], partition);
  return sql`SELECT * FROM (${positioned(files, folder)}) WHERE ${join(leading, sql` AND `)} AND id = ${id}::UUID`;
}
