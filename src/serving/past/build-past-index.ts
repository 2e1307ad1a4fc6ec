/** Builds the search index of a past day or of the sold history in a folder, with a record that describes it. */
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { bounds } from "../../base/bounds.ts";
import { replaceFile, sha256Of, syncToDisk } from "../../base/files.ts";
import { DuckDatabase } from "../../db/duckdb.ts";
import { readManifest } from "../../lake/manifest.ts";
import { withRowNumbers } from "../../lake/views.ts";
import { buildIndexFile, indexedDimensions, withDimensionTables } from "../index/index-file.ts";
import { checkFile } from "../serving-files.ts";
import { type DimensionRows, readDimensionRows } from "./dimension-rows.ts";
import { type IndexRecord, indexFiles, touch } from "./index-cache.ts";
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
    const path = join(folder, indexFiles.index);
    const spill = join(folder, "spill");
    const dimensions = await buildIn(build, path, spill);
    await rm(spill, { recursive: true, force: true });
    await syncToDisk(path);
    const record: IndexRecord = { bytes: (await stat(path)).size, sha256: await sha256Of(path), dimensions };
    await replaceFile(join(folder, indexFiles.record), JSON.stringify(record));
  } finally {
    clearInterval(heartbeat);
  }
}

async function buildIn({ lake, version, name }: PastBuild, path: string, spill: string): Promise<DimensionRows> {
  const manifest = await readManifest(lake, version);
  const { tables } = manifest;
  const { files } = pastSourceOf(manifest, name);
  for (const file of [...files, ...indexedDimensions.flatMap((table) => tables[table])])
    await checkFile(lake, file, "content");
  const listings = withRowNumbers(files, lake);
  const limits = { threads: 1, memoryLimit: bounds.pastIndexMemory, temporaryFolder: spill };
  const database = await DuckDatabase.open(limits);
  try {
    return await database.using((session) =>
      withDimensionTables(session, { tables, folder: lake }, async () => {
        await buildIndexFile(session, listings, path);
        return readDimensionRows(session, listings);
      }),
    );
  } finally {
    database.close();
  }
}
