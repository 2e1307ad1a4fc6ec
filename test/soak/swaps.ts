/** Campaign `swaps`: versions published while clients search. */

import { swapWhileServing } from "../support/campaigns/version-swaps.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe:
    "versions with and without serving files are published while 8 clients search, without a failed request or a mixed answer",
  draws: 100,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { answers, versionsSeen, openedWith, slowestAnswerMs, lastVersionServedMs } = await swapWhileServing(
        scope,
        {
          days: 2 * Math.ceil(draws / 2),
          clients: 8,
          seed,
        },
      );
      return (
        `${2 * Math.ceil(draws / 2)} versions published, ${answers} answers from ${versionsSeen} of them ` +
        `(${openedWith.index} with the index, ${openedWith.parquet} from Parquet), the slowest after ${Math.round(slowestAnswerMs)} ms; ` +
        `the last was served ${Math.round(lastVersionServedMs)} ms after it was published`
      );
    }),
} satisfies Campaign;
