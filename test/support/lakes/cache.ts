/**
 * Cache of folders that depend on some of the sources and on some input only, such as lakes. Test files, and runs on unchanged sources, share
 * it in the system's temporary folder.
 */
import { createHash, type Hash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { projectPath } from "../../../src/base/project-files.ts";
import { eventually } from "../eventually.ts";

/** The modules that generate feeds and write lakes. A lake depends on their imports, and on the files that those read. */
const writers = ["src/ingest/ingest.ts", "src/demo/generate.ts"].map(projectPath);
const dataOfWriters = [
  "schemas/feed.json",
  "schemas/mapping.json",
  "data/mappings",
  "data/reference",
  "package-lock.json",
].map(projectPath);

/** Folders of earlier sources are removed after this time. */
const keptMs = 60 * 60 * 1000;

let cache: Promise<string> | undefined;

/** How long a folder is waited for that another test file creates: one that was killed leaves it unfinished. */
const creationMsMax = 60_000;

/**
 * Returns the cached folder of a key. If there is none, `create` fills a new one, or another test file that does so is waited for. Callers copy a lake
 * before they change it.
 */
export async function cachedFolder(key: string, create: (folder: string) => Promise<void>): Promise<string> {
  cache ??= openCache();
  const cached = join(await cache, key);
  if (existsSync(cached)) return cached;
  const claim = `${cached}.claim`;
  const isFirst = await mkdir(claim).then(
    () => true,
    () => false,
  );
  if (!isFirst) await eventually("the folder", async () => existsSync(cached), creationMsMax).catch(() => undefined);
  if (existsSync(cached)) return cached;
  const folder = await mkdtemp(`${cached}-`);
  try {
    await create(folder);
    await rename(folder, cached).catch(() => rm(folder, { recursive: true }));
  } finally {
    await rm(claim, { recursive: true, force: true });
  }
  return cached;
}

/** Returns a hash of the names and contents of all files at some paths, and of a text. */
export function hashOf(paths: readonly string[], text = ""): string {
  const hash = createHash("sha256").update(text);
  for (const path of paths) addFiles(hash, path);
  return hash.digest("hex").slice(0, 16);
}

/** Adds a file, or the files of a folder. Links count by their targets. */
function addFiles(hash: Hash, path: string): void {
  const found = lstatSync(path);
  if (found.isFile()) hash.update(readFileSync(path));
  else if (found.isSymbolicLink()) hash.update(readlinkSync(path));
  else if (found.isDirectory())
    for (const entry of readdirSync(path).sort()) {
      hash.update(`\0${entry}\0`);
      addFiles(hash, join(path, entry));
    }
}

/** Returns the paths of some modules and of all modules that they import when they run, in order. */
function importedBy(modules: readonly string[]): readonly string[] {
  const found = new Set(modules);
  for (const path of found) {
    const text = readFileSync(path, "utf8").replaceAll(/^import type [^;]*;/gm, "");
    for (const [, imported = ""] of text.matchAll(/(?:from|import|import\(|new URL\() ?"(\.{1,2}\/[^"\n]+)"/g))
      found.add(resolve(dirname(path), imported));
  }
  return [...found].sort();
}

async function openCache(): Promise<string> {
  const name = `carquet-cache-${hashOf([...importedBy(writers), ...dataOfWriters])}`;
  const folder = join(tmpdir(), name);
  if (existsSync(folder)) return folder;
  for (const entry of readdirSync(tmpdir()).filter((other) => /^carquet-(cache|sample)-\w+/.test(other))) {
    const other = join(tmpdir(), entry);
    const age = Date.now() - (statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > keptMs) await rm(other, { recursive: true, force: true });
  }
  await mkdir(folder, { recursive: true });
  return folder;
}
