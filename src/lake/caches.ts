/** What is made from published files and can be deleted at any time: files below `hot/`, each named by what it was made from. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Removes files that are not among those that are wanted, and what a process that has ended left half made. Who has one open keeps it.
 */
export async function removeOthers(folder: string, wanted: ReadonlySet<string>): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const maker = /\.(\d+)\.new(\.wal)?$/.exec(entry.name)?.[1];
    const isOther = entry.isFile() && !wanted.has(entry.name);
    if (isOther && (maker === undefined || !isRunning(Number(maker))))
      await rm(join(folder, entry.name), { force: true });
  }
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}
