/** Campaign `facets`: random facet requests, compared with the oracle and with searches for the buckets. */

import { compareBucketsWithSearch } from "../oracle/compare/buckets.ts";
import { compareWithOracle } from "../oracle/compare/oracle.ts";
import { randomFacets, randomFilters } from "../oracle/random-requests/requests.ts";
import { Chance } from "../support/chance.ts";
import type { Campaign } from "./campaign.ts";
import { visitRandomLakes } from "./random-lakes.ts";

/** One request in this many has its buckets searched for. */
const searchedEvery = 100;
const bucketsMax = 20;

export default {
  describe: "random facet requests to random lakes match the oracle and the searches for their buckets",
  draws: 5000,
  async run(extent) {
    let [requests, buckets, searched] = [0, 0, 0];
    const lakes = await visitRandomLakes(extent, async ({ client, inventory, seed, count }) => {
      const summary = await compareWithOracle(client, inventory, randomFacets(inventory, { seed, count }));
      const queries = randomFilters(inventory, { seed, count: Math.ceil(count / searchedEvery) });
      searched += (await compareBucketsWithSearch(client, new Chance(seed), queries, bucketsMax)).buckets;
      requests += summary.requests;
      buckets += summary.compared;
    });
    return `${requests} requests to ${lakes} lakes agree, ${buckets} buckets compared, ${searched} searched for`;
  },
} satisfies Campaign;
