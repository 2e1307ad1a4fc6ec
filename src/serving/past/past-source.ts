/** What a past index is built from: the snapshot of a past day, or the sold history, of a version. */
import { createHash } from "node:crypto";
import type { LakeFile, Manifest } from "../../lake/manifest.ts";
import { filesIn } from "../../lake/views.ts";
import { soldHistory } from "../../listing/source.ts";
import { searchIndexFormat } from "../index/build.ts";
import { rowFileFormat } from "../rows/row-file.ts";
import { contentHashOf } from "../serving-files.ts";

export interface PastSource {
  /** A day, or `soldHistory`. */
  readonly name: string;
  readonly version: string;
  readonly files: readonly LakeFile[];
  /** Identifies the index: a hash of the formats of its files, and one of the listings. Equal in all versions with the same files. */
  readonly key: string;
}

const format = createHash("sha256").update(`${searchIndexFormat} ${rowFileFormat}`).digest("hex").slice(0, 8);

/** Returns a source of a version. It has no files if the version has no such day or no sold listings. */
export function pastSourceOf({ version, tables }: Manifest, name: string): PastSource {
  const files = name === soldHistory ? tables.sold : filesIn(tables, "snapshots", name);
  return { name, version, files, key: `${format}-${contentHashOf(files).slice(0, 32)}` };
}
