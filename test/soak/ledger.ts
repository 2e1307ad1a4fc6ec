/** The campaign `ledger`: random sequences of operations, against a model that counts anew. */
import { runSequence } from "../ledger/sequence.ts";
import { Chance } from "../oracle/random-market/chance.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "random sequences of 100 operations leave what a plain re-counting of all that was posted leaves",
  draws: 2000,
  async run({ seed, draws }) {
    let charges = 0;
    for (let draw = 0; draw < draws; draw += 1)
      charges += await withScope(async (scope) =>
        runSequence(await temporaryFolder(scope), new Chance(seed * 1_000_003 + draw), 100),
      );
    return `${draws} sequences of 100 operations agree, ${charges} charges in them`;
  },
} satisfies Campaign;
