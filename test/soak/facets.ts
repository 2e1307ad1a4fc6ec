/** The campaign `facets`: many random requests for facets, each compared with a plain count, and with the searches that they promise. */
import { agree } from "../oracle/compare/agree.ts";
import { searchBuckets } from "../oracle/compare/buckets.ts";
import { Chance } from "../oracle/random-market/chance.ts";
import { randomFacets, randomFilters } from "../oracle/random-requests/requests.ts";
import type { Campaign } from "./campaign.ts";
import { inMarkets } from "./markets.ts";

/** Of so many requests, one has its buckets searched for. */
const searchedEvery = 100;
const bucketsMost = 20;

export default {
  describe: "random requests for facets of random markets count what a plain count does, and what searches find",
  draws: 5000,
  async run(extent) {
    let [requests, buckets, searched] = [0, 0, 0];
    const markets = await inMarkets(extent, async ({ client, market, seed, count }) => {
      const agreed = await agree(client, market, randomFacets(market, { seed, count }));
      const queries = randomFilters(market, { seed, count: Math.ceil(count / searchedEvery) });
      searched += (await searchBuckets(client, new Chance(seed), queries, bucketsMost)).buckets;
      requests += agreed.requests;
      buckets += agreed.compared;
    });
    return `${requests} requests to ${markets} markets agree, ${buckets} buckets compared, ${searched} searched for`;
  },
} satisfies Campaign;
