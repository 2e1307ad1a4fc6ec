/**
 * Serving files: the search index and the row store of a version, which the publisher builds from Parquet files and lists in the manifest.
 *
 * This module decides which serving files a version needs and whether a listed file is usable. It never builds or opens one.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../base/files.ts";
import { UserError } from "../base/user-error.ts";
import type { Manifest, ServingFile } from "../lake/manifest.ts";
import { activeOn } from "../lake/market.ts";
import { searchIndexFormat } from "./index/build.ts";
import { listingFiles, sourceOf } from "./listing-files.ts";
import { rowFileFormat } from "./rows/row-file.ts";

/** The format of each kind that this release reads and writes. */
export const servingFormats: Readonly<Record<ServingFile["kind"], string>> = {
  index: searchIndexFormat,
  rows: rowFileFormat,
};

/** Returns the content hash of what a version's search index is built from. */
export const indexSourceOf = (manifest: Manifest): string => sourceOf(activeOn(manifest, manifest.as_of));

/** Returns the kind and source of every serving file that a version needs. */
export function neededSources(manifest: Manifest): readonly Pick<ServingFile, "kind" | "source">[] {
  const rows = listingFiles(manifest).map(({ source }) => ({ kind: "rows", source }) as const);
  const hasActive = manifest.tables.listings.length > 0;
  return [...(hasActive ? [{ kind: "index", source: indexSourceOf(manifest) } as const] : []), ...rows];
}

/** Returns the listed files that the version needs and that this release can read. */
export function usableFiles(manifest: Manifest): readonly ServingFile[] {
  const needed = new Set(neededSources(manifest).map(({ kind, source }) => `${kind} ${source}`));
  return manifest.serving.filter(
    ({ kind, source, format }) => format === servingFormats[kind] && needed.has(`${kind} ${source}`),
  );
}

/** Compares a file's size with the manifest; with `content`, its SHA-256 too. Throws if they differ. */
export async function checkFile(
  lake: string,
  { path, bytes, sha256 }: Pick<ServingFile, "path" | "bytes" | "sha256">,
  check: "size" | "content",
): Promise<void> {
  const target = join(lake, path);
  const { size } = await stat(target);
  if (size !== bytes) throw new UserError(`Invalid size of ${path}: expected ${bytes} bytes, found ${size}.`);
  if (check === "content" && (await sha256Of(target)) !== sha256)
    throw new UserError(`Invalid content of ${path}: expected SHA-256 ${sha256}, as the manifest lists.`);
}
