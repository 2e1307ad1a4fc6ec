/** A publish that ends between any two of its steps. Runs alone, because it replaces functions of the file system: @alone */
import assert from "node:assert/strict";
import fs, { cp, lstat, readlink } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { currentManifest, currentVersion, readManifest } from "../../src/lake/manifest.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { lakeFaults, unreferencedFiles } from "../support/lakes/contents.ts";
import { copyLake, createLake, ingestPath, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { differingFolders } from "../support/lakes/version-folder.ts";
import { fileScope } from "../support/scope.ts";

const firstDay = "2026-11-18";
const secondDay = "2026-11-19";
const thirdDay = "2026-11-20";
const sample = await createLake(fileScope, samplePath, { day: firstDay });

const changes = ["rename", "link", "symlink", "rm", "mkdir", "writeFile", "open"] as const;
const originals = Object.fromEntries(changes.map((name) => [name, fs[name]])) as Pick<
  typeof fs,
  (typeof changes)[number]
>;

/** Replaces functions while `work` runs. */
async function withFunctions<T>(replaced: object, work: () => Promise<T>): Promise<T> {
  Object.assign(fs, replaced);
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(fs, originals);
    syncBuiltinESMExports();
  }
}

/** Ingests the second day, or a folder of days, with all changes of files but the first ones failing, as after a kill. Returns the number of changes. */
async function ingestUntil(lake: string, last: number, days?: string): Promise<number> {
  let count = 0;
  const begun: Promise<unknown>[] = [];
  const limited = (name: (typeof changes)[number]) => {
    return async (...parameters: readonly unknown[]): Promise<unknown> => {
      if (name !== "open" || parameters[1] !== "r") count += 1;
      if (count > last) throw new Error("killed");
      const change: Promise<unknown> = Reflect.apply(originals[name], fs, parameters);
      begun.push(change);
      return change;
    };
  };
  const replaced = Object.fromEntries(changes.map((name) => [name, limited(name)]));
  await withFunctions(replaced, () =>
    ingestPath(lake, days ?? samplePath, {
      hasServingFiles: false,
      threads: 1,
      ...(days === undefined ? { day: secondDay } : {}),
    }).catch(() => undefined),
  );
  // A killed process changes nothing any more.
  await Promise.allSettled(begun);
  return count;
}

async function copyOfLake(folder: string, name: string): Promise<string> {
  const lake = join(folder, name);
  await copyLake(sample.lake, lake);
  return lake;
}

/** Ends an ingest between any two of its steps; fails unless the lake is right then, and the next writer completes it. Returns the versions that were left. */
async function endAnywhere(folder: string, days?: string): Promise<readonly string[]> {
  const steps = await ingestUntil(await copyOfLake(folder, "whole"), Number.POSITIVE_INFINITY, days);
  assert.ok(steps > 60, `${steps} steps`);
  const published = new Set<string>();
  // From the last step back: few of them come after CURRENT is replaced.
  for (let last = steps - 1; last > 0; last -= extentOf(73, 1)) {
    const lake = await copyOfLake(folder, String(last));
    await ingestUntil(lake, last, days);
    const shown = (await readlink(join(lake, "current"))).replace("versions/", "");
    assert.deepEqual(await differingFolders(lake, await readManifest(lake, shown)), [], `${last}: ${shown}`);
    await withWriter(lake, {}, async () => undefined);
    const version = (await currentVersion(lake)) ?? "";
    published.add(version);
    assert.equal(await readlink(join(lake, "current")), `versions/${version}`, `after step ${last}`);
    assert.deepEqual([await differingFolders(lake), await lakeFaults(lake)], [[], []], `after step ${last}`);
    assert.deepEqual(await unreferencedFiles(lake), [], `after step ${last}`);
    await fs.rm(lake, { recursive: true });
  }
  return [...published].sort();
}

test("an ingest that ends between any two steps leaves right folders, and the next writer completes it", async (t) => {
  assert.deepEqual(await endAnywhere(await temporaryFolder(t)), [`${firstDay}.1`, `${secondDay}.1`]);
});

test("a batch of days that ends between any two steps leaves the version before it or its last day", {
  skip: skipInShortRun,
}, async (t) => {
  const days = await temporaryFolder(t);
  for (const day of [secondDay, thirdDay]) await cp(join(samplePath, secondDay), join(days, day), { recursive: true });
  assert.deepEqual(await endAnywhere(await temporaryFolder(t), days), [`${firstDay}.1`, `${thirdDay}.1`]);
});

test("on a file system without hard links, the folder has symbolic links", async (t) => {
  const lake = await copyOfLake(await temporaryFolder(t), "lake");
  await withFunctions({ link: () => Promise.reject(new Error("EPERM")) }, () =>
    ingestPath(lake, samplePath, { day: secondDay, hasServingFiles: false }),
  );
  const [file] = (await currentManifest(lake))?.tables.listings ?? [];
  const name = file?.path.split("/").at(-1) ?? "";
  assert.ok((await lstat(join(lake, "current", "listings", name))).isSymbolicLink());
  assert.deepEqual([await differingFolders(lake), await lakeFaults(lake)], [[], []]);
});
