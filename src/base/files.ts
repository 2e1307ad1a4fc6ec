/** Durable file operations: syncs each file and the folder that names it, so that both survive a power loss. Also hashes files. */
import { createHash } from "node:crypto";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { mkdir, open, readdir, realpath, rename, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { UserError } from "./user-error.ts";

/** Syncs the content of a file, or the entries of a folder, to disk (fsync). */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates a folder and its missing parents, and syncs the parent of each. Throws a UserError if one of them is a file. */
export async function createFolder(path: string): Promise<void> {
  const folder = resolve(path);
  const topmost = await mkdir(folder, { recursive: true }).catch((thrown: unknown) => {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code !== "EEXIST" && code !== "ENOTDIR") throw thrown;
    throw new UserError(`Cannot create folder ${path}: expected no file at it or above it.`);
  });
  if (topmost === undefined) return;
  for (let created = folder; created.length >= topmost.length; created = dirname(created))
    await syncToDisk(dirname(created));
}

/** Returns the names in a folder, sorted; none if it is missing. */
export async function folderEntries(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (thrown) {
    if (isNotFound(thrown)) return [];
    throw thrown;
  }
}

/** Replaces a file atomically: writes to a temporary name, syncs, then renames. Readers see the old or the new content in full. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.new`;
  await writeFile(temporary, content);
  await syncToDisk(temporary);
  await rename(temporary, path);
  await syncToDisk(dirname(path));
}

/**
 * Replaces a file by the content of a stream, as `replaceFile` does: a stream that fails leaves the file unchanged. Writes directly to an existing
 * special file, such as a pipe.
 */
export async function replaceFileWith(path: string, content: AsyncIterable<string | Uint8Array>): Promise<void> {
  if (await isSpecialFile(path)) return pipeline(content, createWriteStream(path));
  const target = await realpath(path).catch(() => path);
  const temporary = `${target}.${process.pid}.new`;
  const remove = removeAtExit(temporary);
  const handle = await open(temporary, "w");
  try {
    await pipeline(content, handle.createWriteStream());
    await moveFile(temporary, target);
  } finally {
    remove();
  }
}

/** Removes a file or folder when the returned function is called, or when the process exits before. */
export function removeAtExit(path: string): () => void {
  const remove = (): void => {
    process.off("exit", remove);
    rmSync(path, { recursive: true, force: true });
  };
  process.once("exit", remove);
  return remove;
}

/** Calls `work` with a new folder, which is then removed. It is created synchronously, so that no signal ends the process before it would be removed. */
export async function withTemporaryFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const remove = removeAtExit(folder);
  try {
    return await work(folder);
  } finally {
    remove();
  }
}

/** Replaces a file atomically by another file of the same file system, which is on the disk before. */
export async function moveFile(from: string, to: string): Promise<void> {
  await syncToDisk(from);
  await rename(from, to);
  await syncToDisk(dirname(to));
}

/** Returns true for an existing path that is not a regular file: a folder, a pipe, a device. */
export async function isSpecialFile(path: string): Promise<boolean> {
  try {
    return !(await stat(path)).isFile();
  } catch (thrown) {
    if (isNotFound(thrown)) return false;
    throw thrown;
  }
}

/** Returns the SHA-256 of a file, in hex. Reads chunks of 256 KiB (0.15 ms of hashing each), between which other work runs. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafeSlow(1 << 18);
  const handle = await open(path);
  try {
    for (;;) {
      const { bytesRead } = await handle.read(chunk);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(chunk.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/** Returns true for the error of a missing file (ENOENT). */
export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
}
