/** The campaign `charges`: services that are killed while they charge. */
import { killServing } from "../ledger/kills.ts";
import { Chance } from "../oracle/random-market/chance.ts";
import { lakeOf } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "a service that is killed under load from 32 clients has charged each whole answer exactly once",
  draws: 200,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { lake } = await lakeOf(scope);
      const options = { lake, kills: draws, clients: 32, chance: new Chance(seed) };
      const { kills, whole, unanswered, refused } = await killServing(scope, options);
      return (
        `${kills} kills: ${whole} whole answers, each charged once; ${unanswered} charges of answers that were cut off by a kill; ` +
        `${refused} requests refused on the last cent; sums exact, files sound`
      );
    }),
} satisfies Campaign;
