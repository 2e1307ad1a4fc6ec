/** Campaign `kills`: ingests killed at random moments. */
import { killIngests } from "../support/campaigns/ingest-kills.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "an ingest killed at any moment leaves the old or the new version intact, with its serving files",
  draws: 200,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const survived = await killIngests({ folder: await temporaryFolder(scope), kills: draws, seed });
      const countByVersion = new Map<string, number>();
      for (const { version } of survived) countByVersion.set(version, (countByVersion.get(version) ?? 0) + 1);
      const counts = [...countByVersion].map(([version, times]) => `${times} times ${version}`);
      const withPartialFiles = survived.filter(({ partialFiles: files }) => files > 0).length;
      return (
        `${survived.length} kills survived, serving ${counts.join(", ")} afterwards, the same from serving files and from Parquet; ` +
        `${withPartialFiles} of them left partial serving files, which the next writer removed`
      );
    }),
} satisfies Campaign;
