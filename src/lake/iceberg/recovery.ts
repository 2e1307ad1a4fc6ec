/** Iceberg metadata at the start of a writer: completes an interrupted commit, and finds the files that are still used. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound, replaceFile } from "../../base/files.ts";
import { textIn } from "../../base/json.ts";
import { commitTable } from "./stage.ts";
import {
  fileNamesIn,
  hintName,
  metadataFolder,
  metadataName,
  metadataPath,
  newestNumber,
  readManifestList,
  readTableHistory,
  versionOf,
} from "./table-metadata.ts";
import { type IcebergTable, icebergTables } from "./table-schema.ts";

/** Commits the metadata that a killed writer staged for the published version, and removes that for another one. */
export async function recoverIcebergMetadata(lake: string, published: string | undefined): Promise<void> {
  for (const table of icebergTables) {
    const folder = metadataFolder(lake, table);
    for (const name of await fileNamesIn(folder)) {
      const [, number] = /^v(\d+)\.metadata\.json\.new$/.exec(name) ?? [];
      if (number === undefined) continue;
      const staged = await readTableHistory(join(folder, name));
      const newest = staged?.snapshots.at(-1);
      if (newest !== undefined && versionOf(newest) === published) await commitTable(folder, Number(number));
      else await rm(join(folder, name));
    }
    const number = await newestNumber(folder);
    if (number > 0 && (await readHint(folder)) !== number) await replaceFile(join(folder, hintName), String(number));
  }
}

/** Returns the number of the metadata file that readers open; 0 if there is none. */
async function readHint(folder: string): Promise<number> {
  try {
    return Number(await readFile(join(folder, hintName), "utf8"));
  } catch (thrown) {
    if (isNotFound(thrown)) return 0;
    throw thrown;
  }
}

/** Returns the paths within the lake of all files that the newest metadata of each table reaches. */
export async function icebergFiles(lake: string): Promise<readonly string[]> {
  const reached = await Promise.all(icebergTables.map((table) => filesOf(lake, table)));
  return reached.flat();
}

async function filesOf(lake: string, table: IcebergTable): Promise<readonly string[]> {
  const folder = metadataFolder(lake, table);
  const number = await newestNumber(folder);
  const history = number === 0 ? undefined : await readTableHistory(join(folder, metadataName(number)));
  if (history === undefined) return [];
  const snapshots = history.snapshots.filter((snapshot) => versionOf(snapshot) !== "");
  const manifests = await Promise.all(
    snapshots.map(async (snapshot) => (await readManifestList(lake, table, snapshot)) ?? []),
  );
  const files = [
    ...[hintName, metadataName(number)],
    ...history.log.map((entry) => textIn(entry, "metadata-file")),
    ...snapshots.map((snapshot) => textIn(snapshot, "manifest-list")),
    ...new Set(manifests.flat().map(({ manifest_path }) => manifest_path)),
  ];
  return files.map((file) => metadataPath(table, file));
}
