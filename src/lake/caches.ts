/** What is made from published files and can be deleted at any time: files below `hot/`, each named by what it was made from. */
import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { sync } from "../base/files.ts";

/** A file that nobody has written to for so long will not be finished. */
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
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile() || wanted.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (!entry.name.includes(".new") || (await isAbandoned(path))) await rm(path, { force: true }).catch(() => {});
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && found.mtimeMs < Date.now() - abandonedAfterMs;
}
