import assert from "node:assert/strict";
import { once } from "node:events";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { UserError } from "../../src/base/user-error.ts";
import { currentVersion } from "../../src/lake/manifest.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { ingestingProcess, killIngests } from "../support/campaigns/kills.ts";
import { contentsOf, faultsOf, filesUnder, marketOf, strayFilesIn } from "../support/lakes/contents.ts";
import { ingestPath, lakeOf, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { wholeFile } from "../support/scope.ts";

const [firstDay, secondDay] = ["2026-11-18", "2026-11-19"] as const;
const sample = await lakeOf(wholeFile, samplePath, { day: firstDay });

/** A copy of a lake with the sample's first day. */
async function copyOfLake(t: TestContext): Promise<string> {
  const lake = join(await temporaryFolder(t), "lake");
  await cp(sample.lake, lake, { recursive: true });
  return lake;
}

/** Tries to ingest the second day from another process. */
async function ingestElsewhere(lake: string): Promise<{ code: unknown; said: string }> {
  const child = ingestingProcess(lake, secondDay);
  assert.ok(child.stderr !== null);
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  return { code, said };
}

test("a second writer is refused in one line that names the process of the first", async (t) => {
  const lake = await copyOfLake(t);
  const before = await contentsOf(lake);
  const { code, said } = await withWriter(lake, {}, () => ingestElsewhere(lake));
  assert.equal(code, 1);
  assert.equal(said, `carquet: ${lake} is locked by process ${process.pid}: expected one writer at a time.\n`);
  assert.deepEqual(await contentsOf(lake), before);
  assert.equal((await ingestElsewhere(lake)).code, 0, "when the first has ended, the next may write");
  assert.equal(await currentVersion(lake), `${secondDay}.1`);
});

test("a second writer that is refused touches nothing that the first is working with", async (t) => {
  const lake = await copyOfLake(t);
  const spilled = join(lake, "spill", "first-writers.tmp");
  const stray = join(lake, "builds", `${secondDay}.1.parquet`);
  await withWriter(lake, {}, async () => {
    await mkdir(join(lake, "spill"), { recursive: true });
    for (const path of [spilled, stray]) await writeFile(path, "half written");
    assert.equal((await ingestElsewhere(lake)).code, 1);
    for (const path of [stray, spilled]) assert.equal(await readFile(path, "utf8"), "half written", path);
  });
});

test("a writer that fails gives the lock back", async (t) => {
  const lake = await copyOfLake(t);
  const failing = withWriter(lake, {}, () => Promise.reject(new UserError("the disk is full")));
  await assert.rejects(failing, /the disk is full/);
  await ingestPath(lake, samplePath, { day: secondDay });
});

test("the next writer removes what one that was killed left behind, and nothing else", async (t) => {
  const lake = await copyOfLake(t);
  const before = await contentsOf(lake);
  const manifest = await readFile(join(lake, "versions", `${firstDay}.1.json`), "utf8");
  const left = {
    [`builds/${secondDay}.1.parquet`]: "a file of the version that never came",
    [`snapshots/snapshot_date=${secondDay}/${secondDay}.1.parquet`]: "its listings",
    [`versions/${secondDay}.1.json`]: manifest.replaceAll(firstDay, secondDay),
    [`versions/${secondDay}.1.sql`]: "CREATE VIEW half",
    [`versions/${secondDay}.1.json.new`]: "{",
    [`serving/${secondDay}.1-0.duckdb`]: "half an index",
    [`serving/${secondDay}.1-0.duckdb.wal`]: "its log",
    [`serving/${secondDay}.1-1.db`]: "half a row file",
    "CURRENT.new": `${secondDay}.1\n`,
    "spill/duckdb_temp_storage-0.tmp": "spilled",
  };
  for (const [path, content] of Object.entries(left)) {
    await mkdir(join(lake, path, ".."), { recursive: true });
    await writeFile(join(lake, path), content);
  }
  assert.equal((await strayFilesIn(lake)).length, Object.keys(left).length);
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual(await contentsOf(lake), before);
});

test("versions before the published one, and their files, stay", async (t) => {
  const lake = await copyOfLake(t);
  await ingestPath(lake, samplePath, { day: secondDay });
  const before = await contentsOf(lake);
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual(await contentsOf(lake), before);
  assert.ok((await filesUnder(lake)).includes(`versions/${firstDay}.1.json`));
});

for (const size of [0, 100, 4096, 8192]) {
  test(`a lock file of which only ${size} bytes reached the disk keeps nobody out`, async (t) => {
    const lake = await copyOfLake(t);
    const lock = join(lake, "writer.lock");
    await writeFile(lock, (await readFile(lock)).subarray(0, size));
    await ingestPath(lake, samplePath, { day: secondDay });
    assert.equal(await currentVersion(lake), `${secondDay}.1`);
  });
}

test("readers see the day before, whole, until the new day is published", async (t) => {
  const lake = await copyOfLake(t);
  const before = await marketOf(lake);
  const seen: Promise<string>[] = [];
  await ingestPath(lake, samplePath, { day: secondDay, onStep: () => seen.push(marketOf(lake).catch(String)) });
  const after = await marketOf(lake);
  for (const market of await Promise.all(seen)) assert.ok(market === before || market === after);
  assert.notEqual(after, before);
  assert.deepEqual(await faultsOf(lake), []);
});

test("an ingest that is killed at any moment leaves the old day or the new one, whole, and its serving files", async (t) => {
  const kills = await killIngests({ folder: await temporaryFolder(t), kills: 8, seed: 20_261_118 });
  assert.equal(kills.length, 8);
  for (const { afterMs, when, version, halfBuilt } of kills)
    t.diagnostic(`killed after ${afterMs} ms (${when}): serves ${version}, ${halfBuilt} serving files half-built`);
  assert.ok(
    kills.some(({ halfBuilt }) => halfBuilt > 0),
    "no kill left a serving file half-built, so that this proves little",
  );
});
