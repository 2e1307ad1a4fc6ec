/** Files that survive a loss of power: what was written is synced, and so is the folder that names it. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";

/** Forces a file's content, or a folder's entries, to the disk. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a folder and its parents, and syncs each folder that gained one. */
export async function createFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncToDisk(dirname(made));
}

/** Puts a text in place of a file at once: a reader sees the old content or the new one, whole. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  await writeFile(fresh, text);
  await syncToDisk(fresh);
  await rename(fresh, path);
  await syncToDisk(dirname(path));
}

/** The SHA-256 of a file, in hex. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}

/** Whether what was thrown says that there is no such file. */
export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
}
