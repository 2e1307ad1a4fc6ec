/** Campaigns of services under load that are killed, restarted or replaced: `charges`, `crashes`, `restarts` and `upgrade`. */
import { killServices } from "../ledger/service-kills.ts";
import { enginesHere } from "../support/accounts.ts";
import { crashKinds, crashReplicas } from "../support/campaigns/replica-crashes.ts";
import { restartInTurn } from "../support/campaigns/rolling-restarts.ts";
import { upgradeInTurn } from "../support/campaigns/rolling-upgrade.ts";
import { Chance } from "../support/chance.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export const charges = {
  describe: "a service killed under load from 32 clients charges each complete answer exactly once",
  draws: 1000,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { lake } = await createLake(scope);
      const summaries: string[] = [];
      for (const engine of enginesHere) {
        const options = {
          lake,
          engine,
          kills: Math.ceil(draws / enginesHere.length),
          clients: 32,
          chance: new Chance(seed),
        };
        const { kills, complete, unanswered, refused } = await killServices(scope, options);
        summaries.push(
          `${kills} kills with ${engine}: ${complete} complete answers, each charged once; ${unanswered} charges whose answers a kill ` +
            `cut off; ${refused} requests refused on the last cent; sums exact`,
        );
      }
      return summaries.join("\n");
    }),
} satisfies Campaign;

export const crashes = {
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

export const restarts = {
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

const upgradeOptions = { replicas: 4, replaced: 4, publishes: true, clients: 16 } as const;

export const upgrade = {
  describe:
    "4 replicas behind nginx are replaced by a release with a newer accounts schema, and the lake is published again, while 16 clients pay: " +
    "no failed request, each answer charged exactly once",
  draws: 10,
  async run({ seed, draws }) {
    const chance = new Chance(seed);
    let answers = 0;
    let old = 0;
    let next = 0;
    for (let draw = 0; draw < draws; draw += 1) {
      const summary = await withScope((scope) => upgradeInTurn(scope, { ...upgradeOptions, chance }));
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
