import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { currentVersion } from "../../src/lake/manifest.ts";
import { faultsOf, marketOf, strayFilesIn } from "../support/lakes/contents.ts";
import { ingestPath, lakeOf, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import type { Scope } from "../support/scope.ts";

const run = promisify(execFile);

test("a full disk leaves the published version as it was, and the next ingest succeeds when there is room", async (t) => {
  const small = join(await temporaryFolder(t), "small");
  await mkdir(small);
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", small]);
  } catch {
    t.skip("a file system of its own cannot be mounted here; that takes root");
    return;
  }
  try {
    await fillAndRecover(t, small);
  } finally {
    await run("umount", [small]);
  }
});

/** Ingests a day while the disk is full, and again when it is not. */
async function fillAndRecover(scope: Scope, small: string): Promise<void> {
  const { lake: filled } = await lakeOf(scope, samplePath, { day: "2026-11-18" });
  const lake = join(small, "lake");
  await cp(filled, lake, { recursive: true });
  await run("sh", ["-c", `head -c 10M /dev/zero > ${join(small, "ballast")} || true`]);
  const before = await marketOf(lake);
  await assert.rejects(
    ingestPath(lake, samplePath, { day: "2026-11-19" }),
    /the disk is full\. The published version is unchanged/,
  );
  assert.equal(await currentVersion(lake), "2026-11-18.1");
  assert.equal(await marketOf(lake), before);
  assert.deepEqual(await faultsOf(lake), []);
  await run("mount", ["-o", "remount,size=16m", small]);
  await ingestPath(lake, samplePath, { day: "2026-11-19" });
  assert.equal(await currentVersion(lake), "2026-11-19.1");
  assert.deepEqual(await strayFilesIn(lake), []);
}
