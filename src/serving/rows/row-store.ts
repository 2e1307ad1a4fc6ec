/**
 * The row store of a version: every listing, active, missing, sold or ended, by its place, its id or its VIN, in a row file for each
 * Parquet file.
 */
import type { Row } from "../../base/json.ts";
import type { JsonRow } from "../../lake/json-row.ts";
import type { LakeFile } from "../../lake/manifest.ts";
import { listingRow, type ServedColumn } from "../../lake/served-columns.ts";
import type { FoundListing, ListingFile } from "../listing-files.ts";
import { RowFile } from "./row-file.ts";

/** A row file, and the Parquet file that it is built from. */
export interface StoredFile {
  readonly path: string;
  /** The SHA-256 of the Parquet file. */
  readonly source: string;
}

export class RowStore {
  private constructor(
    private readonly listings: readonly ListingFile[],
    private readonly files: ReadonlyMap<string, RowFile>,
  ) {}

  /** Opens the row files of a version's listings; fails if one is missing, damaged, or not of its Parquet file. */
  static open(listings: readonly ListingFile[], stored: readonly StoredFile[]): RowStore {
    const files = new Map<string, RowFile>();
    const store = new RowStore(listings, files);
    try {
      const paths = new Map(stored.map(({ source, path }) => [source, path]));
      for (const { file } of listings)
        files.set(file.sha256, new RowFile(paths.get(file.sha256) ?? file.path, file.rows));
      return store;
    } catch (thrown) {
      store.close();
      throw thrown;
    }
  }

  /** The listings at some positions of some files in a row; undefined if one of the files is not in the store. */
  at(files: readonly LakeFile[], positions: readonly number[]): readonly JsonRow[] | undefined {
    const rows: JsonRow[] = [];
    for (const position of positions) {
      const row = this.rowAt(files, position);
      if (row === undefined) return undefined;
      rows.push(row);
    }
    return rows;
  }

  /** The listings of an id (32 hex digits) or of a VIN, in whatever state. */
  by(key: "id" | "vin", wanted: string, names: readonly ServedColumn[]): readonly FoundListing[] {
    return this.listings.flatMap(({ state, file }) =>
      (this.files.get(file.sha256)?.by(key, wanted) ?? []).map((row) => ({ state, row: decoded(row, names) })),
    );
  }

  close(): void {
    for (const file of this.files.values()) file.close();
  }

  private rowAt(files: readonly LakeFile[], position: number): JsonRow | undefined {
    let start = 0;
    for (const file of files) {
      if (position < start + file.rows) return this.files.get(file.sha256)?.at(position - start);
      start += file.rows;
    }
    return undefined;
  }
}

const decoded = (row: JsonRow, names: readonly ServedColumn[]): Row => listingRow.decode(row, names);
