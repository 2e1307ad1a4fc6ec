/** Campaign `charges`: services killed while they charge. */
import { killServices } from "../ledger/service-kills.ts";
import { enginesHere } from "../support/accounts.ts";
import { Chance } from "../support/chance.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "a service killed under load from 32 clients charges each complete answer exactly once",
  draws: 200,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { lake } = await createLake(scope);
      const summaries: string[] = [];
      for (const engine of enginesHere) {
        const options = {
          lake,
          engine,
          kills: Math.ceil(draws / enginesHere.length),
          clients: 32,
          chance: new Chance(seed),
        };
        const { kills, complete, unanswered, refused } = await killServices(scope, options);
        summaries.push(
          `${kills} kills with ${engine}: ${complete} complete answers, each charged once; ${unanswered} charges whose answers a kill ` +
            `cut off; ${refused} requests refused on the last cent; sums exact`,
        );
      }
      return summaries.join("\n");
    }),
} satisfies Campaign;
