/** Runs the test files of a group in one process, one after the other. */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { beginFile, beginGroup } from "./scope.ts";

type TestFile = readonly [name: string, load: () => Promise<unknown>];

/**
 * Runs test files, each as a suite: its tests start when it is loaded, and its cleanup runs before the next file is loaded. What files share is
 * cleaned up at the end.
 */
export async function runGroup(name: string, files: readonly TestFile[]): Promise<void> {
  const perFile: FileUsage[] = [];
  process.once("exit", () => reportUsage(name, perFile));
  beginGroup();
  for (const [file, load] of files) {
    const before = secondsUsed();
    await new Promise<void>((resolve) => {
      void describe(file, async () => {
        const endFile = beginFile();
        after(() => endFile().finally(resolve));
        await load().catch((error: unknown) =>
          test("the file can be loaded", () => {
            throw error;
          }),
        );
      });
    });
    perFile.push({ file, seconds: secondsUsed() - before });
  }
}

interface FileUsage {
  readonly file: string;
  readonly seconds: number;
}

/** Writes the processor time of this process and its children to a file of the folder that `CARQUET_USAGE_FOLDER` names. */
function reportUsage(name: string, files: readonly FileUsage[]): void {
  const folder = process.env.CARQUET_USAGE_FOLDER;
  if (folder === undefined) return;
  writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify({ name, files, seconds: secondsUsed() }));
}

/** Returns the processor seconds of this process and its children so far. */
function secondsUsed(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childSeconds();
}

/** Returns the processor seconds of children that have exited; 0 without `/proc`. */
function childSeconds(): number {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
    const ticksPerSecond = 100;
    return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
  } catch {
    return 0;
  }
}
