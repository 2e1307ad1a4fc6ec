/**
 * Folder of past indexes, which several services can share. A finished index is a folder with the name of its key; it appears by an atomic
 * rename and is never changed.
 *
 * The file `used` in it is written when the index is used, so that its time orders indexes by their last use. A build writes it too, to
 * show that it is running. Times are compared with those of the same file system only.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { bounds } from "../../base/bounds.ts";
import { isNotFound } from "../../base/files.ts";
import { integerIn, isRow, type Json, textIn } from "../../base/json.ts";
import { printable, UserError } from "../../base/user-error.ts";
import type { ListedFile } from "../verified-files.ts";
import type { DimensionRows } from "./dimension-rows.ts";

/** A finished index in the folder. */
export interface CacheEntry {
  readonly key: string;
  readonly bytes: number;
}

/** What `index.json` says about an index. */
export interface IndexRecord {
  /** The search index and the row files, with paths relative to the folder of the index. */
  readonly files: readonly ListedFile[];
  readonly dimensions: DimensionRows;
}

/** Names of the files of an index in its folder. */
export const indexFiles = { index: "index.duckdb", record: "index.json", used: "used" } as const;

/** Returns the name of the row file of the n-th Parquet file, from 0. */
export const rowFileName = (n: number): string => `rows-${n}.db`;

const finishedPattern = /^[0-9a-f]{8}-[0-9a-f]{32}$/;
/** The rest of a name: a build, or an index that is being removed. */
const leftOverPattern = /^[0-9a-f]{8}-[0-9a-f]{32}\.[0-9a-f-]{36}\.(new|old)$/;

/** Records in a folder that its index is in use, or that its build is running. */
export const touch = (folder: string): Promise<void> => writeFile(join(folder, indexFiles.used), "1");

export class IndexCache {
  private constructor(readonly folder: string) {}

  /** Opens the folder, which is created if it does not exist, and removes left-overs. Throws if it cannot be written. */
  static async open(folder: string): Promise<IndexCache> {
    if (/\?|\\/.test(resolve(folder)))
      throw new UserError(`Invalid folder ${printable(folder)}: expected a path without ? and backslashes.`);
    await mkdir(folder, { recursive: true });
    const cache = new IndexCache(resolve(folder));
    await cache.removeLeftOvers();
    return cache;
  }

  /** Returns the finished indexes, least recently used first. */
  async list(): Promise<readonly CacheEntry[]> {
    const entries: (CacheEntry & { readonly usedMs: number })[] = [];
    for (const key of (await readdir(this.folder)).filter((name) => finishedPattern.test(name))) {
      const used = await statOf(join(this.folder, key, indexFiles.used));
      entries.push({ key, bytes: await sizeOfFolder(join(this.folder, key)), usedMs: used?.mtimeMs ?? 0 });
    }
    return entries.sort((one, other) => one.usedMs - other.usedMs).map(({ key, bytes }) => ({ key, bytes }));
  }

  /** Reads the record of an index. Throws if there is none, or if it is invalid. */
  async record(key: string): Promise<IndexRecord> {
    const record: Json = JSON.parse(await readFile(join(this.folder, key, indexFiles.record), "utf8"));
    if (!isRow(record) || !Array.isArray(record.files) || !isRow(record.dimensions) || !isRow(record.dimensions.keys))
      throw new UserError(`Invalid record of past index ${key}: expected an object with files and dimensions.`);
    const { keys } = record.dimensions;
    return {
      files: record.files.filter(isRow).map((file) => ({
        ...{ path: textIn(file, "path"), sha256: textIn(file, "sha256") },
        bytes: integerIn(file, "bytes"),
      })),
      dimensions: {
        keys: {
          builds: integerIn(keys, "builds"),
          dealers: integerIn(keys, "dealers"),
          tokens: integerIn(keys, "tokens"),
        },
        fingerprint: textIn(record.dimensions, "fingerprint"),
      },
    };
  }

  /** Creates a folder to build an index in. */
  async createUnfinished(key: string): Promise<string> {
    const folder = join(this.folder, `${key}.${randomUUID()}.new`);
    await mkdir(folder);
    await touch(folder);
    return folder;
  }

  /** Removes an unfinished build. */
  discard(unfinished: string): Promise<void> {
    return rm(unfinished, { recursive: true, force: true });
  }

  /** Adds a finished build. Discards it if another service has added the same index meanwhile. */
  async add(unfinished: string, key: string): Promise<void> {
    try {
      await rename(unfinished, join(this.folder, key));
    } catch (thrown) {
      if ((await statOf(join(this.folder, key))) === undefined) throw thrown;
      await this.discard(unfinished);
    }
  }

  /** Removes an index. Those who have it open can read it until they close it. */
  async remove(key: string): Promise<void> {
    const removed = join(this.folder, `${key}.${randomUUID()}.old`);
    try {
      await rename(join(this.folder, key), removed);
    } catch (thrown) {
      if (isNotFound(thrown)) return;
      throw thrown;
    }
    await rm(removed, { recursive: true, force: true });
  }

  /** Removes what ended services have left: builds that no process continues, and indexes that were being removed. */
  async removeLeftOvers(): Promise<void> {
    const nowMs = await this.fileTimeMs();
    for (const name of (await readdir(this.folder)).filter((name) => leftOverPattern.test(name))) {
      const folder = join(this.folder, name);
      const touched = (await statOf(join(folder, indexFiles.used))) ?? (await statOf(folder));
      if (name.endsWith(".old") || nowMs - (touched?.mtimeMs ?? 0) > bounds.pastIndexStaleMs)
        await rm(folder, { recursive: true, force: true });
    }
  }

  /** Returns the time of a file that is written now. */
  private async fileTimeMs(): Promise<number> {
    await touch(this.folder);
    return (await stat(join(this.folder, indexFiles.used))).mtimeMs;
  }
}

/** Returns the size of all files in a folder. */
export async function sizeOfFolder(folder: string): Promise<number> {
  let size = 0;
  try {
    for (const name of await readdir(folder)) size += (await statOf(join(folder, name)))?.size ?? 0;
  } catch (thrown) {
    // Another service can remove it meanwhile.
    if (!isNotFound(thrown)) throw thrown;
  }
  return size;
}

/** Returns the size and times of a file; undefined if it does not exist. */
async function statOf(path: string): Promise<{ readonly size: number; readonly mtimeMs: number } | undefined> {
  try {
    return await stat(path);
  } catch (thrown) {
    if (isNotFound(thrown)) return undefined;
    throw thrown;
  }
}
