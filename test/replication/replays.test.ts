/** Replays of days, on a lake that follows another one and on that other one. */
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { replaceFile } from "../../src/base/files.ts";
import { vacuum } from "../../src/lake/maintenance/vacuum.ts";
import { type LakeFile, type Manifest, manifestPath, manifestText } from "../../src/lake/manifest.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { verifyServingFiles } from "../../src/serving/files/verify-serving-files.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { ingestPath, temporaryFolder } from "../support/lakes/lakes.ts";
import { createLakeOfSevenDays, sevenDays } from "../support/lakes/seven-days.ts";
import { createTestFollower } from "../support/replication/followers.ts";
import {
  assertEqualLakes,
  copyOf,
  manifestOf,
  newLake,
  rewriteManifest,
} from "../support/replication/published-lakes.ts";
import { fileScope } from "../support/scope.ts";

const first = sevenDays[0] ?? "";
const day = sevenDays[5] ?? "";
const last = sevenDays[6] ?? "";
const { lake: before, feeds } = await createLakeOfSevenDays(fileScope);

test("a replay on a followed lake is refused if no version before its day exists, and drops no earlier day", async (scope) => {
  const lake = await newLake(scope);
  await createTestFollower(before, lake, { buildsServingFiles: false }).follow();
  const { version } = await manifestOf(lake);
  await assert.rejects(ingestPath(lake, feeds, { replayFrom: last }), {
    name: "UserError",
    message: /^Cannot replay from 2026-04-05: no version before it exists; expected a day after 2026-04-05\.$/,
  });
  assert.equal((await manifestOf(lake)).version, version);
});

test("a replay of the first day that a vacuum has left on the source is refused on a followed lake", async (scope) => {
  const source = await copyOf(scope, before);
  await withWriter(source, {}, (writer) => vacuum(writer, { months: 1, versionDays: 14 }, Date.now(), 0));
  const { tables, days } = await manifestOf(source);
  const [firstLeft = ""] = Object.keys(days);
  for (const isWithoutPartitions of [false, true]) {
    const lake = await newLake(scope);
    await createTestFollower(source, lake, { buildsServingFiles: false }).follow();
    const ofMonth = (file: LakeFile): boolean => file.partition === null || file.partition >= "2026-04";
    const left = { ...tables, absent: tables.absent.filter(ofMonth), sold: tables.sold.filter(ofMonth) };
    if (isWithoutPartitions) await rewriteManifest(lake, { tables: left });
    await assert.rejects(ingestPath(lake, feeds, { replayFrom: firstLeft }), {
      name: "UserError",
      message: /^Cannot replay from 2026-04-01: no version before it exists; expected a day after 2026-04-05\.$/,
    });
    assert.deepEqual((await manifestOf(lake)).days, days);
  }
});

test("a replay of the first day of all is taken on a followed lake", async (scope) => {
  const lake = await newLake(scope);
  await createTestFollower(before, lake, { buildsServingFiles: false }).follow();
  await ingestPath(lake, feeds, { replayFrom: first, hasServingFiles: false });
  assert.deepEqual((await manifestOf(lake)).days, (await manifestOf(before)).days);
});

test("a follower that skips versions of replays records the longest one, or one of all days if the source has no manifest of one", async (scope) => {
  const source = await copyOf(scope, before);
  const next = plusDays(last, 1);
  const inventory = [{ vin: vinOf(1), dealer_id: dealerIdOf(1) }];
  for (const replayFrom of [last, day]) await ingestPath(source, feeds, { replayFrom, hasServingFiles: false });
  const later = await writeFeeds(await temporaryFolder(scope), next, { inventory });
  await ingestPath(source, later, { hasServingFiles: false });
  await ingestPath(source, later, { replayFrom: next, hasServingFiles: false });
  const replayedFrom = async (): Promise<string | undefined> => {
    const lake = await copyOf(scope, before);
    await createTestFollower(source, lake, { buildsServingFiles: false }).follow();
    await assertEqualLakes(lake, source);
    return (await manifestOf(lake)).replayed_from;
  };
  assert.equal(await replayedFrom(), day);
  await rm(manifestPath(source, (await manifestOf(source)).previous ?? ""));
  assert.equal(await replayedFrom(), first);
});

test("a follower reads 100 skipped versions; beyond them, all days count as replayed, however many a source invents", async (scope) => {
  const source = await copyOf(scope, before);
  const { serving: _, ...published } = await manifestOf(source);
  const { as_of, sequence } = published;
  for (let skipped = 0; skipped <= 102; skipped += 1) {
    const [previous, version] = [sequence + skipped, sequence + skipped + 1].map((number) => `${as_of}.${number}`);
    const replay = skipped === 0 ? { replayed_from: day } : {};
    const manifest = { ...published, version, sequence: sequence + skipped + 1, previous, ...replay, serving: [] };
    await writeFile(manifestPath(source, String(version)), manifestText(manifest as unknown as Manifest));
    if (skipped < 100) continue;
    await replaceFile(join(source, "CURRENT"), `${version}\n`);
    const lake = await copyOf(scope, before);
    await createTestFollower(source, lake, { buildsServingFiles: false }).follow();
    assert.equal((await manifestOf(lake)).replayed_from, skipped === 100 ? day : first);
  }
});

test("after a replay that corrects a new dealer, a follower answers from the new search index", async (scope) => {
  const source = await copyOf(scope, before);
  const next = plusDays(last, 1);
  const dealer_id = dealerIdOf(2);
  const feedsOf = async (type: string): Promise<string> =>
    writeFeeds(await temporaryFolder(scope), next, {
      dealers: [{ dealer_id, name: "South", type }],
      inventory: [{ vin: vinOf(30), dealer_id, make: "Ford", price: 20_000 }],
    });
  await ingestPath(source, await feedsOf("independent"));
  const lake = await copyOf(scope, source);
  await ingestPath(source, await feedsOf("franchise"), { replayFrom: next });
  await createTestFollower(source, lake).follow();
  await assertEqualLakes(lake, source);
  assert.deepEqual(await verifyServingFiles(lake, await manifestOf(lake), { threads: 1 }, () => undefined), []);
});
