/** The campaign `hostile`: values that try to be something else than a value, for each parameter. */
import { Chance } from "../oracle/random-market/chance.ts";
import { hostileRequests, searching } from "../support/campaigns/hostile.ts";
import { outlast } from "../support/campaigns/outlasted.ts";
import { lakeOf } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import { serviceOf } from "../support/service.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "so many hostile values for each parameter are answered or refused, and nothing else",
  draws: 500,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { lake } = await lakeOf(scope);
      const client = await serviceOf(scope, lake);
      const counts: string[] = [];
      for (const operation of searching) {
        const requests = hostileRequests(new Chance(seed), operation, draws);
        const parameters = new Set(requests.map(({ parameter }) => parameter)).size;
        const { answered, refused } = await outlast(client, requests);
        counts.push(`${operation}: ${parameters} parameters, ${answered} answered, ${refused} refused`);
      }
      return counts.join("; ");
    }),
} satisfies Campaign;
