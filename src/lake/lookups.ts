/**
 * Point look-ups: a VIN or an id leads through sorted files to the listing's place, and the place to its row. Both steps read a
 * few row groups, however long the history is.
 */
import { type Row, textIn } from "../base/json.ts";
import { join, name, type Sql, sql } from "../base/sql.ts";
import { rowsOfFiles } from "./file-rows.ts";
import { layoutOf, type TableName } from "./layout.ts";
import type { LakeFile, Manifest } from "./manifest.ts";
import { type Reading, readOf } from "./readings.ts";
import { filesIn, positioned } from "./views.ts";

export type ListingState = "active" | "missing" | "sold" | "ended";

/** Where a listing is: its table by its state, the partition, and the leading columns of their order. */
export interface Place {
  /** 32 hexadecimal digits. */
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

const states = Object.keys(tableOf) as readonly ListingState[];

/** A file of listings that are all in one state. */
export interface Known {
  readonly state: ListingState;
  readonly file: LakeFile;
}

/** The files that hold every listing there ever was, once: as of the published day, or for good. */
export function knownFiles({ tables, as_of }: Manifest): readonly Known[] {
  const filesOf = (table: TableName): readonly LakeFile[] =>
    tables[table].filter(({ partition }) => layoutOf(table).isLayered === true || partition === as_of);
  return states.flatMap((state) => filesOf(tableOf[state]).map((file) => ({ state, file })));
}

/** The places of all listings of a VIN, or of the listing of an id (32 hex digits, or as a UUID): rows of `Place`. */
export function placesOf(manifest: Manifest, folder: string, by: "vin" | "id", wanted: string): Sql {
  const files = [
    ...filesIn(manifest.tables, by === "vin" ? "live_by_vin" : "live_by_id", manifest.as_of),
    ...manifest.tables[by === "vin" ? "past_by_vin" : "past_by_id"],
  ].filter((file) => (by === "vin" ? mayHold(file, wanted, (bound) => bound) : mayHold(file, startOf(wanted), BigInt)));
  if (files.length === 0) return sql`SELECT NULL::VARCHAR AS id WHERE false`;
  const isIt =
    by === "vin" ? sql`vin = ${wanted}` : sql`id_start = ${startOf(wanted)} AND id = ${wanted.replaceAll("-", "")}`;
  return sql`SELECT id, state, "partition", make, model, "year"
    FROM (${rowsOfFiles(by === "vin" ? "live_by_vin" : "live_by_id", files, folder)}) WHERE ${isIt}`;
}

/** A row of `placesOf`, checked. */
export function readPlace(row: Row): Place {
  const { make, model, year } = row;
  return {
    id: textIn(row, "id"),
    state: stateIn(row),
    partition: textIn(row, "partition"),
    make: typeof make === "string" ? make : null,
    model: typeof model === "string" ? model : null,
    year: typeof year === "number" ? year : null,
  };
}

function stateIn(row: Row): ListingState {
  const state = textIn(row, "state");
  if (Object.hasOwn(tableOf, state)) return state as ListingState;
  throw new TypeError(`No listing is ${state}.`);
}

/** The first 60 bits of an id, by which it is sorted. */
const startOf = (id: string): bigint => BigInt(`0x${id.replaceAll("-", "").slice(0, 15)}`);

/** Rows with that start of their `id`, as look-ups by id are sorted. */
export const withIdStart = (rows: Sql): Sql => sql`SELECT *, ('0x' || left(id, 15))::BIGINT AS id_start FROM (${rows})`;

/** Whether a value lies between the least and the greatest of a file. */
const mayHold = <T extends string | bigint>({ min, max }: LakeFile, value: T, read: (bound: string) => T): boolean =>
  min === null || max === null || (read(min) <= value && value <= read(max));

/** What is read of the listing at a place, as a row. */
export function rowAt({ tables }: Manifest, folder: string, place: Place, names: readonly Reading[]): Sql {
  const { make, state, partition } = place;
  const files = filesIn(tables, tableOf[state], partition).filter(
    (file) => make === null || mayHold(file, make, (bound) => bound),
  );
  const leading = (["make", "model", "year"] as const).map((column) => {
    const value = place[column];
    return value === null ? sql`${name(column)} IS NULL` : sql`${name(column)} = ${value}`;
  });
  return sql`SELECT ${readOf(names)} FROM (${positioned(files, folder)}) AS facts
    WHERE ${join(leading, sql` AND `)} AND facts.id = ${place.id}`;
}
