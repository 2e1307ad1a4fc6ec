/**
 * Serving files: the search indexes and the row store of a version, which the publisher builds from Parquet files and lists in the manifest. Decides which a
 * version needs and which of them this release can read, and opens those that are used.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { calendarMonth } from "../../base/day.ts";
import { DamagedFile } from "../../base/user-error.ts";
import type { DuckDatabase } from "../../db/duckdb.ts";
import type { Engine } from "../../db/session-pool.ts";
import { fileLiteral, ident, sql } from "../../db/sql.ts";
import type { Manifest, ServingFile } from "../../lake/manifest.ts";
import type { ColumnCache } from "../index/columns.ts";
import { attachNewIndex, searchIndexFormat } from "../index/index-file.ts";
import { filesToIndex, type IndexedRows, indexedRows, rowsToIndex } from "../index/indexed-rows.ts";
import { Segment } from "../index/segment.ts";
import { type ListingFile, listingFiles, sourceOf } from "../listing-files.ts";
import { rowFileFormat } from "../rows/row-file.ts";
import { RowStore } from "../rows/row-store.ts";
import type { VersionFiles } from "./version-files.ts";

export interface ServingOptions {
  readonly manifest: Manifest;
  readonly folder: string;
  readonly files: VersionFiles;
  readonly database: DuckDatabase;
  readonly engine: Engine;
  /** See `LakeVersionOptions.columns`. */
  readonly columns: ColumnCache;
  /** Whether to use the files; if not, indexes are built, and rows read, from Parquet files. */
  readonly hasServingFiles: boolean;
  /** See `LakeVersionOptions.opensAhead`. */
  readonly opensAhead: boolean;
  /** See `LakeVersionOptions.onFallback`. */
  readonly onFallback: (message: string) => void;
}

/** A part that is used or disabled as a whole: a search index, or the row store. */
export interface ServingPart {
  readonly name: string;
  readonly files: readonly ServingFile[];
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

/** Returns the parts that a version needs. */
export function servingPartsOf(manifest: Manifest): ServingParts {
  const usable = usableFiles(manifest);
  const names = new Map<string, number>();
  const indexes = neededFiles(manifest).flatMap((needed): readonly IndexPart[] => {
    if (needed.kind !== "index") return [];
    const files = usable.filter(({ kind, source }) => kind === "index" && source === needed.source);
    const name = nameOf(needed.of);
    const number = 1 + (names.get(name) ?? 0);
    names.set(name, number);
    return [{ name: number === 1 ? name : `${name} (${number})`, of: needed.of, files }];
  });
  return { indexes, rows: { name: "row store", files: usable.filter(({ kind }) => kind === "rows") } };
}

/** Returns the name of an index for operators: that of today has none of its months. */
function nameOf({ today, first, last }: IndexedRows): string {
  const from = calendarMonth(first);
  const to = calendarMonth(last);
  return today !== undefined ? "search index" : `search index of ${from}${from === to ? "" : ` to ${to}`}`;
}

/** Returns whether an index has rows that hold on a past day. */
export const hasDay = ({ first, last, today, past }: IndexedRows, day: string): boolean =>
  first <= day && day <= last && (today !== undefined || past.length > 0);

async function requireIntact(files: VersionFiles, file: ServingFile, check: "size" | "content"): Promise<void> {
  const fault = await files.faultOf(file, check);
  if (fault !== undefined) throw new DamagedFile(fault);
}

/** Opens the file of an index. Throws if it is not listed, or damaged. */
export async function openIndex(
  { folder, files, database, engine, columns }: ServingOptions,
  { name: catalog, files: [file] }: IndexPart,
): Promise<Segment> {
  if (file === undefined) throw new DamagedFile(unlistedIndex);
  await requireIntact(files, file, "content");
  return database.using(async (session) => {
    await session.run(sql`ATTACH ${fileLiteral(join(folder, file.path))} AS ${ident(catalog)} (READ_ONLY)`);
    return Segment.open(session, { catalog, name: file.sha256 }, engine, columns);
  });
}

/** The fault of an index without a file. */
export const unlistedIndex = "The manifest lists no search index of this release's format.";

/** Builds an index in memory. Refuses with `data_unavailable` if one of its Parquet files is damaged. */
export async function buildIndex(
  { folder, files, database, engine, columns }: ServingOptions,
  { name, of }: IndexPart,
): Promise<Segment> {
  await files.require(filesToIndex(of));
  // It is built twice if its file fails while it opens.
  const catalog = `${name}, built ${randomUUID()}`;
  return database.using((session) =>
    attachNewIndex(session, rowsToIndex(of, folder), { catalog }, () =>
      Segment.open(session, { catalog, name: catalog }, engine, columns),
    ),
  );
}

export async function openRows({ manifest, folder, files }: ServingOptions, part: ServingPart): Promise<RowStore> {
  const needed = listingFiles(manifest);
  if (part.files.length < needed.length) {
    const expected = `expected ${needed.length}, found ${part.files.length}`;
    throw new DamagedFile(`The manifest lists too few row files of this release's format: ${expected}.`);
  }
  for (const file of part.files) await requireIntact(files, file, "size");
  return RowStore.open(
    needed,
    part.files.map(({ path, source }) => ({ source, path: join(folder, path) })),
  );
}

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
