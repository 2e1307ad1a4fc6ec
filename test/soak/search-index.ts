/** Campaign `index`: random requests, each answered in three ways. */

import {
  compareFewValues,
  compareGrowingLake,
  compareRealLake,
  compareRespelledLake,
  compareSample,
  compareVariedLake,
  sumResults,
  type TrialResult,
} from "../oracle/compare/trials.ts";
import { Chance } from "../support/chance.ts";
import { skipWithoutRealCsv } from "../support/lakes/feeds.ts";
import type { Campaign } from "./campaign.ts";

/** Maximum number of requests to one lake. */
const drawsPerLakeMax = 1000;

/** Kinds of lakes, with their share of the draws. */
const kinds: readonly {
  readonly shares: number;
  readonly compare: (chance: Chance, draws: number) => Promise<TrialResult>;
}[] = [
  {
    shares: 4,
    compare: (chance, draws) =>
      chance.happens(0.3)
        ? compareVariedLake({ seed: randomSeed(chance), draws, days: 3, cars: 6000 })
        : compareVariedLake({
            seed: randomSeed(chance),
            draws,
            days: chance.integer(4, 16),
            cars: chance.integer(100, 1200),
          }),
  },
  {
    shares: 3,
    compare: (chance, draws) =>
      compareGrowingLake({
        seed: randomSeed(chance),
        draws,
        days: chance.integer(4, 10),
        cars: chance.integer(100, 800),
      }),
  },
  {
    shares: 1,
    compare: (chance, draws) =>
      compareRespelledLake({
        seed: randomSeed(chance),
        draws,
        days: chance.integer(2, 6),
        cars: chance.integer(100, 800),
      }),
  },
  { shares: 1, compare: (chance, draws) => compareFewValues({ seed: randomSeed(chance), draws }) },
  { shares: 1, compare: (chance, draws) => compareSample({ seed: randomSeed(chance), draws }) },
  ...(skipWithoutRealCsv === false
    ? [{ shares: 2, compare: (chance: Chance, draws: number) => compareRealLake({ seed: randomSeed(chance), draws }) }]
    : []),
];

const randomSeed = (chance: Chance): number => chance.integer(1, 2 ** 30);

export default {
  describe: "the search index and row store, the Parquet files and the oracle answer random requests alike",
  draws: 10_000,
  async run({ seed, draws }) {
    const chance = new Chance(seed);
    const shares = kinds.reduce((sum, kind) => sum + kind.shares, 0);
    const outcomes: TrialResult[] = [];
    for (const kind of kinds) {
      let remaining = Math.ceil((draws * kind.shares) / shares);
      for (; remaining > 0; remaining -= drawsPerLakeMax)
        outcomes.push(await kind.compare(chance, Math.min(remaining, drawsPerLakeMax)));
    }
    const { requests, found, refused, compared, versions, lookUps, parameters } = sumResults(outcomes);
    return (
      `${requests} requests with ${parameters.size} parameters to ${versions} versions agree in three ways, ${found} of them found ` +
      `something, ${refused} refused, ${compared} listings and buckets compared; ${lookUps} look-ups agree`
    );
  },
} satisfies Campaign;
