/**
 * The rows of one Parquet file of listings, whole and one by one: a page or a look-up finds in microseconds what the engine would put
 * together from thirty columns. A file of rows never changes, as the one that it is made from.
 */
import { createHash } from "node:crypto";
import { Failure } from "../base/failure.ts";
import { integerIn, type Row, textIn } from "../base/json.ts";
import { type Sql, sql, type } from "../base/sql.ts";
import { Database, type Question } from "../base/sqlite.ts";
import { engineVersion, type Session } from "./duckdb.ts";
import { rowsOfFiles } from "./file-rows.ts";
import { KeyFilter } from "./key-filter.ts";
import type { Lines } from "./lines.ts";
import { listingLines } from "./readings.ts";

const tables = [
  sql`CREATE TABLE rows (place INTEGER PRIMARY KEY, id BLOB, vin TEXT, row TEXT)`,
  sql`CREATE TABLE filters (ids TEXT, vins TEXT)`,
] as const;
const indexes = [sql`CREATE INDEX by_id ON rows (id)`, sql`CREATE INDEX by_vin ON rows (vin)`] as const;

/** What a file is asked. */
const questions = {
  place: sql`SELECT row FROM rows WHERE place = ?`,
  id: sql`SELECT row FROM rows WHERE id = unhex(?)`,
  vin: sql`SELECT row FROM rows WHERE vin = ?`,
} as const;

/** Tells the files of this engine and this layout from all others. */
export const rowFormat: string = createHash("sha256")
  .update([engineVersion, ...[...tables, ...indexes, listingLines.text].map(({ text }) => text)].join("\n"))
  .digest("hex")
  .slice(0, 8);

/** So many rows are read at once: a row group of a Parquet file. */
const rowsAtOnce = 32_768;

/** What a file of rows is made from. */
export interface RowSource {
  /** A Parquet file of listings. */
  readonly path: string;
  readonly rows: number;
}

/**
 * Makes a file where there is none, and gives whether it is whole, which the file tells too: it is not when it was told to stop. Fails
 * when the source does not have its rows.
 */
export async function makeRowFile(
  session: Session,
  source: RowSource,
  path: string,
  isStopped: () => boolean,
): Promise<boolean> {
  const file = Database.make(path);
  const [ids, vins] = [KeyFilter.of(source.rows), KeyFilter.of(source.rows)];
  let made = 0;
  try {
    for (const table of tables) file.run(table);
    for (let from = 0; from < source.rows; from += rowsAtOnce) {
      const rows = await session.rows(rowsOf(source, from));
      if (isStopped()) return false;
      file.transaction(() => {
        for (const row of rows) {
          file.run(insertion(row));
          ids.add(textIn(row, "id"));
          vins.add(textIn(row, "vin"));
        }
      });
      made += rows.length;
    }
    for (const index of indexes) file.run(index);
    file.run(sql`INSERT INTO filters VALUES (${ids.toString()}, ${vins.toString()})`);
    file.run(sql`PRAGMA user_version = ${type(String(made))}`);
  } finally {
    file.close();
  }
  if (made !== source.rows) throw new Failure(`${source.path}: has ${made} rows, not ${source.rows}.`);
  return true;
}

const insertion = (row: Row): Sql => sql`
  INSERT INTO rows VALUES (${integerIn(row, "place")}, unhex(${textIn(row, "id")}), ${textIn(row, "vin")}, ${textIn(row, "row")})`;

const rowsOf = ({ path }: RowSource, from: number): Sql => sql`
  SELECT file_row_number::INTEGER AS place, id, vin, ${listingLines.text} AS row
  FROM   (${rowsOfFiles("snapshots", [{ path }], "", "file_row_number")}) AS facts
  WHERE  file_row_number >= ${from} AND file_row_number < ${from + rowsAtOnce}`;

/** A file of rows, open to be read. */
export class RowFile {
  private readonly database: Database;
  private readonly ask: Readonly<Record<keyof typeof questions, Question>>;
  private readonly filters: Readonly<Record<"id" | "vin", KeyFilter>>;

  /** Opens a file; fails when it does not have so many rows. */
  constructor(path: string, rows: number) {
    this.database = Database.openUnchanging(path);
    try {
      const { user_version: whole } = this.database.one(sql`SELECT user_version FROM pragma_user_version`) ?? {};
      if (whole !== rows) throw new Failure(`${path}: has ${String(whole)} rows, not ${rows}.`);
      const filters = this.database.one(sql`SELECT ids, vins FROM filters`);
      const { place, id, vin } = questions;
      this.ask = {
        place: this.database.asking(place),
        id: this.database.asking(id),
        vin: this.database.asking(vin),
      };
      this.filters = { id: KeyFilter.read(textIn(filters, "ids")), vin: KeyFilter.read(textIn(filters, "vins")) };
    } catch (thrown) {
      this.database.close();
      throw thrown;
    }
  }

  /** The listing at a place, counted from 0. */
  at(place: number): Lines | undefined {
    const row = this.ask.place.first(place);
    return row === undefined ? undefined : listingLines.linesIn(row);
  }

  /** The listings of an id (32 hex digits) or a VIN. */
  by(what: "id" | "vin", wanted: string): readonly Lines[] {
    return this.filters[what].mayHold(wanted) ? this.ask[what].all(wanted).map((row) => listingLines.linesIn(row)) : [];
  }

  close(): void {
    this.database.close();
  }
}
