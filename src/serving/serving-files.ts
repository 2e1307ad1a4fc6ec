/**
 * Serving files: what a version is searched and served from, built from its Parquet files by the publisher and listed in the manifest.
 *
 * The server only opens them. Where they are absent, damaged, or of another format, the Parquet files answer.
 */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../base/files.ts";
import { UserError } from "../base/user-error.ts";
import type { Manifest, ServingFile } from "../lake/manifest.ts";
import { filesIn } from "../lake/views.ts";
import { searchIndexFormat } from "./index/build.ts";
import { listingFiles } from "./listing-files.ts";
import { rowFileFormat } from "./rows/row-file.ts";

/** The format of each kind that this release writes and reads. */
export const servingFormats: Readonly<Record<ServingFile["kind"], string>> = {
  index: searchIndexFormat,
  rows: rowFileFormat,
};

/** What a version's search index is built from, by content: its snapshot. */
export function indexSourceOf({ tables, as_of }: Manifest): string {
  const files = filesIn(tables, "snapshots", as_of).map(({ sha256 }) => sha256);
  return createHash("sha256").update(files.join("\n")).digest("hex");
}

/** What a version needs serving files of, by kind and source. */
export function neededSources(manifest: Manifest): readonly Pick<ServingFile, "kind" | "source">[] {
  const rows = listingFiles(manifest).map(({ file }) => ({ kind: "rows", source: file.sha256 }) as const);
  const hasActive = filesIn(manifest.tables, "snapshots", manifest.as_of).length > 0;
  return [...(hasActive ? [{ kind: "index", source: indexSourceOf(manifest) } as const] : []), ...rows];
}

/** The listed files that a version needs and this release reads. */
export function usableFiles(manifest: Manifest): readonly ServingFile[] {
  const needed = new Set(neededSources(manifest).map(({ kind, source }) => `${kind} ${source}`));
  return manifest.serving.filter(
    ({ kind, source, format }) => format === servingFormats[kind] && needed.has(`${kind} ${source}`),
  );
}

/** Fails if a file does not have the size that the manifest says, or, when asked for, the content. */
export async function checkFile(
  lake: string,
  { path, bytes, sha256 }: Pick<ServingFile, "path" | "bytes" | "sha256">,
  how: "size" | "content",
): Promise<void> {
  const target = join(lake, path);
  const { size } = await stat(target);
  if (size !== bytes) throw new UserError(`${path}: ${size} bytes, expected ${bytes}.`);
  if (how === "content" && (await sha256Of(target)) !== sha256)
    throw new UserError(`${path}: its SHA-256 is not that of the manifest.`);
}
