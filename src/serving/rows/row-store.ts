/**
 * Row store of a version: reads whole listings in any state by position, id or VIN, and those of a past day by id.
 *
 * It consists of one row file per Parquet file of listings.
 */
import type { JsonRow } from "../../lake/json-row.ts";
import type { LakeFile } from "../../lake/manifest.ts";
import type { RowKey } from "../../listing/source.ts";
import type { ListingFile, ListingState } from "../listing-files.ts";
import { RowFile } from "./row-file.ts";

/** A listing found by a look-up. */
export interface StoredListing {
  readonly state: ListingState;
  readonly row: JsonRow;
}

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
