/**
 * Serving files: the search indexes and the row store of a version, which the publisher builds from Parquet files and lists in the manifest.
 *
 * This module decides which serving files a version needs, and which listed ones this release can read. It never builds or opens one.
 */
import type { Manifest, ServingFile } from "../../lake/manifest.ts";
import { searchIndexFormat } from "../index/index-file.ts";
import { type IndexedRows, indexedRows } from "../index/indexed-rows.ts";
import { type ListingFile, listingFiles, sourceOf } from "../listing-files.ts";
import { rowFileFormat } from "../rows/row-file.ts";

/** The format of each kind that this release reads and writes. */
export const servingFormats: Readonly<Record<ServingFile["kind"], string>> = {
  index: searchIndexFormat,
  rows: rowFileFormat,
};

/** A serving file that a version needs: a search index, or the rows of a Parquet file. `source` is the content hash of its input. */
export type NeededFile =
  | { readonly kind: "index"; readonly source: string; readonly of: IndexedRows }
  | { readonly kind: "rows"; readonly source: string; readonly of: ListingFile };

/** Returns every serving file that a version needs: the search index of today first. */
export const neededFiles = (manifest: Manifest): readonly NeededFile[] => [
  ...indexedRows(manifest).map((of) => ({ kind: "index" as const, source: of.source, of })),
  ...listingFiles(manifest).map((of) => ({ kind: "rows" as const, source: sourceOf(of), of })),
];

/** Returns the listed files that the version needs and that this release can read. */
export function usableFiles(manifest: Manifest): readonly ServingFile[] {
  const needed = new Set(neededFiles(manifest).map(({ kind, source }) => `${kind} ${source}`));
  return manifest.serving.filter(
    ({ kind, source, format }) => format === servingFormats[kind] && needed.has(`${kind} ${source}`),
  );
}
