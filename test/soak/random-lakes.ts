/** Splits the draws of a campaign among random lakes. */

import { type OracleInventory, readInventory } from "../oracle/answers/inventory.ts";
import { createRandomLake } from "../oracle/random-lake/lakes.ts";
import { Chance } from "../support/chance.ts";
import { type Client, startService } from "../support/http/service.ts";
import { withScope } from "../support/scope.ts";
import type { CampaignExtent } from "./campaign.ts";

export interface LakeVisit {
  readonly client: Client;
  readonly inventory: OracleInventory;
  readonly seed: number;
  /** Number of draws for this lake. */
  readonly count: number;
}

const drawsPerLakeMax = 5000;

/** Visits random lakes until all draws are used; returns the number of lakes. */
export async function visitRandomLakes(
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
