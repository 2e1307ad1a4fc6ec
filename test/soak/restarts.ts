/** Campaign: rolling restarts. */
import { restartInTurn } from "../support/campaigns/rolling-restarts.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe:
    "two instances behind a proxy are restarted in turn while 8 keep-alive clients search, without a failed request",
  draws: 100,
  run: ({ draws }) =>
    withScope(async (scope) => {
      const { lake } = await createLake(scope);
      const { restarts, answers } = await restartInTurn(scope, { lake, clients: 8, restarts: draws });
      return `${restarts} restarts, ${answers} answers, 0 failed requests`;
    }),
} satisfies Campaign;
