/** What is made from published files and can be deleted at any time: files below `hot/`, each named by what it was made from. */
import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { sync } from "../base/files.ts";

/** A file that nobody has written to for so long before the last change of its folder will not be finished. */
const abandonedAfterMs = 600_000;

/**
 * Makes a file under a name of its own, then gives it its own name: it is there whole, or not at all, whoever else makes it. Gives
 * whether it was made; `make` says so.
 */
export async function makeWhole(path: string, make: (fresh: string) => Promise<boolean>): Promise<boolean> {
  const fresh = `${path}.${randomUUID()}.new`;
  try {
    if (!(await make(fresh))) return false;
    await sync(fresh);
    await rename(fresh, path);
    return true;
  } finally {
    await rm(fresh, { force: true });
  }
}

/**
 * Removes files that are not among those that are wanted, and what was left half made. Who has one open keeps it; what cannot be
 * removed stays, and is in nobody's way.
 */
export async function removeOthers(folder: string, wanted: ReadonlySet<string>): Promise<void> {
  const changedMs = await changedAt(folder);
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile() || wanted.has(entry.name)) continue;
    const path = join(folder, entry.name);
    const isBeingMade = entry.name.includes(".new") && (await changedAt(path)) > changedMs - abandonedAfterMs;
    if (!isBeingMade) await rm(path, { force: true }).catch(() => {});
  }
}

/** When a file, or the list of a folder's files, was last changed; 0 where there is none. */
const changedAt = async (path: string): Promise<number> => (await stat(path).catch(() => ({ mtimeMs: 0 }))).mtimeMs;
