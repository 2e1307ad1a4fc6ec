/** The campaign `life`: many random markets, each compared day by day with what the oracle tells of the same feeds. */

import type { LifeMarketExtent } from "../life/feeds.ts";
import { type Lived, liveAgain, liveThrough } from "../life/trial.ts";
import { Chance } from "../oracle/random-market/chance.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

/** Every so many markets a long one, and every so many one that is ingested twice and replayed. */
const longEvery = 8;
const againEvery = 5;

export default {
  describe: "random markets live as a plain telling of their days does, twice the same, and again in a replay",
  draws: 40,
  async run({ seed, draws }) {
    const chance = new Chance(seed);
    let total: Partial<Lived> = {};
    for (let draw = 1; draw <= draws; draw += 1) {
      const extent = randomExtent(chance, draw % longEvery === 0);
      const live = draw % againEvery === 0 ? liveAgain : liveThrough;
      total = added(total, await withScope((scope) => live(scope, extent)));
    }
    const { days, active, missing, sold, superseded, expired, collapsed } = total;
    return (
      `${draws} markets agree: ${days} days, ${active} active listings compared, ${missing} became missing, ` +
      `${sold} sold, ${superseded} moved, ${expired} missing for too long, ${collapsed} feeds not believed`
    );
  },
} satisfies Campaign;

function randomExtent(chance: Chance, isLong: boolean): LifeMarketExtent {
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

function added(
  total: Partial<Lived>,
  { days, active, missing, sold, superseded, expired, collapsed }: Lived,
): Partial<Lived> {
  const more = { days, active, missing, sold, superseded, expired, collapsed };
  return Object.fromEntries(
    Object.entries(more).map(([what, count]) => [what, (total[what as keyof Lived] ?? 0) + count]),
  );
}
