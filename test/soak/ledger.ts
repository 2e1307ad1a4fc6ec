/** Campaign `ledger`: random operations on the ledger, compared with a model. */
import { runRandomOperations } from "../ledger/random-operations.ts";
import { Chance } from "../support/chance.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "random sequences of 100 operations match a model that recounts every entry",
  draws: 2000,
  async run({ seed, draws }) {
    let charges = 0;
    for (let draw = 0; draw < draws; draw += 1)
      charges += await withScope(async (scope) =>
        runRandomOperations(await temporaryFolder(scope), new Chance(seed * 1_000_003 + draw), 100),
      );
    return `${draws} sequences of 100 operations agree, ${charges} charges in them`;
  },
} satisfies Campaign;
