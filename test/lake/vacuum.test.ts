/** Retention of days and versions, and replays. */
import assert from "node:assert/strict";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { keptDays, vacuum } from "../../src/lake/maintenance/vacuum.ts";
import { verify } from "../../src/lake/maintenance/verify.ts";
import { currentManifest, versionsIn } from "../../src/lake/manifest.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import { hashLakeFiles } from "../support/lakes/contents.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd, type Scope } from "../support/scope.ts";

const first = "2026-03-02";
const policy = { dailyDays: 3, weeklyDays: 7, versionDays: 2 };
const hourMs = 3_600_000;

const feeds = await temporaryFolder(fileScope);
for (let day = 0; day < 12; day += 1) {
  const dealer_id = dealerIdOf(1);
  const inventory = [0, 1, 2, 3].map((n) => ({ vin: vinOf(n + (n === 3 ? day : 0)), dealer_id, price: 20_000 + day }));
  await writeFeeds(feeds, plusDays(first, day), { dealers: [{ dealer_id, name: "North" }], inventory });
}
const { lake: original } = await createLake(fileScope, feeds);

/** Copies a lake of 12 days. */
async function copyOfTwelveDays(scope: Scope): Promise<string> {
  const lake = join(await temporaryFolder(scope), "lake");
  await cp(original, lake, { recursive: true });
  return lake;
}

test("retention keeps days daily, then the last of each week, then the last of each month", () => {
  const days = Array.from({ length: 100 }, (_, index) => plusDays("2026-01-01", index));
  const kept = [...keptDays(days, "2026-04-10", { dailyDays: 3, weeklyDays: 20, versionDays: 1 })].sort();
  assert.deepEqual(kept, [
    "2026-01-31",
    "2026-02-28",
    "2026-03-18",
    "2026-03-25",
    "2026-04-01",
    "2026-04-07",
    "2026-04-08",
    "2026-04-09",
    "2026-04-10",
  ]);
});

test("retention always keeps the published day", () => {
  assert.deepEqual(
    [...keptDays(["2026-01-01"], "2026-01-01", { dailyDays: 0, weeklyDays: 0, versionDays: 0 })],
    ["2026-01-01"],
  );
});

test("vacuum removes expired days and versions, and leaves the rest unchanged", async (t) => {
  const lake = await copyOfTwelveDays(t);
  const before = await queryLake(lake, "FROM active ORDER BY vin");
  const result = await withWriter(lake, {}, (writer) =>
    vacuum(writer, { ...policy, versionDays: 0 }, Date.now() + 2 * hourMs, hourMs),
  );
  const manifest = await currentManifest(lake);
  assert.ok(manifest !== undefined);
  const days = manifest.tables.snapshots.map((file) => file.partition);
  assert.deepEqual(days.slice(-3), ["2026-03-11", "2026-03-12", "2026-03-13"]);
  assert.equal(days.length + result.days.length, 12);
  assert.ok(result.days.length > 4 && result.versions.length > 8 && result.files > 20, JSON.stringify(result));
  assert.deepEqual(await queryLake(lake, "FROM active ORDER BY vin"), before);
  assert.deepEqual(await verify(lake, manifest, {}, () => undefined), []);
  const named = new Set(
    Object.values(manifest.tables)
      .flat()
      .map((file) => file.path),
  );
  const remaining = Object.keys(await hashLakeFiles(lake)).filter((path) => path.endsWith(".parquet"));
  const unnamed = remaining.filter((path) => !named.has(path));
  assert.deepEqual(unnamed, [], "only files of the kept version remain");
});

test("an open version keeps its files until the grace period ends", async (t) => {
  const lake = await copyOfTwelveDays(t);
  const published = await currentManifest(lake);
  assert.ok(published !== undefined);
  const version = await LakeVersion.open(lake, published.version);
  onScopeEnd(t, async () => version.close());
  await withWriter(lake, {}, (writer) => vacuum(writer, { ...policy, versionDays: 0 }, Date.now(), hourMs));
  assert.ok((await versionsIn(lake)).includes(published.version));
  for (const { partition, rows } of published.tables.snapshots) {
    const { total } = await version.activeOn(partition ?? "").findPage({
      ...{ filters: [], order: { by: "sort", sort: "price" }, limit: 1, offset: 0 },
    });
    assert.equal(total, rows);
  }
});

test("a replay goes back as far as versions are kept, and is refused beyond", async (t) => {
  const lake = await copyOfTwelveDays(t);
  await withWriter(lake, {}, (writer) =>
    vacuum(writer, { ...policy, versionDays: 4 }, Date.now() + 2 * hourMs, hourMs),
  );
  await assert.rejects(
    ingestPath(lake, feeds, { replayFrom: first }),
    /Cannot replay from 2026-03-02: no version before it exists/,
  );
  await ingestPath(lake, feeds, { replayFrom: "2026-03-12" });
  const manifest = await currentManifest(lake);
  assert.equal(manifest?.version, "2026-03-13.3");
});

test("a replay from a day after a replayed one is refused, because it would undo the correction", async (t) => {
  const lake = await copyOfTwelveDays(t);
  await ingestPath(lake, feeds, { replayFrom: "2026-03-12" });
  await assert.rejects(ingestPath(lake, feeds, { replayFrom: "2026-03-13" }), /2026-03-12, which was itself replayed/);
  await ingestPath(lake, feeds, { replayFrom: "2026-03-12" });
});

test("a writer removes no foreign file", async (t) => {
  const lake = await copyOfTwelveDays(t);
  const foreignFile = join(lake, "mine", "feed.parquet");
  await mkdir(dirname(foreignFile));
  await writeFile(foreignFile, "not of the lake");
  await withWriter(lake, {}, (writer) => vacuum(writer, policy, Date.now() + 2 * hourMs, hourMs));
  assert.equal(await readFile(foreignFile, "utf8"), "not of the lake");
});

test("a lake without CURRENT is reported as damaged, not treated as empty", async (t) => {
  const lake = await copyOfTwelveDays(t);
  await rm(join(lake, "CURRENT"));
  await assert.rejects(ingestPath(lake, feeds), /CURRENT is missing/);
  assert.equal((await versionsIn(lake)).length, 12);
});
