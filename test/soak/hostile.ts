/** Campaign `hostile`: hostile values for each parameter. */

import { sendHostileRequests } from "../support/campaigns/hostile-answers.ts";
import { hostileRequests, searchOperations } from "../support/campaigns/hostile-requests.ts";
import { Chance } from "../support/chance.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "hostile values for each parameter are answered or refused",
  draws: 500,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { lake } = await createLake(scope);
      const client = await startService(scope, lake);
      const counts: string[] = [];
      for (const operation of searchOperations) {
        const requests = hostileRequests(new Chance(seed), operation, draws);
        const parameters = new Set(requests.map(({ parameter }) => parameter)).size;
        const { answered, refused } = await sendHostileRequests(client, requests);
        counts.push(`${operation}: ${parameters} parameters, ${answered} answered, ${refused} refused`);
      }
      return counts.join("; ");
    }),
} satisfies Campaign;
