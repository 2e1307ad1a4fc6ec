/** Inspects the files of a lake. */
import { createHash } from "node:crypto";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile, sha256Of } from "../../../src/base/files.ts";
import { verify } from "../../../src/lake/maintenance/verify.ts";
import {
  currentManifest,
  currentVersion,
  type Manifest,
  manifestPath,
  manifestText,
  readManifest,
} from "../../../src/lake/manifest.ts";
import { queryLake } from "./lakes.ts";

/** Returns the sorted paths of all files in a lake except its lock and the folders of versions. */
export async function listLakeFiles(lake: string): Promise<readonly string[]> {
  const entries = await readdir(lake, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files
    .map((path) => path.slice(lake.length + 1))
    .filter((path) => path !== "writer.lock" && !isInVersionFolder(path))
    .sort();
}

/** The content of a version's folder follows from its manifest. From version 26.10, Node.js reads through the link to it. */
const isInVersionFolder = (path: string): boolean => /^(versions\/[^/]+|current)\//.test(path);

/** Serving files answer alike without being byte-identical. */
const isServing = (path: string): boolean => path.startsWith("serving/");

/** Returns the SHA-256 of every file by path, except the lock and the serving files. */
export async function hashLakeFiles(lake: string): Promise<Readonly<Record<string, string>>> {
  const contents: Record<string, string> = {};
  for (const path of await listLakeFiles(lake)) {
    if (isServing(path)) continue;
    contents[path] = path.endsWith(".json") ? await manifestHash(join(lake, path)) : await sha256Of(join(lake, path));
  }
  return contents;
}

/** Returns the SHA-256 of a manifest without its serving files and checksum, or of the whole text if it is not JSON. */
async function manifestHash(path: string): Promise<string> {
  const text = await readFile(path, "utf8");
  try {
    const { serving, sha256, ...manifest } = JSON.parse(text);
    return createHash("sha256").update(JSON.stringify(manifest)).digest("hex");
  } catch {
    return createHash("sha256").update(text).digest("hex");
  }
}

/** Returns files that no version reachable from the published one references. */
export async function unreferencedFiles(lake: string): Promise<readonly string[]> {
  const referenced = new Set(["CURRENT"]);
  const published = await currentVersion(lake);
  for (let version = published ?? null; version !== null; ) {
    const manifest: Manifest = await readManifest(lake, version);
    referenced.add(`versions/${version}.json`).add(`versions/${version}.sql`);
    for (const file of [...Object.values(manifest.tables).flat(), ...manifest.serving]) referenced.add(file.path);
    version = manifest.previous;
  }
  return (await listLakeFiles(lake)).filter((path) => !referenced.has(path));
}

/** Returns the faults of a lake's published version; empty if there are none. */
export async function lakeFaults(lake: string): Promise<readonly string[]> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined) return ["nothing is published"];
  return verify(lake, manifest, { threads: 1 }, () => undefined);
}

/** Returns the faults of a lake whose writer was killed, without that of the link `current`, which the next writer replaces. */
export const killedLakeFaults = async (lake: string): Promise<readonly string[]> =>
  (await lakeFaults(lake)).filter((fault) => !fault.startsWith("current: "));

export async function activeListingsText(lake: string): Promise<string> {
  return JSON.stringify(await queryLake(lake, "FROM active ORDER BY vin"));
}

/** Inverts the bits of a byte of a file. */
export async function changeByte(path: string, at: number): Promise<void> {
  const file = await open(path, "r+");
  try {
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
    await file.write(Buffer.from([(buffer[0] ?? 0) ^ 255]), 0, 1, at);
  } finally {
    await file.close();
  }
}

/** Lists the sizes and hashes that the files of the published version have now in its manifest. */
export async function listFilesAnew(lake: string): Promise<void> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined) throw new Error("nothing is published");
  const listAgain = <File extends { readonly path: string }>(files: readonly File[]): Promise<readonly File[]> =>
    Promise.all(
      files.map(async (file) => {
        const path = join(lake, file.path);
        return { ...file, bytes: (await stat(path)).size, sha256: await sha256Of(path) };
      }),
    );
  const tables = {
    ...manifest.tables,
    past_listings: await listAgain(manifest.tables.past_listings),
    listings: await listAgain(manifest.tables.listings),
    feeds: await listAgain(manifest.tables.feeds),
  };
  const updated = { ...manifest, tables, serving: await listAgain(manifest.serving) };
  await replaceFile(manifestPath(lake, manifest.version), manifestText(updated));
}
