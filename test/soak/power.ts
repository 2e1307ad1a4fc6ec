/** Campaign `power`: simulated losses of power on recordings of a service that charges. */
import assert from "node:assert/strict";
import type { Synchronous } from "../../src/db/sqlite.ts";
import { simulatePowerLosses } from "../ledger/power/power-loss.ts";
import { record } from "../ledger/power/recording.ts";
import { Chance } from "../support/chance.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "a loss of power at any moment keeps every answered charge; with synchronous=NORMAL it does not",
  draws: 400,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { lake } = await createLake(scope);
      const runTrial = async (synchronous: Synchronous) => {
        const recording = await record(scope, { lake, synchronous, answers: 2000, clients: 8 });
        const writes = recording.events.filter(({ kind }) => kind === "written").length;
        const syncs = recording.events.filter(({ kind }) => kind === "syncEnds").length;
        const lost = simulatePowerLosses(await temporaryFolder(scope), recording, new Chance(seed), draws);
        return { ...lost, writes, syncs };
      };
      const full = await runTrial("FULL");
      const normal = await runTrial("NORMAL");
      assert.equal(full.broken, 0, `synchronous=FULL, ${full.first}`);
      assert.ok(
        full.answers > draws && normal.broken > 0,
        "synchronous=NORMAL lost nothing, so the simulation proves nothing",
      );
      return (
        `FULL: ${full.losses} losses of power in ${full.writes} writes and ${full.syncs} syncs, ${full.answers} answers before them, none ` +
        `lost its charge; NORMAL: ${normal.syncs} syncs, ${normal.broken} of ${normal.losses} losses lost some, the first ${normal.first}`
      );
    }),
} satisfies Campaign;
