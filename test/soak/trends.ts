/** Campaign `trends`: random trend requests, compared with the oracle, with facets day by day and with sold searches. */

import { compareWithOracle } from "../oracle/compare/oracle.ts";
import { compareTrendsWithFacets } from "../oracle/compare/trends.ts";
import { randomFilters, randomTrends } from "../oracle/random-requests/requests.ts";
import type { Campaign } from "./campaign.ts";
import { visitRandomLakes } from "./random-lakes.ts";

/** One request in this many is compared with facets. */
const facetsEvery = 50;

export default {
  describe: "random trends of random lakes match the oracle, the facets of each day and the searches for sold listings",
  draws: 2000,
  async run(extent) {
    let [requests, points, levels, sales] = [0, 0, 0, 0];
    const lakes = await visitRandomLakes(extent, async ({ client, inventory, seed, count }) => {
      const summary = await compareWithOracle(client, inventory, randomTrends(inventory, { seed, count }));
      const queries = [new Map(), ...randomFilters(inventory, { seed, count: Math.ceil(count / facetsEvery) })];
      const compared = await compareTrendsWithFacets(client, inventory, queries);
      requests += summary.requests;
      points += summary.compared;
      levels += compared.levels;
      sales += compared.sales;
    });
    return `${requests} requests to ${lakes} lakes agree, ${points} points compared, ${levels} of them with facets; ${sales} sales`;
  },
} satisfies Campaign;
