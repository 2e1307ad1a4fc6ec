/** The campaign `kills`: ingests that are killed at random moments. */
import { killIngests } from "../support/campaigns/kills.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe:
    "an ingest that is killed at any moment leaves the old version or the new one, whole, and its serving files",
  draws: 200,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const survived = await killIngests({ folder: await temporaryFolder(scope), kills: draws, seed });
      const left = new Map<string, number>();
      for (const { version } of survived) left.set(version, (left.get(version) ?? 0) + 1);
      const counts = [...left].map(([version, times]) => `${times} times ${version}`);
      const halfBuilt = survived.filter(({ halfBuilt: files }) => files > 0).length;
      return (
        `${survived.length} kills survived, serving ${counts.join(", ")} afterwards, alike from serving files and from Parquet; ` +
        `${halfBuilt} of them left half-built serving files, which the next writer removed`
      );
    }),
} satisfies Campaign;
