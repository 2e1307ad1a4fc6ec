/**
 * Row store: a row file for each Parquet file of listings, an immutable SQLite file for point reads of its rows by number, id or VIN. It has no columns
 * that follow from the day on which a row is read (see `DayColumns`).
 *
 * A point read takes microseconds. DuckDB would assemble the row from thirty columns.
 *
 * A row has id and VIN in plain form, and the other columns as pieces of JSON, LZ4-compressed with the file's dictionary: a third of the bytes.
 * Decompressing 50 rows takes 0.1 ms; 50 calls of inflate take 1 ms.
 *
 * Checksums cover each row with its position, and the dictionary. The tree of the file has none: damage there shows as a
 * missing or a wrong row, or hides a row from `find`, which is why the whole file is hashed too.
 */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import lz4 from "lz4-napi";
import { prefetch } from "../../base/concurrency.ts";
import { integerIn, textIn } from "../../base/json.ts";
import { DamagedFile } from "../../base/user-error.ts";
import { engineVersion, type Session } from "../../db/duckdb.ts";
import { integerLiteral, sql } from "../../db/sql.ts";
import { type PreparedQuery, SqliteDatabase } from "../../db/sqlite.ts";
import type { JsonRow } from "../../lake/json-row.ts";
import type { LakeFile } from "../../lake/manifest.ts";
import { storedRows, valuesOfFile } from "../../lake/market.ts";
import { listingRow } from "../../lake/served-columns.ts";
import type { RowKey } from "../../listing/source.ts";
import type { ListingFile, ListingState } from "../listing-files.ts";

/** The compressed pieces: all but that of id and VIN, which is the first one of `listingRow`. */
const packedPieces = listingRow.pieces.slice(1);

const tables = [
  sql`CREATE TABLE rows (position INTEGER PRIMARY KEY, checksum BLOB, id BLOB, vin TEXT, packed BLOB)`,
  sql`CREATE TABLE file (dictionary BLOB, checksum INTEGER)`,
] as const;
const indexes = [sql`CREATE INDEX by_id ON rows (id)`, sql`CREATE INDEX by_vin ON rows (vin)`] as const;
const insertions = {
  row: sql`INSERT INTO rows VALUES (?, ?, ?, ?, ?)`,
  file: sql`INSERT INTO file VALUES (?, ?)`,
} as const;
/** A row as its bytes: checksum, id, VIN, a zero, and the compressed pieces. The driver takes longer to return several values than SQLite takes to join them. */
const stored = sql`CAST(checksum || rows.id || rows.vin || x'00' || packed AS BLOB)`;
const queries = {
  // One call for fifty rows takes a third of the time of fifty calls. A row is returned for each position, in their order.
  position: sql`SELECT ${stored} FROM json_each(?) AS wanted LEFT JOIN rows ON position = wanted.value`,
  id: sql`SELECT ${stored}, position FROM json_each(?) AS wanted JOIN rows ON rows.id = unhex(wanted.value)`,
  vin: sql`SELECT ${stored}, position FROM json_each(?) AS wanted JOIN rows ON rows.vin = wanted.value`,
} as const;

/** The values that SQLite compares as a whole. */
const valuePatterns = { id: /^[0-9a-f]{32}$/, vin: /^[^\0]*$/ } as const;

/** Fingerprint of the file layout; the server ignores files with another one. */
export const rowFileFormat: string = createHash("sha256")
  .update([...tables, ...indexes, listingRow.selectText()].map(({ text }) => text).join("\n"))
  .update(`${engineVersion} lz4 crc32 intervals`)
  .digest("hex")
  .slice(0, 8);

/** Number of rows that are read and inserted at a time. */
const batchRows = 16_384;
/** Every n-th row of the first batch goes into the compression dictionary. */
const sampleEvery = 97;

/** A Parquet file of listings, and the lake folder that its path is relative to. */
export interface RowSource extends ListingFile {
  readonly folder: string;
}

/**
 * Builds a row file at a path that does not exist yet. `onRows` is called with the number of rows of each batch that is written. Throws if the source has fewer
 * rows than in the manifest.
 */
export async function buildRowFile(
  session: Session,
  source: RowSource,
  path: string,
  onRows: (rows: number) => void = () => {},
): Promise<void> {
  const file = SqliteDatabase.createUnsynced(path);
  let rowCount = 0;
  try {
    for (const table of tables) file.run(table);
    const insertRow = file.prepareRun(insertions.row);
    let dictionary: Buffer = Buffer.alloc(0);
    for await (const batch of prefetch(batchesOf(session, source))) {
      if (rowCount === 0)
        dictionary = dictionaryOf(batch.flatMap(({ text }, n) => (n % sampleEvery === 0 ? text : [])));
      file.transaction(() => {
        for (const row of batch) {
          const { id, packed, checksum } = packRow(row, dictionary);
          insertRow(row.position, checksum, id, row.vin, packed);
        }
      });
      rowCount += batch.length;
      onRows(batch.length);
    }
    for (const index of indexes) file.run(index);
    file.prepareRun(insertions.file)(dictionary, crc32(dictionary));
    // Marks the file as complete.
    file.run(sql`PRAGMA user_version = ${integerLiteral(rowCount)}`);
  } finally {
    file.close();
  }
  if (rowCount !== source.file.rows) throw wrongRowCount(source.file.path, rowCount, source.file.rows);
}

const wrongRowCount = (path: string, found: number, expected: number): Error =>
  new DamagedFile(`Invalid number of rows in ${path}: expected ${expected}, found ${found}.`);

/** Reads the rows of a source in file order, in batches. */
export async function* batchesOf(
  session: Session,
  { state, file, valuations, folder }: RowSource,
): AsyncGenerator<readonly TextRow[], void, undefined> {
  if (valuations.length > 0) await session.createTempTable("values_of_file", valuesOfFile(file, valuations, folder));
  const rows = storedRows(
    state === "active" || state === "past" ? "listings" : "sold",
    file,
    folder,
    valuations.length > 0 ? sql`values_of_file` : undefined,
  );
  const days = sql`concat(coalesce(valid_from::VARCHAR, ''), chr(10), coalesce(valid_to::VARCHAR, ''))`;
  for (let from = 0; from < file.rows; from += batchRows) {
    const batch = await session.rows(sql`
      SELECT facts.id, facts.vin, concat(${listingRow.selectText(packedPieces)}, chr(10), ${days}) AS text
      FROM   (${rows}) AS facts
      WHERE  row_number >= ${from} AND row_number < ${from + batchRows} ORDER BY row_number`);
    yield batch.map((row, index) => ({
      position: from + index,
      id: textIn(row, "id"),
      vin: textIn(row, "vin"),
      text: textIn(row, "text"),
    }));
  }
}

/** An open row file. */
export class RowFile {
  private readonly database: SqliteDatabase;
  private readonly queries: Readonly<Record<keyof typeof queries, PreparedQuery>>;
  private readonly dictionary: Buffer;

  /** Opens a row file. Throws a DamagedFile if it is incomplete, if its dictionary is damaged, or if it has another number of rows. */
  constructor(
    path: string,
    private readonly rowCount: number,
  ) {
    this.database = SqliteDatabase.openUnchanging(path);
    try {
      const version = this.database.one(sql`SELECT user_version FROM pragma_user_version`);
      const rows = integerIn(version, "user_version");
      if (rows !== rowCount) throw wrongRowCount(path, rows, rowCount);
      const [dictionary, checksum] =
        this.database.prepare(sql`SELECT dictionary, checksum FROM file LIMIT ?`)(1)[0] ?? [];
      if (!(dictionary instanceof Uint8Array))
        throw new DamagedFile(`Invalid row file ${path}: expected a dictionary.`);
      this.dictionary = Buffer.from(dictionary);
      if (crc32(this.dictionary) !== checksum)
        throw new DamagedFile(`Invalid row file ${path}: expected a dictionary that matches its checksum.`);
      const { position, id, vin } = queries;
      this.queries = {
        position: this.database.prepare(position),
        id: this.database.prepare(id),
        vin: this.database.prepare(vin),
      };
    } catch (thrown) {
      this.database.close();
      throw thrown;
    }
  }

  /** Returns the rows with some numbers, counted from 0. Throws a DamagedFile if one is damaged, and a RangeError for a number that no row has. */
  rowsAt(numbers: readonly number[]): readonly UnpackedRow[] {
    const found = this.queries.position(JSON.stringify(numbers));
    return numbers.map((number, index) => {
      const [stored = null] = found[index] ?? [];
      if (stored === null) throw this.absentRow(number);
      return unpackRow(stored, number, this.dictionary);
    });
  }

  /** Returns the rows with ids (32 hexadecimal digits) or VINs; none for a value that is neither. Throws a DamagedFile if a row is damaged. */
  find(key: "id" | "vin", values: readonly string[]): readonly UnpackedRow[] {
    const known = new Set(values.filter((value) => valuePatterns[key].test(value)));
    return this.queries[key](JSON.stringify([...known])).map(([stored, position]) => {
      const row = unpackRow(stored, position, this.dictionary);
      if (!known.has(row[key]))
        throw new DamagedFile(`Invalid ${key} ${row[key]} in a row file: expected another one.`);
      return row;
    });
  }

  close(): void {
    this.database.close();
  }

  private absentRow(number: number): Error {
    const expected = `Unknown row ${number} of a row file: expected one of its ${this.rowCount} rows.`;
    const isRow = Number.isInteger(number) && number >= 0 && number < this.rowCount;
    return isRow ? new DamagedFile(expected) : new RangeError(expected);
  }
}

/** Maximum size of a dictionary. */
const dictionaryBytes = 49_152;

/** Returns a dictionary of sample rows. Matches near its end compress best. */
const dictionaryOf = (samples: readonly string[]): Buffer => Buffer.from(samples.join("\n")).subarray(-dictionaryBytes);

/** A row before it is packed. */
export interface TextRow {
  readonly position: number;
  /** 32 hexadecimal digits. */
  readonly id: string;
  readonly vin: string;
  /** The texts of `packedPieces`, each in a line, then the first day on which the row holds and the day after the last; empty if there is none. */
  readonly text: string;
}

/** A row and the days on which it holds: from `validFrom` until the day before `validTo`, or still if that is empty. */
export interface UnpackedRow {
  readonly id: string;
  readonly vin: string;
  readonly row: JsonRow;
  readonly validFrom: string;
  readonly validTo: string;
}

const checksumBytes = 4;
const idBytes = 16;

/** Returns the columns of a row. */
function packRow({ position, id: idText, vin, text }: TextRow, dictionary: Buffer) {
  const id = Buffer.from(idText, "hex");
  const packed = lz4.compressSync(Buffer.from(text), dictionary);
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32LE(checksumOf(Buffer.concat([id, Buffer.from(`${vin}\0`), packed]), position));
  return { id, packed, checksum };
}

/** Unpacks a row of `stored`. Throws a DamagedFile if the checksum does not match. */
function unpackRow(stored: unknown, position: unknown, dictionary: Buffer): UnpackedRow {
  if (!(stored instanceof Uint8Array) || typeof position !== "number")
    throw new DamagedFile("Invalid row of a row file: expected its bytes and its position.");
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const vinEnd = bytes.indexOf(0, checksumBytes + idBytes);
  const id = bytes.toString("hex", checksumBytes, checksumBytes + idBytes);
  const vin = bytes.toString("utf8", checksumBytes + idBytes, vinEnd);
  const checksum = checksumOf(bytes.subarray(checksumBytes), position);
  const expected = bytes.readUInt32LE();
  if (vinEnd < 0 || checksum !== expected)
    throw new DamagedFile(`Invalid checksum ${checksum} of the row of VIN ${vin}: expected ${expected}.`);
  const pieces = lz4
    .uncompressSync(bytes.subarray(vinEnd + 1), dictionary)
    .toString("utf8")
    .split("\n");
  const [validFrom = "", validTo = ""] = pieces.splice(-2);
  return { id, vin, row: listingRow.checked([keyPiece(id, vin), ...pieces]), validFrom, validTo };
}

/** Returns the first piece of `listingRow`. */
export const keyPiece = (id: string, vin: string): string => `"id":"${id}","vin":"${vin}"`;

/** The position is the initial value of the CRC, so that a row which is found in another position has another checksum. */
const checksumOf = (bytes: Uint8Array, position: number): number => crc32(bytes, position);

/** A listing found by a look-up. */
export interface StoredListing {
  readonly state: ListingState;
  readonly row: JsonRow;
}

/** Row store of a version: the row files of its listings in any state, and of past days. */
export class RowStore {
  private constructor(
    private readonly listingFiles: readonly ListingFile[],
    /** Row files by the path of the Parquet file. */
    private readonly rowFiles: ReadonlyMap<string, RowFile>,
  ) {}

  /** Opens the row file of each listing file. Throws if one is missing, damaged, or has the wrong number of rows. */
  static open(listingFiles: readonly ListingFile[], paths: readonly string[]): RowStore {
    const rowFiles = new Map<string, RowFile>();
    const store = new RowStore(listingFiles, rowFiles);
    try {
      for (const [index, { file }] of listingFiles.entries())
        rowFiles.set(file.path, new RowFile(paths[index] ?? "", file.rows));
      return store;
    } catch (thrown) {
      store.close();
      throw thrown;
    }
  }

  /** Returns the rows with keys in the concatenated files: row numbers, or ids of listings of a day. Throws a DamagedFile if a row is damaged. */
  rowsAt(files: readonly LakeFile[], keys: readonly RowKey[], day: string | undefined): readonly JsonRow[] {
    const rows = typeof keys[0] === "number" ? this.rowsAtPositions(files, keys) : this.rowsOn(files, keys, day ?? "");
    return keys.map((key) => {
      const row = rows.get(key);
      if (row === undefined) throw new TypeError(`Unknown row ${key}: expected one of the inventory.`);
      return row;
    });
  }

  /** Returns the listings with an id (32 hexadecimal digits) or a VIN, in any state. Throws a DamagedFile if a row is damaged. */
  find(key: "id" | "vin", value: string): readonly StoredListing[] {
    return this.listingFiles.flatMap(({ state, file }) =>
      state === "past"
        ? []
        : this.rowFileOf(file)
            .find(key, [value])
            .map(({ row }) => ({ state, row })),
    );
  }

  close(): void {
    for (const file of this.rowFiles.values()) file.close();
  }

  private rowFileOf({ path }: LakeFile): RowFile {
    const file = this.rowFiles.get(path);
    if (file === undefined) throw new TypeError(`Unknown file ${path}: expected listings of this version.`);
    return file;
  }

  private rowsAtPositions(files: readonly LakeFile[], keys: readonly RowKey[]): ReadonlyMap<RowKey, JsonRow> {
    const rows = new Map<RowKey, JsonRow>();
    let start = 0;
    for (const file of files) {
      const end = start + file.rows;
      const here = keys.map(Number).filter((position) => position >= start && position < end);
      if (here.length > 0) {
        const found = this.rowFileOf(file).rowsAt(here.map((position) => position - start));
        for (const [index, { row }] of found.entries()) rows.set(here[index] ?? start, row);
      }
      start = end;
    }
    return rows;
  }

  /** Returns the rows of listings that hold on a day, by id. */
  private rowsOn(files: readonly LakeFile[], keys: readonly RowKey[], day: string): ReadonlyMap<RowKey, JsonRow> {
    const rows = new Map<RowKey, JsonRow>();
    for (const file of files) {
      const missing = keys.filter((key) => !rows.has(key)).map(String);
      if (missing.length === 0) break;
      for (const { id, row, validFrom, validTo } of this.rowFileOf(file).find("id", missing))
        if (validFrom <= day && (validTo === "" || validTo > day)) rows.set(id, row);
    }
    return rows;
  }
}
