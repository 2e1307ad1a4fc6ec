/**
 * Row store of a version: reads whole listings in any state by position, id or VIN.
 *
 * It consists of one row file per Parquet file of listings.
 */
import type { Row } from "../../base/json.ts";
import type { JsonRow } from "../../lake/json-row.ts";
import type { LakeFile } from "../../lake/manifest.ts";
import { listingRow, type ServedColumn } from "../../lake/served-columns.ts";
import type { FoundListing, ListingFile } from "../listing-files.ts";
import { RowFile } from "./row-file.ts";

/** A row file and the Parquet file that it was built from. */
export interface StoredFile {
  readonly path: string;
  /** Content hash of what it was built from. */
  readonly source: string;
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
      for (const { file, source } of listingFiles)
        rowFiles.set(file.path, new RowFile(paths.get(source) ?? file.path, file.rows));
      return store;
    } catch (thrown) {
      store.close();
      throw thrown;
    }
  }

  /** Returns the rows at positions of the concatenated files; undefined if a row file is not in the store. Throws if a row is damaged. */
  rowsAt(files: readonly LakeFile[], positions: readonly number[]): readonly JsonRow[] | undefined {
    const rows: JsonRow[] = [];
    for (const position of positions) {
      const row = this.rowAt(files, position);
      if (row === undefined) return undefined;
      rows.push(row);
    }
    return rows;
  }

  /** Returns the listings with an id (32 hexadecimal digits) or a VIN, in any state. Throws if a row is damaged. */
  find(key: "id" | "vin", value: string, columns: readonly ServedColumn[]): readonly FoundListing[] {
    return this.listingFiles.flatMap(({ state, file }) =>
      (this.rowFiles.get(file.path)?.find(key, value) ?? []).map((row) => ({ state, row: decode(row, columns) })),
    );
  }

  close(): void {
    for (const file of this.rowFiles.values()) file.close();
  }

  private rowAt(files: readonly LakeFile[], position: number): JsonRow | undefined {
    let start = 0;
    for (const file of files) {
      if (position < start + file.rows) return this.rowFiles.get(file.path)?.rowAt(position - start);
      start += file.rows;
    }
    return undefined;
  }
}

const decode = (row: JsonRow, columns: readonly ServedColumn[]): Row => listingRow.decode(row, columns);
