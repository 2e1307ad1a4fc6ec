/**
 * Serving files: the search indexes and the row store of a version, which the publisher builds from Parquet files and lists in the manifest. Decides which a
 * version needs, and which of them this release can read.
 */
import { join } from "node:path";
import { calendarMonth } from "../../base/day.ts";
import type { LakeFile, Manifest, ServingFile } from "../../lake/manifest.ts";
import { searchIndexFormat } from "../index/build.ts";
import { filesToIndex, type IndexedRows, indexedRows } from "../index/indexed-rows.ts";
import { type ListingFile, listingFiles, sourceOf } from "../listing-files.ts";
import { rowFileFormat } from "../rows/row-store.ts";

/** What a serving file is built from: `source` is the content hash. `part` names the part of the version that it belongs to, for operators. */
interface ServingContent<Kind extends ServingFile["kind"], Of> {
  readonly kind: Kind;
  readonly part: string;
  readonly source: string;
  readonly of: Of;
}

/** A search index. */
export type NeededIndex = ServingContent<"index", IndexedRows>;

/** A serving file that a version needs: a search index, or the rows of a Parquet file in the row store. */
export type NeededFile = NeededIndex | ServingContent<"rows", ListingFile>;

export const rowStorePart = "row store";

/** Returns every serving file that a version needs: the search index of today first. */
export function neededFiles(manifest: Manifest): readonly NeededFile[] {
  const names = new Map<string, number>();
  const indexes = indexedRows(manifest).map((of): NeededIndex => {
    const name = nameOf(of);
    const number = 1 + (names.get(name) ?? 0);
    names.set(name, number);
    return { kind: "index", part: number === 1 ? name : `${name} (${number})`, source: of.source, of };
  });
  const rows = listingFiles(manifest).map(
    (of): NeededFile => ({ kind: "rows", part: rowStorePart, source: sourceOf(of), of }),
  );
  return [...indexes, ...rows];
}

/** Returns the name of an index: that of today has none of its months. */
function nameOf({ today, first, last }: IndexedRows): string {
  const from = calendarMonth(first);
  const to = calendarMonth(last);
  return today !== undefined ? "search index" : `search index of ${from}${from === to ? "" : ` to ${to}`}`;
}

/** Returns the Parquet files that a serving file is built from. */
export const inputsOf = (needed: NeededFile): readonly LakeFile[] =>
  needed.kind === "index" ? filesToIndex(needed.of) : [needed.of.file, ...needed.of.valuations];

/** The format of each kind that this release reads and writes. */
export const servingFormats: Readonly<Record<ServingFile["kind"], string>> = {
  index: searchIndexFormat,
  rows: rowFileFormat,
};

/** Identifies a serving file by what it is built from. */
export const contentKeyOf = ({ kind, source }: Pick<ServingFile, "kind" | "source">): string => `${kind} ${source}`;

/** Returns the listed files that the version needs and that this release can read. */
export function usableFiles(manifest: Manifest): readonly ServingFile[] {
  const needed = new Set(neededFiles(manifest).map(contentKeyOf));
  return manifest.serving.filter((file) => file.format === servingFormats[file.kind] && needed.has(contentKeyOf(file)));
}

/** Builds serving files of a version from its Parquet files, each at its `rebuiltPath` in a folder. */
export type Rebuild = (order: RebuildOrder) => Promise<void>;

export interface RebuildOrder {
  readonly lake: string;
  readonly manifest: Manifest;
  readonly files: readonly NeededFile[];
  readonly into: string;
}

/** Returns where a rebuilt file lies in a folder. */
export const rebuiltPath = (into: string, { kind, source }: NeededFile): string => join(into, `${kind}-${source}`);
