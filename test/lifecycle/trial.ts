/** Ingests random feeds and compares the lake with the oracle. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Chance } from "../support/chance.ts";
import { extentOf } from "../support/extent.ts";
import { writeFeeds } from "../support/lakes/feeds.ts";
import { ingestPath, temporaryFolder } from "../support/lakes/lakes.ts";
import type { Scope } from "../support/scope.ts";
import { differencesAfterReplay, differencesBetween } from "./byte-differences.ts";
import { evidenceDifferences } from "./evidence-differences.ts";
import { LifecycleOracle, type OracleDay } from "./oracle.ts";
import { type LifecycleExtent, randomLifecycleFeeds } from "./random-feeds.ts";
import { differencesFrom } from "./row-differences.ts";

/** Counts of events, so that a run without events is noticed. */
export interface LifecycleSummary {
  readonly days: number;
  /** Active listings, summed over all days. */
  readonly active: number;
  /** Listings that became missing. */
  readonly missing: number;
  readonly sold: number;
  /** Listings that changed owner. */
  readonly superseded: number;
  /** Listings that were missing for too long. */
  readonly expired: number;
  readonly collapsed: number;
  readonly priceChanges: number;
}

const differencesShown = 5;

/** How many VINs of a trial are explained: each takes statements. */
const explainedVinsMax = extentOf(8, 200);

/** Ingests random feeds; fails with the first differences of the lake, and of the evidence about its VINs, from the oracle. */
export async function compareLifecycle(
  scope: Scope,
  extent: LifecycleExtent,
): Promise<LifecycleSummary & { readonly lake: string; readonly folder: string }> {
  const { folder, expectedDays } = await writeLifecycleFeeds(scope, extent);
  const lake = join(await temporaryFolder(scope), "lake");
  await ingestPath(lake, folder);
  assertNoDifferences(extent, await differencesFrom(lake, expectedDays));
  const feeds = new Map(randomLifecycleFeeds(extent).map((delivery) => [delivery.day, delivery.feeds]));
  assertNoDifferences(extent, await evidenceDifferences(lake, expectedDays, feeds, explainedVinsMax));
  return { ...summarize(expectedDays), lake, folder };
}

/** Ingests the feeds into two lakes and replays one of them twice from a random day; fails unless all bytes agree. */
export async function compareRepeatedIngests(scope: Scope, extent: LifecycleExtent): Promise<LifecycleSummary> {
  const { folder, lake, ...summary } = await compareLifecycle(scope, extent);
  const other = join(await temporaryFolder(scope), "lake");
  await ingestPath(other, folder);
  assertNoDifferences(extent, await differencesBetween(lake, other));
  const from = new Chance(extent.seed).pick(randomLifecycleFeeds(extent).map(({ day }) => day));
  for (const _ of ["once", "twice"]) assertNoDifferences(extent, await differencesAfterReplay(lake, folder, from));
  return summary;
}

/** Writes random feeds into a folder; returns it with the oracle's days. */
export async function writeLifecycleFeeds(
  scope: Scope,
  extent: LifecycleExtent,
): Promise<{ readonly folder: string; readonly expectedDays: readonly OracleDay[] }> {
  const folder = await temporaryFolder(scope);
  const oracle = new LifecycleOracle();
  const expectedDays: OracleDay[] = [];
  for (const { day, feeds } of randomLifecycleFeeds(extent)) {
    await writeFeeds(folder, day, feeds);
    expectedDays.push(oracle.advance(day, feeds));
  }
  return { folder, expectedDays };
}

function assertNoDifferences(extent: LifecycleExtent, differences: readonly string[]): void {
  if (differences.length === 0) return;
  const shown = differences.slice(0, differencesShown).join("\n");
  assert.fail(`${JSON.stringify(extent)}: ${differences.length} differences, the first:\n${shown}`);
}

function summarize(expectedDays: readonly OracleDay[]): LifecycleSummary {
  const sum = (count: (oracleDay: OracleDay) => number): number =>
    expectedDays.reduce((total, oracleDay) => total + count(oracleDay), 0);
  const isExpired = ({ missingSince }: { readonly missingSince: string | null }, day: string): boolean =>
    missingSince !== null && Date.parse(day) - Date.parse(missingSince) >= 90 * 86_400_000;
  const expired = sum(({ day, ended }) => ended.filter((listing) => isExpired(listing, day)).length);
  return {
    days: expectedDays.length,
    active: sum(({ active }) => active.length),
    missing: sum(({ day, missing }) => missing.filter(({ missingSince }) => missingSince === day).length),
    sold: sum(({ sold }) => sold.length),
    superseded: sum(({ ended }) => ended.length) - expired,
    expired,
    collapsed: sum(({ verdicts }) => [...verdicts.values()].filter(({ verdict }) => verdict === "collapsed").length),
    priceChanges: expectedDays.at(-1)?.active.reduce((total, { priceHistory }) => total + priceHistory.length, 0) ?? 0,
  };
}
