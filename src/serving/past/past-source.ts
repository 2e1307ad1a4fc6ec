/** What a past index is built from: the snapshot of a past day, or the sold history, of a version. */
import type { LakeFile, Manifest } from "../../lake/manifest.ts";
import { filesIn } from "../../lake/views.ts";
import { soldHistory } from "../../listing/source.ts";
import { searchIndexFormat } from "../index/build.ts";
import { contentHashOf } from "../serving-files.ts";

export interface PastSource {
  /** A day, or `soldHistory`. */
  readonly name: string;
  readonly version: string;
  readonly files: readonly LakeFile[];
  /** Identifies the index: the format of search indexes, and a hash of the files' content. Equal in all versions with the same files. */
  readonly key: string;
}

/** Returns a source of a version. It has no files if the version has no such day or no sold listings. */
export function pastSourceOf({ version, tables }: Manifest, name: string): PastSource {
  const files = name === soldHistory ? tables.sold : filesIn(tables, "snapshots", name);
  return { name, version, files, key: `${searchIndexFormat}-${contentHashOf(files).slice(0, 32)}` };
}
