/** An ingest on a full disk, and on one that is full while the index is built. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { currentVersion } from "../../src/lake/manifest.ts";
import { activeListingsText, lakeFaults, unreferencedFiles } from "../support/lakes/contents.ts";
import { copyLake, createLake, ingestPath, samplePath, smallDisk } from "../support/lakes/lakes.ts";
import type { Scope } from "../support/scope.ts";

const run = promisify(execFile);

test("a full disk leaves the published version unchanged, and the next ingest succeeds once there is space", async (t) => {
  const disk = await smallDisk(t, "5m");
  if (disk === undefined) return t.skip("mounting a tmpfs needs root");
  await fillAndRecover(t, disk);
});

/** Ingests a day on a full disk, and again after space is freed. */
async function fillAndRecover(scope: Scope, disk: string): Promise<void> {
  const { lake: filled } = await createLake(scope, samplePath, { day: "2026-11-18" });
  const lake = join(disk, "lake");
  await copyLake(filled, lake);
  await run("sh", ["-c", `head -c 10M /dev/zero > ${join(disk, "ballast")} || true`]);
  const before = await activeListingsText(lake);
  await assert.rejects(
    ingestPath(lake, samplePath, { day: "2026-11-19" }),
    /the disk is full\. The published version is 2026-11-18\.1\.$/,
  );
  assert.equal(await currentVersion(lake), "2026-11-18.1");
  assert.equal(await activeListingsText(lake), before);
  assert.deepEqual(await lakeFaults(lake), []);
  await run("mount", ["-o", "remount,size=16m", disk]);
  await ingestPath(lake, samplePath, { day: "2026-11-19" });
  assert.equal(await currentVersion(lake), "2026-11-19.1");
  assert.deepEqual(await unreferencedFiles(lake), []);
}

/** What is free for a day: too little for its Parquet files, for its row store, for its index, and for the index once more while it is compacted. */
const freeKiB = [100, 500, 900, 3000];

test("a disk that is full while a day is built: the first error says so, and nothing of the day stays on the disk", async (t) => {
  const disk = await smallDisk(t, "64m");
  if (disk === undefined) return t.skip("mounting a tmpfs needs root");
  const { lake: filled } = await createLake(t, samplePath, { day: "2026-11-18" });
  const lake = join(disk, "lake");
  await copyLake(filled, lake);
  const free = async (): Promise<number> => (await statfs(disk)).bfree;
  const { blocks, bfree, bsize } = await statfs(disk);
  const before = await readdir(lake, { recursive: true });
  for (const more of freeKiB) {
    const sizeKiB = ((blocks - bfree) * bsize) / 1024 + more;
    await run("mount", ["-o", `remount,size=${sizeKiB}k`, disk]);
    const freeBefore = await free();
    await assert.rejects(
      ingestPath(lake, samplePath, { day: "2026-11-19" }),
      /^UserError: \S+: the disk is full\. The published version is 2026-11-18\.1\.$/,
      `${more} KiB`,
    );
    const left = (await readdir(lake, { recursive: true })).filter((path) => !before.includes(path));
    // Folders of a day, and the lock of the writer, take no more than a few pages.
    assert.deepEqual(
      left.filter((path) => /\.\w+$/.test(path) && !path.startsWith("writer.lock")),
      [],
      `${more} KiB`,
    );
    assert.ok(freeBefore - (await free()) < 32, `${more} KiB: ${freeBefore} blocks before, ${await free()} after`);
  }
  await run("mount", ["-o", "remount,size=64m", disk]);
  await ingestPath(lake, samplePath, { day: "2026-11-19" });
  assert.equal(await currentVersion(lake), "2026-11-19.1");
});
