/**
 * Campaign `consistency`: random lakes, whose trends are compared with the oracle, with the facets of each day and with sold searches, and whose
 * buckets are compared with searches.
 */
import { readInventory } from "../oracle/answers/inventory.ts";
import { compareBucketsWithSearch } from "../oracle/compare/buckets.ts";
import { compareWithOracle } from "../oracle/compare/oracle.ts";
import { compareTrendsWithFacets } from "../oracle/compare/trends.ts";
import { createRandomLake } from "../oracle/random-lake/lakes.ts";
import { randomFilters, randomTrends } from "../oracle/random-requests/requests.ts";
import { Chance } from "../support/chance.ts";
import { startService } from "../support/http/service.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

const drawsPerLakeMax = 2000;
const bucketsMax = 20;
/** One draw in this many is a filter under which all buckets are searched for, and all days are compared. */
const filteredEvery = 50;

export default {
  describe: "trends and buckets of random lakes match the oracle, the facets of each day and the searches",
  draws: 5000,
  async run({ seed, draws }) {
    const chance = new Chance(seed);
    const sum = { points: 0, levels: 0, sales: 0, buckets: 0 };
    const lakes = Math.max(1, Math.ceil(draws / drawsPerLakeMax));
    for (let index = 0; index < lakes; index += 1) {
      const count = Math.floor(draws / lakes) + Number(index < draws % lakes);
      const extent = { seed: chance.integer(1, 2 ** 31), days: chance.integer(8, 26), cars: chance.integer(100, 1200) };
      await withScope(async (scope) => {
        const { lake } = await createRandomLake(scope, extent);
        const client = await startService(scope, lake);
        const inventory = await readInventory(lake);
        const drawn = { seed: extent.seed, count };
        const filters = { ...drawn, count: Math.ceil(count / filteredEvery) };
        const queries = [new Map(), ...randomFilters(inventory, filters)];
        const trends = await compareWithOracle(client, inventory, randomTrends(inventory, drawn));
        const { levels, sales } = await compareTrendsWithFacets(client, inventory, queries);
        const { buckets } = await compareBucketsWithSearch(client, new Chance(extent.seed), queries, bucketsMax);
        sum.points += trends.compared;
        sum.levels += levels;
        sum.sales += sales;
        sum.buckets += buckets;
      });
    }
    return `${draws} trends of ${lakes} lakes agree, ${sum.points} points compared, ${sum.levels} of them with facets; ${sum.sales} sales; ${sum.buckets} buckets searched for`;
  },
} satisfies Campaign;
