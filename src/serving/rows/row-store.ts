/**
 * Row store of a version: reads whole listings in any state by position, id or VIN, and those of a past day by id.
 *
 * It consists of one row file per Parquet file of listings.
 */
import type { JsonRow } from "../../lake/json-row.ts";
import type { LakeFile } from "../../lake/manifest.ts";
import type { RowKey } from "../../listing/source.ts";
import { type ListingFile, type ListingState, sourceOf } from "../listing-files.ts";
import { RowFile } from "./row-file.ts";

/** A row file and the Parquet file that it was built from. */
interface StoredFile {
  readonly path: string;
  /** Content hash of its input. */
  readonly source: string;
}

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
  static open(listingFiles: readonly ListingFile[], stored: readonly StoredFile[]): RowStore {
    const rowFiles = new Map<string, RowFile>();
    const store = new RowStore(listingFiles, rowFiles);
    try {
      const paths = new Map(stored.map(({ source, path }) => [source, path]));
      for (const of of listingFiles)
        rowFiles.set(of.file.path, new RowFile(paths.get(sourceOf(of)) ?? of.file.path, of.file.rows));
      return store;
    } catch (thrown) {
      store.close();
      throw thrown;
    }
  }

  /**
   * Returns the rows with keys in the concatenated files: row numbers, or ids of listings of a day. Undefined if a row file is not in the
   * store, or a listing not in its files. Throws a DamagedFile if a row is damaged.
   */
  rowsAt(files: readonly LakeFile[], keys: readonly RowKey[], day: string | undefined): readonly JsonRow[] | undefined {
    if (!files.every(({ path }) => this.rowFiles.has(path))) return undefined;
    const positions = keys.filter((key) => typeof key === "number");
    if (positions.length === keys.length) return this.rowsAtPositions(files, positions);
    const rows = keys.map((id) => this.rowOn(files, String(id), day ?? "")).filter((row) => row !== undefined);
    return rows.length === keys.length ? rows : undefined;
  }

  /** Returns the listings with an id (32 hexadecimal digits) or a VIN, in any state. Throws a DamagedFile if a row is damaged. */
  find(key: "id" | "vin", value: string): readonly StoredListing[] {
    return this.listingFiles.flatMap(({ state, file }) =>
      state === "past" ? [] : (this.rowFiles.get(file.path)?.find(key, value) ?? []).map(({ row }) => ({ state, row })),
    );
  }

  close(): void {
    for (const file of this.rowFiles.values()) file.close();
  }

  private rowsAtPositions(files: readonly LakeFile[], positions: readonly number[]): readonly JsonRow[] | undefined {
    const rows = new Map<number, JsonRow>();
    let start = 0;
    for (const { path, rows: count } of files) {
      const end = start + count;
      const here = positions.filter((position) => position >= start && position < end);
      if (here.length > 0) {
        const found = this.rowFiles.get(path)?.rowsAt(here.map((position) => position - start));
        if (found === undefined) return undefined;
        for (const [index, { row }] of found.entries()) rows.set(here[index] ?? start, row);
      }
      start = end;
    }
    const found = positions.map((position) => rows.get(position)).filter((row) => row !== undefined);
    return found.length === positions.length ? found : undefined;
  }

  /** Returns the row of a listing that holds on a day; undefined if there is none. */
  private rowOn(files: readonly LakeFile[], id: string, day: string): JsonRow | undefined {
    for (const { path } of files) {
      const found = this.rowFiles
        .get(path)
        ?.find("id", id)
        .find(({ validFrom, validTo }) => validFrom <= day && (validTo === "" || validTo > day));
      if (found !== undefined) return found.row;
    }
    return undefined;
  }
}
