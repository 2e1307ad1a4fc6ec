/**
 * The rows of one Parquet file of listings, one by one: a page or a look-up finds in microseconds what the engine puts together from thirty
 * columns. A row file never changes, like the file that it is built from.
 */
import { createHash } from "node:crypto";
import { integerIn, textIn } from "../../base/json.ts";
import { prefetch } from "../../base/prefetch.ts";
import { UserError } from "../../base/user-error.ts";
import { engineVersion, type Session } from "../../db/duckdb.ts";
import { integerLiteral, sql } from "../../db/sql.ts";
import { type PreparedQuery, SqliteDatabase } from "../../db/sqlite.ts";
import { rowsOfFiles } from "../../lake/file-rows.ts";
import type { JsonRow } from "../../lake/json-row.ts";
import type { LakeFile } from "../../lake/manifest.ts";
import { listingRow } from "../../lake/served-columns.ts";
import { BloomFilter } from "./bloom-filter.ts";
import { dictionaryOf, packedColumns, packRow, type StoredRow, unpackRow } from "./row-format.ts";

const tables = [
  sql`CREATE TABLE rows (place INTEGER PRIMARY KEY, id BLOB, vin TEXT, packed BLOB, checksum INTEGER)`,
  sql`CREATE TABLE file (dictionary BLOB, ids TEXT, vins TEXT)`,
] as const;
const indexes = [sql`CREATE INDEX by_id ON rows (id)`, sql`CREATE INDEX by_vin ON rows (vin)`] as const;
const insertions = {
  row: sql`INSERT INTO rows VALUES (?, ?, ?, ?, ?)`,
  file: sql`INSERT INTO file VALUES (?, ?, ?)`,
} as const;
const queries = {
  place: sql`SELECT id, vin, packed, checksum FROM rows WHERE place = ?`,
  id: sql`SELECT id, vin, packed, checksum FROM rows WHERE id = ?`,
  vin: sql`SELECT id, vin, packed, checksum FROM rows WHERE vin = ?`,
} as const;

/** Names this layout, so that a file of another one is not read. */
export const rowFileFormat: string = createHash("sha256")
  .update([...tables, ...indexes, listingRow.selectText()].map(({ text }) => text).join("\n"))
  .update(`${engineVersion} ${BloomFilter.format} lz4`)
  .digest("hex")
  .slice(0, 8);

/** So many rows are read at a time. */
const rowsAtOnce = 16_384;
/** One in so many of the first rows is a sample for the dictionary. */
const sampleEvery = 97;

/** A Parquet file of listings, its path relative to a lake's folder. */
export interface RowSource {
  readonly file: Pick<LakeFile, "path" | "rows" | "schema">;
  readonly folder: string;
}

/** Builds a row file where there is none; `onRows` is called with the number of rows so far. Fails if the source lacks rows. */
export async function buildRowFile(
  session: Session,
  source: RowSource,
  path: string,
  onRows: (rows: number) => void = () => {},
): Promise<void> {
  const file = SqliteDatabase.make(path);
  const [ids, vins] = [BloomFilter.of(source.file.rows), BloomFilter.of(source.file.rows)];
  let dictionary: Buffer | undefined;
  let place = 0;
  try {
    for (const table of tables) file.run(table);
    const insert = file.prepareRun(insertions.row);
    for await (const rows of prefetch(rowsOf(session, source))) {
      dictionary ??= dictionaryOf(rows.flatMap(({ text }, at) => (at % sampleEvery === 0 ? [text] : [])));
      const packedWith = dictionary;
      file.transaction(() => {
        for (const { id, vin, text } of rows) {
          const { id: bytes, packed, checksum } = packRow(id, vin, text, packedWith);
          insert(place, bytes, vin, packed, checksum);
          ids.add(id);
          vins.add(vin);
          place += 1;
        }
      });
      onRows(place);
    }
    for (const index of indexes) file.run(index);
    file.prepareRun(insertions.file)(dictionary ?? Buffer.alloc(0), ids.toString(), vins.toString());
    file.run(sql`PRAGMA user_version = ${integerLiteral(place)}`);
  } finally {
    file.close();
  }
  if (place !== source.file.rows)
    throw new UserError(`${source.file.path}: has ${place} rows, expected ${source.file.rows}.`);
}

interface TextRow {
  readonly id: string;
  readonly vin: string;
  /** The lines of all other columns. */
  readonly text: string;
}

/** The rows of a source in its order, some at a time. */
async function* rowsOf(
  session: Session,
  { file, folder }: RowSource,
): AsyncGenerator<readonly TextRow[], void, undefined> {
  for (let from = 0; from < file.rows; from += rowsAtOnce) {
    const found = await session.rows(sql`
      SELECT facts.id, facts.vin, ${listingRow.selectText(packedColumns)} AS text
      FROM   (${rowsOfFiles("snapshots", [file], folder, "file_row_number")}) AS facts
      WHERE  file_row_number >= ${from} AND file_row_number < ${from + rowsAtOnce} ORDER BY file_row_number`);
    yield found.map((row) => ({ id: textIn(row, "id"), vin: textIn(row, "vin"), text: textIn(row, "text") }));
  }
}

/** A row file, open to be read. */
export class RowFile {
  private readonly database: SqliteDatabase;
  private readonly queries: Readonly<Record<keyof typeof queries, PreparedQuery>>;
  private readonly filters: Readonly<Record<"id" | "vin", BloomFilter>>;
  private readonly dictionary: Buffer;

  /** Opens a file; fails if it does not have the rows that it should. */
  constructor(path: string, rows: number) {
    this.database = SqliteDatabase.openUnchanging(path);
    try {
      const whole = integerIn(this.database.one(sql`SELECT user_version FROM pragma_user_version`), "user_version");
      if (whole !== rows) throw new UserError(`${path}: has ${whole} rows, expected ${rows}.`);
      const file = this.database.one(sql`SELECT ids, vins FROM file`);
      const [dictionary] = this.database.prepare(sql`SELECT dictionary FROM file WHERE 1 = ?`).first(1) ?? [];
      if (!Buffer.isBuffer(dictionary)) throw new UserError(`${path}: has no dictionary.`);
      this.dictionary = dictionary;
      this.filters = { id: BloomFilter.read(textIn(file, "ids")), vin: BloomFilter.read(textIn(file, "vins")) };
      const { place, id, vin } = queries;
      this.queries = {
        place: this.database.prepare(place),
        id: this.database.prepare(id),
        vin: this.database.prepare(vin),
      };
    } catch (thrown) {
      this.database.close();
      throw thrown;
    }
  }

  /** The listing at a place, counted from 0; fails if there is none, or it is damaged. */
  at(place: number): JsonRow {
    const found = this.queries.place.first(place);
    if (found === undefined) throw new UserError(`A row file has no row ${place}.`);
    return unpackRow(storedIn(found), this.dictionary);
  }

  /** The listings of an id (32 hex digits) or a VIN; fails if one is damaged. */
  by(key: "id" | "vin", wanted: string): readonly JsonRow[] {
    if (!this.filters[key].mayHold(wanted)) return [];
    const found = this.queries[key].all(key === "id" ? Buffer.from(wanted, "hex") : wanted);
    return found.map((row) => unpackRow(storedIn(row), this.dictionary));
  }

  close(): void {
    this.database.close();
  }
}

function storedIn([id, vin, packed, checksum]: readonly unknown[]): StoredRow {
  if (Buffer.isBuffer(id) && typeof vin === "string" && Buffer.isBuffer(packed) && typeof checksum === "number")
    return { id, vin, packed, checksum };
  throw new UserError("A row file holds values of other types.");
}
