/** Campaign `ledger`: random operations on the ledger, compared with a model. */
import { runRandomOperations } from "../ledger/random-operations.ts";
import { type AccountsEngine, enginesHere, unusedLocation } from "../support/accounts.ts";
import { Chance } from "../support/chance.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

/** Every tenth sequence is one of PostgreSQL, where it takes longer. */
const engineOf = (draw: number): AccountsEngine => (draw % 10 === 9 ? (enginesHere.at(-1) ?? "SQLite") : "SQLite");

export default {
  describe: "random sequences of 100 operations match a model that recounts every entry",
  draws: 2000,
  async run({ seed, draws }) {
    let charges = 0;
    for (let draw = 0; draw < draws; draw += 1)
      charges += await withScope(async (scope) =>
        runRandomOperations(await unusedLocation(scope, engineOf(draw)), new Chance(seed * 1_000_003 + draw), 100),
      );
    return `${draws} sequences of 100 operations agree, ${charges} charges in them`;
  },
} satisfies Campaign;
