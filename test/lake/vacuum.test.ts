/** Retention of months and versions, and replays. */
import assert from "node:assert/strict";
import { mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { firstKeptMonth, removeOldVersions, vacuum } from "../../src/lake/maintenance/vacuum.ts";
import { verify } from "../../src/lake/maintenance/verify.ts";
import {
  compareVersions,
  currentManifest,
  manifestPath,
  manifestText,
  readManifest,
  versionsIn,
} from "../../src/lake/manifest.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { contentKeyOf, neededFiles, usableFiles } from "../../src/serving/files/serving-parts.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import { carquetHere } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { hashLakeFiles } from "../support/lakes/contents.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { ingestPath, queryLake, temporaryCopy, temporaryFolder } from "../support/lakes/lakes.ts";
import { createLakeOfSevenDays, sevenDays } from "../support/lakes/seven-days.ts";
import { fileScope, onScopeEnd, type Scope } from "../support/scope.ts";

const days = sevenDays;
const last = days.at(-1) ?? "";
const beforeLast = days.at(-2) ?? "";
const policy = { months: 1, versionDays: 2 };
const hourMs = 3_600_000;

const { lake: original, feeds } = await createLakeOfSevenDays(fileScope);

const copyOfSevenDays = (scope: Scope): Promise<string> => temporaryCopy(scope, original);

test("retention keeps whole months, that of the published day included, and by default all", () => {
  const firstOf = (months?: number): string | undefined => firstKeptMonth("2026-03-07", { months, versionDays: 0 });
  assert.deepEqual([1, 2, 3, 4, 15].map(firstOf), ["2026-03", "2026-02", "2026-01", "2025-12", "2025-01"]);
  assert.equal(firstOf(), undefined);
});

test("vacuum removes expired months and versions, and leaves the rest unchanged", async (t) => {
  const lake = await copyOfSevenDays(t);
  const before = await queryLake(lake, "FROM active ORDER BY vin");
  const result = await withWriter(lake, {}, (writer) =>
    vacuum(writer, { ...policy, versionDays: 0 }, Date.now() + 2 * hourMs, hourMs),
  );
  const manifest = await currentManifest(lake);
  assert.ok(manifest !== undefined);
  assert.deepEqual(Object.keys(manifest.days)[0], "2026-04-01");
  assert.deepEqual(result.days, days.slice(0, 2));
  const months = Object.values(manifest.tables).flatMap((files) => files.map(({ partition }) => partition));
  assert.ok(!months.includes("2026-03") && months.includes("2026-04"), months.join());
  assert.ok(result.versions.length > 5 && result.files > 10, JSON.stringify(result));
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

test("a version is removed when it is older than the kept days, and was superseded for the grace period, to the day and the millisecond", async (t) => {
  const lake = await copyOfSevenDays(t);
  const published = (await currentManifest(lake)) ?? assert.fail();
  const atSeconds = 1_800_000_000;
  for (const version of await versionsIn(lake)) await utimes(manifestPath(lake, version), atSeconds, atSeconds);
  const removedAt = (nowMs: number) => removeOldVersions(lake, published, { versionDays: 4, nowMs, graceMs: hourMs });
  const graceEndMs = atSeconds * 1000 + hourMs;
  assert.deepEqual(await removedAt(graceEndMs - 1), []);
  const [newest = ""] = await removedAt(graceEndMs);
  assert.ok(newest.startsWith(plusDays(published.as_of, -4)), newest);
});

test("with an expired version, all before it are removed, also one whose next manifest is newer", async (t) => {
  const lake = await copyOfSevenDays(t);
  const published = (await currentManifest(lake)) ?? assert.fail();
  const versions = [...(await versionsIn(lake))].sort(compareVersions);
  // The second manifest has been copied just now.
  for (const [index, version] of versions.entries())
    await utimes(manifestPath(lake, version), index === 1 ? 2_000 : 1_000, index === 1 ? 2_000 : 1_000);
  const removed = await removeOldVersions(lake, published, { versionDays: 4, nowMs: 2_000_000, graceMs: hourMs / 10 });
  assert.deepEqual(removed, versions.slice(0, 3).toReversed());
});

test("the version that a vacuum publishes has a search index of the closed months that are left", async (t) => {
  const lake = await copyOfSevenDays(t);
  // A third month: two are closed, and one of them is left.
  const vin = vinOf(1);
  const inventory = [{ vin, dealer_id: dealerIdOf(1), make: "Ford", price: 20_000 }];
  await ingestPath(lake, await writeFeeds(await temporaryFolder(t), "2026-05-01", { inventory }));
  await carquetHere(["vacuum", "--lake", lake, "--months", "2"]);
  const manifest = (await currentManifest(lake)) ?? assert.fail();
  assert.deepEqual([manifest.version, Object.keys(manifest.days)[0]], ["2026-05-01.2", "2026-04-01"]);
  const needed = neededFiles(manifest);
  assert.ok(needed.some(({ part }) => part === "search index of 2026-04"));
  assert.deepEqual(usableFiles(manifest).map(contentKeyOf), needed.map(contentKeyOf));
});

test("an open version keeps its files until the grace period ends", async (t) => {
  const lake = await copyOfSevenDays(t);
  const published = await currentManifest(lake);
  assert.ok(published !== undefined);
  const version = await LakeVersion.open(lake, published.version);
  onScopeEnd(t, async () => version.close());
  await withWriter(lake, {}, (writer) => vacuum(writer, { ...policy, versionDays: 0 }, Date.now(), hourMs));
  assert.ok((await versionsIn(lake)).includes(published.version));
  for (const [day, rows] of Object.entries(published.days)) {
    const { total } = await version.activeOn(day).findPage({
      filters: [],
      order: { by: "sort", sort: "price" },
      limit: 1,
      offset: 0,
    });
    assert.equal(total, rows);
  }
});

test("a replay goes back as far as versions are kept, and is refused beyond", async (t) => {
  const lake = await copyOfSevenDays(t);
  await withWriter(lake, {}, (writer) =>
    vacuum(writer, { ...policy, versionDays: 4 }, Date.now() + 2 * hourMs, hourMs),
  );
  await assert.rejects(
    ingestPath(lake, feeds, { replayFrom: days[0] ?? "" }),
    /Cannot replay from 2026-03-30: no version before it exists/,
  );
  await ingestPath(lake, feeds, { replayFrom: beforeLast, hasServingFiles: false });
  const manifest = await currentManifest(lake);
  assert.equal(manifest?.version, `${last}.3`);
});

test("a replay from a day after a replayed one is refused, because it would undo the correction", {
  skip: skipInShortRun,
}, async (t) => {
  const lake = await copyOfSevenDays(t);
  await ingestPath(lake, feeds, { replayFrom: beforeLast, hasServingFiles: false });
  await assert.rejects(ingestPath(lake, feeds, { replayFrom: last }), /2026-04-04, which was itself replayed/);
  await ingestPath(lake, feeds, { replayFrom: beforeLast, hasServingFiles: false });
});

test("a writer removes no foreign file", async (t) => {
  const lake = await copyOfSevenDays(t);
  const foreignFile = join(lake, "mine", "feed.parquet");
  await mkdir(dirname(foreignFile));
  await writeFile(foreignFile, "not of the lake");
  await withWriter(lake, {}, (writer) => vacuum(writer, policy, Date.now() + 2 * hourMs, hourMs));
  assert.equal(await readFile(foreignFile, "utf8"), "not of the lake");
});

test("a lake without CURRENT is reported as damaged, not treated as empty", async (t) => {
  const lake = await copyOfSevenDays(t);
  await rm(join(lake, "CURRENT"));
  await assert.rejects(ingestPath(lake, feeds), /CURRENT is missing/);
  assert.equal((await versionsIn(lake)).length, 7);
});

test("a lake that lost CURRENT and current is reported as damaged if it has several manifests, each as of a first day", async (t) => {
  const lake = await copyOfSevenDays(t);
  for (const name of ["CURRENT", "current"]) await rm(join(lake, name));
  for (const version of await versionsIn(lake)) {
    const manifest = await readManifest(lake, version);
    await writeFile(manifestPath(lake, version), manifestText({ ...manifest, previous: null, days: {} }));
  }
  const before = await hashLakeFiles(lake);
  await assert.rejects(ingestPath(lake, feeds), /CURRENT is missing/);
  assert.deepEqual(await hashLakeFiles(lake), before);
});

test("a lake without CURRENT that has one manifest is reported as damaged, not treated as empty", async (t) => {
  const lake = await copyOfSevenDays(t);
  await withWriter(lake, {}, (writer) => vacuum(writer, { versionDays: 1 }, Date.now() + 2 * hourMs, hourMs));
  await rm(join(lake, "CURRENT"));
  const before = await hashLakeFiles(lake);
  await assert.rejects(ingestPath(lake, feeds), /CURRENT is missing/);
  assert.deepEqual(await hashLakeFiles(lake), before);
});
