/**
 * Creates a lake with a long history from one with few days: hard links of its snapshots, in rotation, become those of earlier days. Sales
 * and price changes remain those of the few days.
 */
import { link, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { plusDays } from "../../src/base/day.ts";
import { currentPath, type LakeFile, manifestPath, manifestText } from "../../src/lake/manifest.ts";
import { publishedManifest } from "./flat-rows.ts";

/** Links the published version of a lake into a new folder, with snapshots for so many days. */
export async function repeatDays(lake: string, folder: string, days: number): Promise<void> {
  const manifest = await publishedManifest(lake);
  const { version, as_of, tables, serving } = manifest;
  const linkFile = async (from: string, to: string): Promise<void> => {
    await mkdir(dirname(join(folder, to)), { recursive: true });
    await link(join(lake, from), join(folder, to));
  };
  for (const { path } of [...Object.values(tables).flat(), ...serving]) await linkFile(path, path);
  const earlier: LakeFile[] = [];
  for (const { file, day } of repetitions(tables.snapshots, as_of, days)) {
    const path = file.path.replaceAll(file.partition ?? as_of, day);
    await linkFile(file.path, path);
    earlier.push({ ...file, path, partition: day });
  }
  const snapshots = [...earlier, ...tables.snapshots].sort((a, b) => (a.path < b.path ? -1 : 1));
  const repeated = { ...manifest, previous: null, tables: { ...tables, snapshots } };
  await mkdir(dirname(manifestPath(folder, version)), { recursive: true });
  await writeFile(manifestPath(folder, version), manifestText(repeated));
  await writeFile(currentPath(folder), `${version}\n`);
}

/** Returns the files to repeat, each with the day that it becomes a snapshot of. */
function repetitions(
  snapshots: readonly LakeFile[],
  asOf: string,
  days: number,
): readonly { readonly file: LakeFile; readonly day: string }[] {
  const ingested = [...new Set(snapshots.map(({ partition }) => partition))].sort();
  return Array.from({ length: Math.max(0, days - ingested.length) }, (_, index) => {
    const daysBack = ingested.length + index;
    const day = plusDays(asOf, -daysBack);
    const repeatedDay = ingested.at(-1 - (daysBack % ingested.length));
    return snapshots.filter(({ partition }) => partition === repeatedDay).map((file) => ({ file, day }));
  }).flat();
}
