/** Campaign `life`: random feeds, ingested and compared day by day with the lifecycle oracle. */

import type { LifecycleExtent } from "../lifecycle/random-feeds.ts";
import { compareLifecycle, compareRepeatedIngests, type LifecycleSummary } from "../lifecycle/trial.ts";
import { Chance } from "../support/chance.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

/** One run in `longEvery` lasts for months; one in `repeatEvery` is ingested twice and replayed. */
const longEvery = 8;
const repeatEvery = 5;

export default {
  describe: "lakes of random feeds match the lifecycle oracle, are reproducible, and survive replays",
  draws: 40,
  async run({ seed, draws }) {
    const chance = new Chance(seed);
    let total: Partial<LifecycleSummary> = {};
    for (let draw = 1; draw <= draws; draw += 1) {
      const extent = randomExtent(chance, draw % longEvery === 0);
      const runOnce = draw % repeatEvery === 0 ? compareRepeatedIngests : compareLifecycle;
      total = sumSummaries(total, await withScope((scope) => runOnce(scope, extent)));
    }
    const { days, active, missing, sold, superseded, expired, collapsed } = total;
    return (
      `${draws} lakes agree: ${days} days, ${active} active listings compared, ${missing} became missing, ` +
      `${sold} sold, ${superseded} changed owner, ${expired} missing for too long, ${collapsed} collapsed feeds`
    );
  },
} satisfies Campaign;

function randomExtent(chance: Chance, isLong: boolean): LifecycleExtent {
  const seed = chance.integer(1, 2 ** 31);
  return isLong
    ? {
        seed,
        days: chance.integer(100, 140),
        dealers: 12,
        cars: 60,
        dayless: chance.pick([0.05, 0.5]),
        quiet: chance.pick([
          { from: 0, to: 0 },
          { from: 12, to: 91 },
        ]),
      }
    : {
        seed,
        days: 30,
        dealers: chance.integer(12, 30),
        cars: chance.integer(100, 400),
        dayless: chance.pick([0, 0.05, 0.3]),
      };
}

function sumSummaries(
  total: Partial<LifecycleSummary>,
  { days, active, missing, sold, superseded, expired, collapsed }: LifecycleSummary,
): Partial<LifecycleSummary> {
  const counts = { days, active, missing, sold, superseded, expired, collapsed };
  return Object.fromEntries(
    Object.entries(counts).map(([what, count]) => [what, (total[what as keyof LifecycleSummary] ?? 0) + count]),
  );
}
