/** What lies in a lake's folder, seen from outside. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../../src/base/files.ts";
import { verify } from "../../../src/lake/maintenance/verify.ts";
import { currentManifest, currentVersion, type Manifest, readManifest } from "../../../src/lake/manifest.ts";
import { ask } from "./lakes.ts";

/** The paths of all files in a lake but its lock, sorted. */
export async function filesUnder(lake: string): Promise<readonly string[]> {
  const entries = await readdir(lake, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files
    .map((path) => path.slice(lake.length + 1))
    .filter((path) => path !== "writer.lock")
    .sort();
}

/** Serving files answer alike, and are not the same bytes. */
const isServing = (path: string): boolean => path.startsWith("serving/");

/** The content of every file in a lake but its lock and what is served from, by path, as SHA-256. */
export async function contentsOf(lake: string): Promise<Readonly<Record<string, string>>> {
  const contents: Record<string, string> = {};
  for (const path of await filesUnder(lake)) {
    if (isServing(path)) continue;
    contents[path] = path.endsWith(".json") ? await manifestHash(join(lake, path)) : await sha256Of(join(lake, path));
  }
  return contents;
}

/** The SHA-256 of a manifest but for its serving files; of what is no manifest, of all. */
async function manifestHash(path: string): Promise<string> {
  const text = await readFile(path, "utf8");
  try {
    const { serving, ...manifest } = JSON.parse(text);
    return createHash("sha256").update(JSON.stringify(manifest)).digest("hex");
  } catch {
    return createHash("sha256").update(text).digest("hex");
  }
}

/** The files that no version leads to which can be reached from the published one. */
export async function strayFilesIn(lake: string): Promise<readonly string[]> {
  const known = new Set(["CURRENT"]);
  const published = await currentVersion(lake);
  for (let version = published ?? null; version !== null; ) {
    const manifest: Manifest = await readManifest(lake, version);
    known.add(`versions/${version}.json`).add(`versions/${version}.sql`);
    for (const file of [...Object.values(manifest.tables).flat(), ...manifest.serving]) known.add(file.path);
    version = manifest.previous;
  }
  return (await filesUnder(lake)).filter((path) => !known.has(path));
}

/** What is wrong with a lake's published version; empty when nothing is. */
export async function faultsOf(lake: string): Promise<readonly string[]> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined) return ["nothing is published"];
  return verify(lake, manifest, {}, () => undefined);
}

/** All that a lake serves of today's market, as one text that is the same when the market is. */
export async function marketOf(lake: string): Promise<string> {
  return JSON.stringify(await ask(lake, "FROM active ORDER BY vin"));
}
