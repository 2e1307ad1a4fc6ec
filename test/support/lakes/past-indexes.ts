/** Indexes of past days for tests, built in this process: a process for each would take longer than the build. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { currentManifest, type Manifest } from "../../../src/lake/manifest.ts";
import { soldHistory } from "../../../src/listing/source.ts";
import { buildPastIndex } from "../../../src/serving/past/build-past-index.ts";
import { IndexCache } from "../../../src/serving/past/index-cache.ts";
import { PastIndexes, type PastIndexSettings } from "../../../src/serving/past/past-indexes.ts";
import { pastSourceOf } from "../../../src/serving/past/past-source.ts";
import { eventually } from "../command-line.ts";
import { extentOf } from "../extent.ts";
import { onScopeEnd, type Scope } from "../scope.ts";
import { temporaryFolder } from "./lakes.ts";

/** Every so many past days have an index; the others are read from Parquet. */
const indexedEvery = extentOf(4, 1);

/** Builds indexes of past days and of the sold history of the published version, or of given names. Returns settings that pin them. */
export async function storePastIndexes(
  scope: Scope,
  lake: string,
  names?: readonly string[],
): Promise<PastIndexSettings> {
  const folder = join(await temporaryFolder(scope), "past-indexes");
  const manifest = (await currentManifest(lake)) ?? assert.fail(`nothing is published in ${lake}`);
  const pinned = names ?? pastNamesOf(manifest);
  const cache = await IndexCache.open(folder);
  for (const name of pinned) {
    const { key, version } = pastSourceOf(manifest, name);
    const unfinished = await cache.createUnfinished(key);
    await buildPastIndex({ lake, version, name, folder: unfinished });
    await cache.add(unfinished, key);
  }
  return { folder, pinned, bytesMost: 2 ** 30, requestsMin: 0 };
}

function pastNamesOf({ tables, as_of }: Manifest): readonly string[] {
  const days = [...new Set(tables.snapshots.map(({ partition }) => partition ?? ""))].filter((day) => day !== as_of);
  const indexed = days.filter((_, place) => place % indexedEvery === 0);
  return tables.sold.length === 0 ? indexed : [...indexed, soldHistory];
}

export interface OpenPastIndexes {
  readonly pastIndexes: PastIndexes | undefined;
  /** Resolves when a number of versions use all indexes. */
  usedBy(versions: number): Promise<void>;
}

/** Opens indexes as `storePastIndexes` builds them, until the scope ends. Calls `onFault` when one cannot be used. */
export async function openPastIndexes(
  scope: Scope,
  lake: string,
  onFault: (message: string) => void,
): Promise<OpenPastIndexes> {
  const settings = await storePastIndexes(scope, lake);
  let used = 0;
  const pastIndexes = await PastIndexes.open({
    ...{ ...settings, lake },
    onEvent: ({ what, ...event }) => {
      if (what === "in use") used += 1;
      else onFault(`past index ${what}: ${JSON.stringify(event)}`);
    },
  });
  onScopeEnd(scope, async () => pastIndexes?.stop());
  const usedBy = (versions: number): Promise<void> =>
    eventually("past indexes in use", async () => used >= versions * settings.pinned.length, 60_000);
  return { pastIndexes, usedBy };
}
