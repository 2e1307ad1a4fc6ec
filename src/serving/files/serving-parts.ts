/**
 * Serving files: the search indexes and the row store of a version, which the publisher builds from Parquet files and lists in the manifest. Decides which a
 * version needs, and which of them this release can read.
 */
import { join } from "node:path";
import { calendarMonth } from "../../base/day.ts";
import type { DuckDatabase } from "../../db/duckdb.ts";
import type { Engine } from "../../db/session-pool.ts";
import type { LakeFile, Manifest, ServingFile } from "../../lake/manifest.ts";
import type { ColumnCache } from "../index/columns.ts";
import { searchIndexFormat } from "../index/index-file.ts";
import { filesToIndex, type IndexedRows, indexedRows } from "../index/indexed-rows.ts";
import { type ListingFile, listingFiles, sourceOf } from "../listing-files.ts";
import { rowFileFormat } from "../rows/row-file.ts";
import type { VersionFiles } from "./version-files.ts";

export interface ServingOptions {
  readonly manifest: Manifest;
  /** The manifest of the published version. */
  readonly published: Manifest;
  readonly folder: string;
  readonly files: VersionFiles;
  readonly database: DuckDatabase;
  readonly engine: Engine;
  /** See `LakeVersionOptions.columns`. */
  readonly columns: ColumnCache;
  /** Whether to use the files of the lake; if not, all are rebuilt. */
  readonly hasServingFiles: boolean;
  /** See `LakeVersionOptions.opensAhead`. */
  readonly opensAhead: boolean;
  /** See `LakeVersionOptions.isIntact`. */
  readonly isIntact: boolean;
  readonly rebuild: Rebuild;
  /** The folder of rebuilt files, which does not exist until one is. */
  readonly rebuiltFolder: string;
  /** See `LakeVersionOptions.onRebuild`. */
  readonly onRebuild: (message: string) => void;
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

/** A serving file that a version needs, and the listed one, unless this release cannot read it. */
export interface PartFile {
  readonly needed: NeededFile;
  readonly listed: ServingFile | undefined;
}

/** A search index, or the row store. */
export interface ServingPart {
  readonly name: string;
  readonly files: readonly PartFile[];
}

/** A search index and its rows. */
export interface IndexPart extends ServingPart {
  readonly of: IndexedRows;
}

export interface ServingParts {
  /** That of today first. */
  readonly indexes: readonly IndexPart[];
  readonly rows: ServingPart;
}

/** Returns the parts that a version needs. It shares the files of the published version that were built from the same content. */
export function servingPartsOf(manifest: Manifest, published: Manifest): ServingParts {
  const listed = [...published.serving, ...manifest.serving];
  const usable = new Map(usableFiles({ ...manifest, serving: listed }).map((file) => [contentKeyOf(file), file]));
  const files = neededFiles(manifest).map((needed) => ({ needed, listed: usable.get(contentKeyOf(needed)) }));
  const names = new Map<string, number>();
  const indexes = files.flatMap(({ needed, listed }): readonly IndexPart[] => {
    if (needed.kind !== "index") return [];
    const name = nameOf(needed.of);
    const number = 1 + (names.get(name) ?? 0);
    names.set(name, number);
    return [{ name: number === 1 ? name : `${name} (${number})`, of: needed.of, files: [{ needed, listed }] }];
  });
  return { indexes, rows: { name: "row store", files: files.filter(({ needed }) => needed.kind === "rows") } };
}

/** Returns the Parquet files that a serving file is built from. */
export const inputsOf = (needed: NeededFile): readonly LakeFile[] =>
  needed.kind === "index" ? filesToIndex(needed.of) : [needed.of.file, ...needed.of.valuations];

/** Returns the name of an index for operators: that of today has none of its months. */
function nameOf({ today, first, last }: IndexedRows): string {
  const from = calendarMonth(first);
  const to = calendarMonth(last);
  return today !== undefined ? "search index" : `search index of ${from}${from === to ? "" : ` to ${to}`}`;
}

/** Returns whether an index has rows that hold on a past day. */
export const hasDay = ({ first, last, today, past }: IndexedRows, day: string): boolean =>
  first <= day && day <= last && (today !== undefined || past.length > 0);

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

/** Identifies a serving file by what it is built from. */
export const contentKeyOf = ({ kind, source }: Pick<ServingFile, "kind" | "source">): string => `${kind} ${source}`;

/** Returns the listed files that the version needs and that this release can read. */
export function usableFiles(manifest: Manifest): readonly ServingFile[] {
  const needed = new Set(neededFiles(manifest).map(contentKeyOf));
  return manifest.serving.filter((file) => file.format === servingFormats[file.kind] && needed.has(contentKeyOf(file)));
}
