/** Campaign `follow`: followers killed while they fetch a version from a server that fails. */
import { killFollowers } from "../support/campaigns/follow-kills.ts";
import { Chance } from "../support/chance.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "a follower killed at any moment leaves a whole version, and the next one completes it",
  draws: 200,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { kills, unfinished } = await killFollowers(scope, draws, new Chance(seed));
      return `${kills} kills, ${unfinished} before the new version was published; every lake whole, and completed afterwards`;
    }),
} satisfies Campaign;
