/** An ingest on a full disk. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { currentVersion } from "../../src/lake/manifest.ts";
import { activeListingsText, lakeFaults, unreferencedFiles } from "../support/lakes/contents.ts";
import { createLake, ingestPath, samplePath, smallDisk } from "../support/lakes/lakes.ts";
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
  await cp(filled, lake, { recursive: true, verbatimSymlinks: true });
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
