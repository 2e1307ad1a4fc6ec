/**
 * The folder of a version, `versions/<version>/`: exactly the files of each of its tables, as hard links to the immutable files, `catalog.duckdb`, and
 * Apache Iceberg metadata. `current` is a link to the folder of the published version, replaced by an atomic rename, so that an engine that reads a
 * table's folder as a whole, `current/<table>`, or a table's metadata, `current/iceberg/<table>`, finds the rows of one version.
 *
 * All of it derives from the manifest. A folder is complete before `current` names it; the next writer completes what a killed one has left.
 */
import { existsSync } from "node:fs";
import { link, mkdir, readdir, readFile, readlink, realpath, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { settleAll } from "../../base/concurrency.ts";
import { isNotFound, replaceFile, syncToDisk } from "../../base/files.ts";
import { isRow, type Json } from "../../base/json.ts";
import { catalogName, writeCatalog } from "../analyst/catalog.ts";
import { icebergFiles, metadataPath, tableLocation } from "../iceberg/metadata.ts";
import { fileFault, type ListedFile } from "../listed-file.ts";
import { currentManifest, currentVersion, type LakeFile, type Manifest, versionKey } from "../manifest.ts";
import { requireManifest } from "../published-lake.ts";
import { pathInTable, type TableName, tableNames } from "../tables.ts";

/** The name of the link to the folder of the published version, which is created after `CURRENT`. */
export const currentLink = "current";

/** Returns each Parquet file of a version by its path below the folder of the version. */
const linksOf = ({ tables }: Manifest): ReadonlyMap<string, LakeFile> =>
  new Map(
    tableNames.flatMap((table) =>
      tables[table].map((file) => [pathInTable(table, file.partition, basename(file.path)), file] as const),
    ),
  );

/** Writes the folder of a version. Readers have its former folder until the new one is complete. */
export async function writeVersionFolder(lake: string, manifest: Manifest): Promise<void> {
  const path = join(lake, versionKey(manifest.version));
  const folder = `${path}.new`;
  const replaced = `${path}.old`;
  for (const left of [folder, replaced]) await rm(left, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, { path }] of linksOf(manifest)) {
    const from = join(lake, path);
    const target = join(folder, name);
    await mkdir(dirname(target), { recursive: true });
    // File systems without hard links.
    await link(from, target).catch(() => symlink(relative(dirname(target), from), target));
  }
  await writeCatalog(lake, manifest, folder);
  await writeIcebergFiles(lake, manifest, folder);
  await syncToDisk(folder);
  if (existsSync(path)) await rename(path, replaced);
  await rename(folder, path);
  await syncToDisk(dirname(path));
  await rm(replaced, { recursive: true, force: true });
}

async function writeIcebergFiles(lake: string, manifest: Manifest, folder: string): Promise<void> {
  const location = await icebergLocation(lake);
  const writeTable = async (table: TableName): Promise<void> => {
    await mkdir(join(folder, dirname(metadataPath(table))), { recursive: true });
    for (const [name, content] of await icebergFiles(manifest, table, location))
      await replaceFile(join(folder, name), content);
  };
  await settleAll(tableNames.map(writeTable));
}

const locationPath = (lake: string): string => join(lake, "ICEBERG_LOCATION");

/** Returns the URI of the lake's folder in Iceberg metadata: that in its file, else that of its path. */
async function icebergLocation(lake: string): Promise<string> {
  try {
    return (await readFile(locationPath(lake), "utf8")).trim();
  } catch (thrown) {
    if (isNotFound(thrown)) return `file://${await realpath(lake)}`;
    throw thrown;
  }
}

/**
 * Rewrites what has absolute paths in the folder of the published version, its catalog and Iceberg metadata, after a lake was moved. A location, the
 * URI of the lake's folder for Iceberg's readers, is kept for later publishes. The caller holds the lake's lock. Throws a UserError if nothing has
 * been published.
 */
export async function rewritePaths(
  lake: string,
  location?: string,
): Promise<{ readonly version: string; readonly location: string }> {
  const manifest = await requireManifest(lake);
  if (location !== undefined) await replaceFile(locationPath(lake), `${location}\n`);
  const folder = join(lake, versionKey(manifest.version));
  await writeCatalog(lake, manifest, folder);
  await writeIcebergFiles(lake, manifest, folder);
  return { version: manifest.version, location: await icebergLocation(lake) };
}

/** Points `current` at the folder of a version, and removes the folders of all versions but this, the one before it and that to which it pointed. */
export async function openVersionFolder(lake: string, { version, previous }: Manifest): Promise<void> {
  const opened = await openedVersion(lake);
  await replaceLink(lake, currentLink, versionKey(version));
  await replaceLink(lake, catalogName, `${currentLink}/${catalogName}`);
  await removeVersionFolders(lake, [version, previous, opened]);
}

/** Replaces a symbolic link in the lake's folder atomically, unless it has the target. */
async function replaceLink(lake: string, name: string, target: string): Promise<void> {
  const path = join(lake, name);
  const found = await targetOf(path);
  if (found === target) return;
  // A copy that followed the link has a folder or a file instead.
  if (found === notLink) await rm(path, { recursive: true, force: true });
  await rm(`${path}.new`, { recursive: true, force: true });
  await symlink(target, `${path}.new`);
  await rename(`${path}.new`, path);
  await syncToDisk(lake);
}

/** The target of a path that is not a symbolic link. */
const notLink = "";

/** Returns the target of a symbolic link; undefined if nothing has the path. */
async function targetOf(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (thrown) {
    if (isNotFound(thrown)) return undefined;
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EINVAL") return notLink;
    throw thrown;
  }
}

/** Returns the name of the version whose folder `current` leads to; empty if there is no such link. */
export const openedVersion = async (lake: string): Promise<string> =>
  basename((await targetOf(join(lake, currentLink))) ?? "");

export async function removeVersionFolders(lake: string, kept: readonly (string | null)[]): Promise<void> {
  const folders = await readdir(join(lake, "versions"), { withFileTypes: true });
  for (const { name } of folders.filter((entry) => entry.isDirectory()))
    if (/^\d{4}-\d{2}-\d{2}\.\d+(\.new|\.old)?$/.test(name) && !kept.includes(name))
      await rm(join(lake, versionKey(name)), { recursive: true, force: true });
}

/** Completes the publish of the version that `CURRENT` names. */
export async function recoverVersionFolder(lake: string): Promise<void> {
  const published = await currentManifest(lake);
  if (published === undefined) return;
  const folder = versionKey(published.version);
  const isOpen = (await targetOf(join(lake, currentLink))) === folder && existsSync(join(lake, folder));
  if (!isOpen) await writeVersionFolder(lake, published);
  await openVersionFolder(lake, published);
}

/**
 * Returns the faults of the published version's folder as messages; none if the lake has no such folder, as in a backup without it, or if another
 * version has been published meanwhile.
 */
export async function versionFolderFaults(lake: string, manifest: Manifest): Promise<readonly string[]> {
  const faults = await folderFaults(lake, manifest);
  return (await currentVersion(lake)) === manifest.version ? faults : [];
}

async function folderFaults(lake: string, manifest: Manifest): Promise<readonly string[]> {
  const target = await targetOf(join(lake, currentLink));
  const folder = versionKey(manifest.version);
  if (target === undefined) return [];
  if (target !== folder) return [`${currentLink}: links to ${target || "nothing"}: expected ${folder}`];
  if (!existsSync(join(lake, folder))) return [`${currentLink}: links to ${folder}, which does not exist`];
  const links = linksOf(manifest);
  const entries = await readdir(resolve(lake, folder), { recursive: true, withFileTypes: true });
  const found = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(resolve(lake, folder), join(entry.parentPath, entry.name)));
  const metadata = await writtenIcebergFiles(lake, manifest);
  const faults = found
    .filter((name) => !links.has(name) && !metadata.has(name) && !name.startsWith(catalogName))
    .map((name) => `${folder}/${name}: not a file of the version`);
  for (const [name, content] of metadata)
    if (!(await hasContent(join(lake, folder, name), content)))
      faults.push(
        `${folder}/${name}: missing or changed: expected what follows from the manifest. Run "carquet iceberg".`,
      );
  for (const [name, file] of links)
    if (!(await isSameFile(lake, `${folder}/${name}`, file)))
      faults.push(`${folder}/${name}: another file: expected ${file.path}`);
  return faults;
}

/** Returns whether a path below the lake's folder leads to a listed file, or to one with its content, as in a copy of a lake. */
async function isSameFile(lake: string, path: string, file: ListedFile): Promise<boolean> {
  try {
    const [one, other] = await Promise.all([stat(join(lake, path)), stat(join(lake, file.path))]);
    if (one.dev === other.dev && one.ino === other.ino) return true;
    return (await fileFault(lake, { ...file, path }, "content")) === undefined;
  } catch (thrown) {
    if (isNotFound(thrown)) return false;
    throw thrown;
  }
}

/** Returns the Iceberg metadata as a publish of the version wrote it. A copy of a lake has the location of its original. */
async function writtenIcebergFiles(lake: string, manifest: Manifest): Promise<ReadonlyMap<string, Buffer>> {
  const ownLocation = await icebergLocation(lake);
  const files: [string, Buffer][] = [];
  for (const table of tableNames) {
    const path = join(lake, versionKey(manifest.version), metadataPath(table));
    const location = await writtenLocation(path, table);
    files.push(...(await icebergFiles(manifest, table, location ?? ownLocation)));
  }
  return new Map(files);
}

/** Returns the location of the lake in a metadata file; undefined if it cannot be read. */
async function writtenLocation(path: string, table: TableName): Promise<string | undefined> {
  try {
    const metadata: Json = JSON.parse(await readFile(path, "utf8"));
    const location = isRow(metadata) ? metadata.location : undefined;
    return typeof location === "string" ? location.slice(0, -tableLocation("", table).length) : undefined;
  } catch {
    return undefined;
  }
}

const hasContent = (path: string, content: Buffer): Promise<boolean> =>
  readFile(path).then(
    (found) => found.equals(content),
    () => false,
  );
