/** Builds the index of a past day or of the sold history in a folder, with a record that describes it. */
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { bounds } from "../../base/bounds.ts";
import { replaceFile, sha256Of, syncToDisk } from "../../base/files.ts";
import { DuckDatabase } from "../../db/duckdb.ts";
import { readManifest } from "../../lake/manifest.ts";
import { withRowNumbers } from "../../lake/views.ts";
import { soldHistory } from "../../listing/source.ts";
import { buildIndexFile, indexedDimensions, withDimensionTables } from "../index/index-file.ts";
import { buildRowFile } from "../rows/row-file.ts";
import { checkFile } from "../serving-files.ts";
import type { ListedFile } from "../verified-files.ts";
import { type DimensionRows, readDimensionRows } from "./dimension-rows.ts";
import { type IndexRecord, indexFiles, rowFileName, touch } from "./index-cache.ts";
import { pastSourceOf } from "./past-source.ts";

export interface PastBuild {
  readonly lake: string;
  readonly version: string;
  /** A day, or `soldHistory`. */
  readonly name: string;
  /** The folder of the unfinished index. */
  readonly folder: string;
}

/** Builds an index. Throws if a file that it reads does not match the manifest. */
export async function buildPastIndex(build: PastBuild): Promise<void> {
  const { folder } = build;
  const heartbeat = setInterval(() => void touch(folder).catch(() => undefined), bounds.pastIndexTouchMs);
  try {
    const spill = join(folder, "spill");
    const { paths, dimensions } = await buildFiles(build, spill);
    await rm(spill, { recursive: true, force: true });
    const files: ListedFile[] = [];
    for (const path of paths) {
      const target = join(folder, path);
      await syncToDisk(target);
      files.push({ path, bytes: (await stat(target)).size, sha256: await sha256Of(target) });
    }
    const record: IndexRecord = { files, dimensions };
    await replaceFile(join(folder, indexFiles.record), JSON.stringify(record));
  } finally {
    clearInterval(heartbeat);
  }
}

interface BuiltFiles {
  /** Relative to the folder. */
  readonly paths: readonly string[];
  readonly dimensions: DimensionRows;
}

async function buildFiles({ lake, version, name, folder }: PastBuild, spill: string): Promise<BuiltFiles> {
  const manifest = await readManifest(lake, version);
  const { tables } = manifest;
  const { files } = pastSourceOf(manifest, name);
  for (const file of [...files, ...indexedDimensions.flatMap((table) => tables[table])])
    await checkFile(lake, file, "content");
  const listings = withRowNumbers(files, lake);
  const limits = { threads: 1, memoryLimit: bounds.pastIndexMemory, temporaryFolder: spill };
  const database = await DuckDatabase.open(limits);
  try {
    return await database.using(async (session) => {
      const dimensions = await withDimensionTables(session, { tables, folder: lake }, async () => {
        await buildIndexFile(session, listings, join(folder, indexFiles.index));
        return readDimensionRows(session, listings);
      });
      const paths: string[] = [indexFiles.index];
      for (const [n, file] of (name === soldHistory ? [] : files).entries()) {
        await buildRowFile(session, { file, folder: lake }, join(folder, rowFileName(n)));
        paths.push(rowFileName(n));
      }
      return { paths, dimensions };
    });
  } finally {
    database.close();
  }
}
