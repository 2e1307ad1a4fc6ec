/** Publishing: the writer's lock, leftovers of killed writers, and readers during a publish. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { UserError } from "../../src/base/user-error.ts";
import { compareVersions, currentVersion } from "../../src/lake/manifest.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { killIngests, spawnIngest } from "../support/campaigns/ingest-kills.ts";
import { failureOf } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import {
  activeListingsText,
  hashLakeFiles,
  lakeFaults,
  listLakeFiles,
  unreferencedFiles,
} from "../support/lakes/contents.ts";
import { createLake, ingestPath, samplePath, temporaryCopy, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const firstDay = "2026-11-18";
const secondDay = "2026-11-19";
const sample = await createLake(fileScope, samplePath, { day: firstDay });

test("version 10 of a day is newer than version 9, and older than any of the next day", () => {
  const versions = ["2026-11-19.1", "2026-11-18.10", "2026-11-18.9"];
  assert.deepEqual(versions.sort(compareVersions), ["2026-11-18.9", "2026-11-18.10", "2026-11-19.1"]);
});

/** Copies a lake with the sample's first day. */
const copyOfLake = (t: TestContext): Promise<string> => temporaryCopy(t, sample.lake);

/** Ingests the second day in another process. */
async function ingestInOtherProcess(lake: string): Promise<{ code: unknown; output: string }> {
  const child = spawnIngest(lake, secondDay);
  assert.ok(child.stderr !== null);
  const [output, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  return { code, output };
}

test("a second writer is refused in one line that names the first one's process", {
  skip: skipInShortRun,
}, async (t) => {
  const lake = await copyOfLake(t);
  const before = await hashLakeFiles(lake);
  const { code, output } = await withWriter(lake, {}, () => ingestInOtherProcess(lake));
  assert.equal(code, 1);
  assert.equal(failureOf(output), `${lake} is locked by process ${process.pid}: expected one writer at a time.`);
  assert.deepEqual(await hashLakeFiles(lake), before);
  assert.equal((await ingestInOtherProcess(lake)).code, 0, "the next writer succeeds after the first");
  assert.equal(await currentVersion(lake), `${secondDay}.1`);
});

test("a refused writer changes no file of the working one", async (t) => {
  const lake = await copyOfLake(t);
  const spilled = join(lake, "spill", "first-writers.tmp");
  const stray = join(lake, "files", "builds", `${secondDay}.1.parquet`);
  await withWriter(lake, {}, async () => {
    await mkdir(join(lake, "spill"), { recursive: true });
    for (const path of [spilled, stray]) await writeFile(path, "half written");
    assert.equal((await ingestInOtherProcess(lake)).code, 1);
    for (const path of [stray, spilled]) assert.equal(await readFile(path, "utf8"), "half written", path);
  });
});

test("a failed writer releases the lock", async (t) => {
  const lake = await copyOfLake(t);
  const failing = withWriter(lake, {}, () => Promise.reject(new UserError("the disk is full")));
  await assert.rejects(failing, /the disk is full/);
  await withWriter(lake, {}, async () => undefined);
});

test("the next writer removes the leftovers of a killed one, and nothing else", async (t) => {
  const lake = await copyOfLake(t);
  const before = await hashLakeFiles(lake);
  const manifest = await readFile(join(lake, "versions", `${firstDay}.1.json`), "utf8");
  const leftovers = {
    [`files/builds/${secondDay}.1.parquet`]: "a file of the version that never came",
    [`files/past_listings/ended_month=2026-11/${secondDay}.1.parquet`]: "its listings",
    [`versions/${secondDay}.1.json`]: manifest.replaceAll(firstDay, secondDay),
    [`versions/${secondDay}.1.sql`]: "CREATE VIEW half",
    [`versions/${secondDay}.1.json.new`]: "{",
    [`serving/${secondDay}.1-0.duckdb`]: "half an index",
    [`serving/${secondDay}.1-0.duckdb.wal`]: "its log",
    [`serving/${secondDay}.1-1.db`]: "half a row file",
    "CURRENT.new": `${secondDay}.1\n`,
    "spill/duckdb_temp_storage-0.tmp": "spilled",
  };
  for (const [path, content] of Object.entries(leftovers)) {
    await mkdir(join(lake, path, ".."), { recursive: true });
    await writeFile(join(lake, path), content);
  }
  assert.equal((await unreferencedFiles(lake)).length, Object.keys(leftovers).length);
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual(await hashLakeFiles(lake), before);
});

test("earlier versions and their files are kept", async (t) => {
  const { lake } = await createLake(t);
  const before = await hashLakeFiles(lake);
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual(await hashLakeFiles(lake), before);
  assert.ok((await listLakeFiles(lake)).includes(`versions/${firstDay}.1.json`));
});

for (const size of [0, 100, 4096, 8192]) {
  test(`a lock file truncated to ${size} bytes blocks no writer`, async (t) => {
    const lake = await copyOfLake(t);
    const lock = join(lake, "writer.lock");
    await writeFile(lock, (await readFile(lock)).subarray(0, size));
    assert.equal(await withWriter(lake, {}, async () => "wrote"), "wrote");
  });
}

test("a lock that cannot be taken for another reason than damage stays, and the error says so", async (t) => {
  const lake = await copyOfLake(t);
  const lock = join(lake, "writer.lock");
  await rm(lock);
  await mkdir(lock);
  await assert.rejects(
    withWriter(lake, {}, async () => "wrote"),
    { name: "UserError", message: /writer\.lock: cannot be locked: .*Remove it only if no process writes/s },
  );
  assert.ok((await stat(lock)).isDirectory());
});

test("readers see the previous day in full until the new day is published", async (t) => {
  const lake = await copyOfLake(t);
  const before = await activeListingsText(lake);
  const reads: Promise<string>[] = [];
  await ingestPath(lake, samplePath, {
    day: secondDay,
    onStep: () => reads.push(activeListingsText(lake).catch(String)),
  });
  const after = await activeListingsText(lake);
  for (const market of await Promise.all(reads)) assert.ok(market === before || market === after);
  assert.notEqual(after, before);
  assert.deepEqual(await lakeFaults(lake), []);
});

test("an ingest killed at any moment leaves the old or the new version intact, with its serving files", {
  skip: skipInShortRun,
}, async (t) => {
  const kills = await killIngests({ folder: await temporaryFolder(t), kills: extentOf(2, 8), seed: 20_261_118 });
  assert.equal(kills.length, extentOf(2, 8));
  for (const { afterMs, when, version, partialFiles } of kills)
    t.diagnostic(`killed after ${afterMs} ms (${when}): serves ${version}, ${partialFiles} serving files half-built`);
  assert.ok(
    kills.some(({ partialFiles }) => partialFiles > 0) || extentOf(true, false),
    "no kill left a partial serving file",
  );
});
