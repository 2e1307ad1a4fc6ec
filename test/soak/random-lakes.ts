/** Campaigns of random requests to random lakes, compared with the oracle: `search`, `facets` and `trends`. */
import { type OracleInventory, readInventory } from "../oracle/answers/inventory.ts";
import { compareBucketsWithSearch } from "../oracle/compare/buckets.ts";
import { compareWithOracle } from "../oracle/compare/oracle.ts";
import { compareTrendsWithFacets } from "../oracle/compare/trends.ts";
import { createRandomLake } from "../oracle/random-lake/lakes.ts";
import { randomFacets, randomFilters, randomRequests, randomTrends } from "../oracle/random-requests/requests.ts";
import { Chance } from "../support/chance.ts";
import { type Client, startService } from "../support/http/service.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign, CampaignExtent } from "./campaign.ts";

interface LakeVisit {
  readonly client: Client;
  readonly inventory: OracleInventory;
  readonly seed: number;
  /** Number of draws for this lake. */
  readonly count: number;
}

const drawsPerLakeMax = 5000;

/** Visits random lakes until all draws are used; returns the number of lakes. */
async function visitRandomLakes(
  { seed, draws }: CampaignExtent,
  visit: (visit: LakeVisit) => Promise<void>,
): Promise<number> {
  const chance = new Chance(seed);
  const lakes = Math.max(1, Math.ceil(draws / drawsPerLakeMax));
  for (let index = 0; index < lakes; index += 1) {
    const count = Math.floor(draws / lakes) + Number(index < draws % lakes);
    const extent = { seed: chance.integer(1, 2 ** 31), days: chance.integer(8, 26), cars: chance.integer(100, 1200) };
    await withScope(async (scope) => {
      const { lake } = await createRandomLake(scope, extent);
      await visit({
        client: await startService(scope, lake),
        inventory: await readInventory(lake),
        seed: extent.seed,
        count,
      });
    });
  }
  return lakes;
}

export const search = {
  describe: "random requests to random lakes find what the oracle finds",
  draws: 20_000,
  async run(extent) {
    let [requests, found, listings] = [0, 0, 0];
    const lakes = await visitRandomLakes(extent, async ({ client, inventory, seed, count }) => {
      const summary = await compareWithOracle(client, inventory, randomRequests(inventory, { seed, count }));
      requests += summary.requests;
      found += summary.found;
      listings += summary.compared;
    });
    return `${requests} requests to ${lakes} lakes agree, ${found} of them found something, ${listings} listings compared`;
  },
} satisfies Campaign;

/** One request in this many has its buckets searched for. */
const searchedEvery = 100;
const bucketsMax = 20;

export const facets = {
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

/** One request in this many is compared with facets. */
const facetsEvery = 50;

export const trends = {
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
