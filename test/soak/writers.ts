/** Campaigns of writers of a lake that are killed: `kills` and `follow`. */
import { killBatches } from "../support/campaigns/batch-kills.ts";
import { killFollowers } from "../support/campaigns/follow-kills.ts";
import { killIngests } from "../support/campaigns/ingest-kills.ts";
import { Chance } from "../support/chance.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export const kills = {
  describe:
    "an ingest of one day or many, killed at any moment, leaves a version intact, with its serving files, and is continued",
  draws: 200,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const survived = await killIngests({ folder: await temporaryFolder(scope), kills: draws, seed });
      const countByVersion = new Map<string, number>();
      for (const { version } of survived) countByVersion.set(version, (countByVersion.get(version) ?? 0) + 1);
      const counts = [...countByVersion].map(([version, times]) => `${times} times ${version}`);
      const batches = await killBatches(scope, { kills: Math.ceil(draws / 2), seed });
      const withPartialFiles = survived.filter(({ partialFiles: files }) => files > 0).length;
      return (
        `${survived.length} kills survived, serving ${counts.join(", ")} afterwards, the same from serving files and from Parquet; ` +
        `${withPartialFiles} of them left partial serving files, which the next writer removed; ${batches.kills} kills of ingests of many ` +
        `days survived, which left ${batches.versions.size} different days`
      );
    }),
} satisfies Campaign;

export const follow = {
  describe: "a follower killed at any moment leaves a whole version, and the next one completes it",
  draws: 200,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { kills, unfinished } = await killFollowers(scope, draws, new Chance(seed));
      return `${kills} kills, ${unfinished} before the new version was published; every lake whole, and completed afterwards`;
    }),
} satisfies Campaign;
