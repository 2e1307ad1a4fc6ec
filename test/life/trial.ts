/** A random market that is lived through twice: by a lake, and by the oracle. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Chance } from "../oracle/random-market/chance.ts";
import { deliver } from "../support/lakes/feeds.ts";
import { ingestPath, temporaryFolder } from "../support/lakes/lakes.ts";
import type { Scope } from "../support/scope.ts";
import { differencesAfterReplay, differencesBetween } from "./again.ts";
import { differencesFrom } from "./agree.ts";
import { type LifeMarketExtent, randomFeeds } from "./feeds.ts";
import { Oracle, type Told } from "./oracle.ts";

/** What a market had to offer, so that a run of markets in which nothing happens is noticed. */
export interface Lived {
  readonly days: number;
  /** Active listings, counted on each day. */
  readonly active: number;
  /** Listings that became missing. */
  readonly missing: number;
  readonly sold: number;
  /** Listings that moved to another owner. */
  readonly superseded: number;
  /** Listings that were missing for too long. */
  readonly expired: number;
  readonly collapsed: number;
  readonly priceChanges: number;
}

const differencesShown = 5;

/** Ingests a random market; fails with the first differences from what the oracle tells. */
export async function liveThrough(
  scope: Scope,
  extent: LifeMarketExtent,
): Promise<Lived & { readonly lake: string; readonly folder: string }> {
  const { folder, told } = await delivered(scope, extent);
  const lake = join(await temporaryFolder(scope), "lake");
  await ingestPath(lake, folder);
  expectNone(extent, await differencesFrom(lake, told));
  return { ...livedIn(told), lake, folder };
}

/** Ingests a market into two lakes, and replays one of them twice from the same random day; fails unless all bytes agree. */
export async function liveAgain(scope: Scope, extent: LifeMarketExtent): Promise<Lived> {
  const { folder, lake, ...lived } = await liveThrough(scope, extent);
  const other = join(await temporaryFolder(scope), "lake");
  await ingestPath(other, folder);
  expectNone(extent, await differencesBetween(lake, other));
  const from = new Chance(extent.seed).pick(randomFeeds(extent).map(({ day }) => day));
  for (const _ of ["once", "twice"]) expectNone(extent, await differencesAfterReplay(lake, folder, from));
  return lived;
}

/** Feeds of a random market in a folder, and what the oracle tells of each day. */
export async function delivered(
  scope: Scope,
  extent: LifeMarketExtent,
): Promise<{ readonly folder: string; readonly told: readonly Told[] }> {
  const folder = await temporaryFolder(scope);
  const oracle = new Oracle();
  const told: Told[] = [];
  for (const { day, feeds } of randomFeeds(extent)) {
    await deliver(folder, day, feeds);
    told.push(oracle.tell(day, feeds));
  }
  return { folder, told };
}

function expectNone(extent: LifeMarketExtent, differences: readonly string[]): void {
  if (differences.length === 0) return;
  const shown = differences.slice(0, differencesShown).join("\n");
  assert.fail(`${JSON.stringify(extent)}: ${differences.length} differences, the first of them:\n${shown}`);
}

function livedIn(told: readonly Told[]): Lived {
  const sum = (count: (one: Told) => number): number => told.reduce((total, one) => total + count(one), 0);
  const isExpired = ({ missingSince }: { readonly missingSince: string | null }, day: string): boolean =>
    missingSince !== null && Date.parse(day) - Date.parse(missingSince) >= 90 * 86_400_000;
  const expired = sum(({ day, ended }) => ended.filter((listing) => isExpired(listing, day)).length);
  return {
    days: told.length,
    active: sum(({ active }) => active.length),
    missing: sum(({ day, missing }) => missing.filter(({ missingSince }) => missingSince === day).length),
    sold: sum(({ sold }) => sold.length),
    superseded: sum(({ ended }) => ended.length) - expired,
    expired,
    collapsed: sum(({ verdicts }) => [...verdicts.values()].filter(({ verdict }) => verdict === "collapsed").length),
    priceChanges: told.at(-1)?.active.reduce((total, { priceHistory }) => total + priceHistory.length, 0) ?? 0,
  };
}
