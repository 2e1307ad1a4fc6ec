/** The campaign `index`: random requests, each answered in three ways. */

import {
  askGrown,
  askReal,
  askRespelled,
  askSample,
  askVaried,
  hasReal,
  sumOf,
  type TrialResult,
} from "../oracle/compare/index-trials.ts";
import { Chance } from "../oracle/random-market/chance.ts";
import type { Campaign } from "./campaign.ts";

/** The largest number of requests to one market. */
const drawsPerMarketMost = 1000;

/** What is asked, and how many shares of the draws it has. */
const kinds: readonly {
  readonly shares: number;
  readonly ask: (chance: Chance, draws: number) => Promise<TrialResult>;
}[] = [
  {
    shares: 4,
    ask: (chance, draws) =>
      chance.happens(0.3)
        ? askVaried({ seed: seedFrom(chance), draws, days: 3, cars: 6000 })
        : askVaried({ seed: seedFrom(chance), draws, days: chance.integer(4, 16), cars: chance.integer(100, 1200) }),
  },
  {
    shares: 3,
    ask: (chance, draws) =>
      askGrown({ seed: seedFrom(chance), draws, days: chance.integer(4, 10), cars: chance.integer(100, 800) }),
  },
  {
    shares: 1,
    ask: (chance, draws) =>
      askRespelled({ seed: seedFrom(chance), draws, days: chance.integer(2, 6), cars: chance.integer(100, 800) }),
  },
  { shares: 1, ask: (chance, draws) => askSample({ seed: seedFrom(chance), draws }) },
  ...(hasReal
    ? [{ shares: 2, ask: (chance: Chance, draws: number) => askReal({ seed: seedFrom(chance), draws }) }]
    : []),
];

const seedFrom = (chance: Chance): number => chance.integer(1, 2 ** 30);

export default {
  describe: "the search index and row store, the Parquet files and a plain search answer random requests alike",
  draws: 10_000,
  async run({ seed, draws }) {
    const chance = new Chance(seed);
    const shares = kinds.reduce((sum, kind) => sum + kind.shares, 0);
    const outcomes: TrialResult[] = [];
    for (const kind of kinds) {
      let left = Math.ceil((draws * kind.shares) / shares);
      for (; left > 0; left -= drawsPerMarketMost)
        outcomes.push(await kind.ask(chance, Math.min(left, drawsPerMarketMost)));
    }
    const { requests, found, refused, compared, versions, lookUps, parameters } = sumOf(outcomes);
    return (
      `${requests} requests with ${parameters.size} parameters to ${versions} versions agree in three ways, ${found} of them found ` +
      `something, ${refused} refused, ${compared} listings and buckets compared; ${lookUps} look-ups agree`
    );
  },
} satisfies Campaign;
