/** The random markets that campaigns against the API share their draws among. */

import { type Market, readMarket } from "../oracle/answers/market.ts";
import { Chance } from "../oracle/random-market/chance.ts";
import { variedLake } from "../oracle/random-market/lakes.ts";
import { withScope } from "../support/scope.ts";
import { type Client, serviceOf } from "../support/service.ts";
import type { CampaignExtent } from "./campaign.ts";

export interface Visit {
  readonly client: Client;
  readonly market: Market;
  readonly seed: number;
  /** How many of the campaign's draws are this market's. */
  readonly count: number;
}

const drawsPerMarketMost = 5000;

/** Visits one random market after another until all draws are used up; gives the number of markets. */
export async function inMarkets(
  { seed, draws }: CampaignExtent,
  visit: (visit: Visit) => Promise<void>,
): Promise<number> {
  const chance = new Chance(seed);
  const markets = Math.max(1, Math.ceil(draws / drawsPerMarketMost));
  for (let market = 0; market < markets; market += 1) {
    const count = Math.floor(draws / markets) + Number(market < draws % markets);
    const drawn = { seed: chance.integer(1, 2 ** 31), days: chance.integer(8, 26), cars: chance.integer(100, 1200) };
    await withScope(async (scope) => {
      const { lake } = await variedLake(scope, drawn);
      await visit({
        client: await serviceOf(scope, lake),
        market: await readMarket(lake),
        seed: drawn.seed,
        count,
      });
    });
  }
  return markets;
}
