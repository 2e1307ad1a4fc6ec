/** Campaign `power`: simulated losses of power on recordings of a service that charges. */
import assert from "node:assert/strict";
import type { ChargeFlush } from "../../src/http/service/service-state.ts";
import { simulatePowerLosses } from "../ledger/power/power-loss.ts";
import { record } from "../ledger/power/recording.ts";
import { Chance } from "../support/chance.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe:
    "a loss of power at any moment keeps every answered charge but those of 100 ms; with --charge-flush=each, all",
  draws: 400,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { lake } = await createLake(scope);
      const runTrial = async (chargeFlush: ChargeFlush) => {
        const recording = await record(scope, { lake, chargeFlush, answers: 2000, clients: 8 });
        const writes = recording.events.filter(({ kind }) => kind === "written").length;
        const syncs = recording.events.filter(({ kind }) => kind === "syncEnds").length;
        const lost = await simulatePowerLosses(await temporaryFolder(scope), recording, new Chance(seed), draws);
        assert.equal(lost.broken, 0, `${chargeFlush}, ${lost.first}`);
        return { ...lost, writes, syncs };
      };
      const each = await runTrial("each");
      const interval = await runTrial("interval");
      assert.ok(each.answers > draws && each.lost === 0, `${each.lost} lost of ${each.answers}`);
      assert.ok(interval.lost > 0, "flushed at intervals, no charge was lost, so the simulation proves nothing");
      return (
        `each: ${each.losses} losses of power in ${each.writes} writes and ${each.syncs} syncs, ${each.answers} answers before them, none ` +
        `lost its charge; interval: ${interval.syncs} syncs, ${interval.lost} of ${interval.answers} answers lost their charge, all of 100 ms`
      );
    }),
} satisfies Campaign;
