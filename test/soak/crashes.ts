/** Campaign `crashes`: replicas, PostgreSQL and the follower are killed or suspended while clients pay. */
import { crashKinds, crashReplicas } from "../support/campaigns/replica-crashes.ts";
import { Chance } from "../support/chance.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe:
    "replicas, PostgreSQL and the follower are killed or suspended while 16 clients pay for answers of 4 replicas behind nginx: each answer is " +
    "charged exactly once",
  draws: 100,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const chance = new Chance(seed);
      const crashes = Array.from(
        { length: draws },
        (_, draw) => crashKinds[draw % crashKinds.length] ?? "replica killed",
      );
      const { answers, unavailable, lost, unanswered, slowestRefusalMs } = await crashReplicas(scope, {
        crashes,
        replicas: 4,
        clients: 16,
        chance,
      });
      const kinds = crashKinds.map((kind) => `${kind}: ${crashes.filter((crash) => crash === kind).length}`);
      return (
        `${draws} crashes (${kinds.join(", ")}): ${answers} answers, each charged once; ${unavailable} requests refused, none charged, within ${Math.ceil(slowestRefusalMs)} ms while PostgreSQL hung; ` +
        `${lost} lost with killed replicas, ${unanswered} of them charged; the lake is whole`
      );
    }),
} satisfies Campaign;
