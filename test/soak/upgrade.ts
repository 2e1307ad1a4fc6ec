/** Campaign `upgrade`: four replicas are replaced by the next release under load. */
import { upgradeInTurn } from "../support/campaigns/rolling-upgrade.ts";
import { Chance } from "../support/chance.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

const options = { replicas: 4, replaced: 4, publishes: true, clients: 16 } as const;

export default {
  describe:
    "4 replicas behind nginx are replaced by a release with a newer accounts schema, and the lake is published anew, while 16 clients pay: " +
    "no failed request, each answer charged exactly once",
  draws: 10,
  async run({ seed, draws }) {
    const chance = new Chance(seed);
    let [answers, old, next] = [0, 0, 0];
    for (let draw = 0; draw < draws; draw += 1) {
      const summary = await withScope((scope) => upgradeInTurn(scope, { ...options, chance }));
      answers += summary.answers;
      old += summary.chargedByOld;
      next += summary.chargedByNext;
    }
    return (
      `${draws} upgrades: ${answers} answers, 0 failed requests, each charged once; on the newer schema, ${old} charges by the release ` +
      `before and ${next} by the next one`
    );
  },
} satisfies Campaign;
