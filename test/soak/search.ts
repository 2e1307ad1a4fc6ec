/** The campaign `search`: many random requests, each compared with a plain search of every listing. */
import { agree } from "../oracle/agree.ts";
import { readMarket } from "../oracle/market.ts";
import { notBuilt, randomRequests } from "../oracle/requests.ts";
import { lakeOf } from "../support/lakes.ts";
import { serviceOf } from "../support/service.ts";
import { type Campaign, withScope } from "./campaign.ts";

export const campaign: Campaign = {
  describe: "random requests to the sample market find what a plain search of every listing finds",
  draws: 20_000,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { lake } = await lakeOf(scope);
      const market = await readMarket(lake);
      const requests = randomRequests(market, { seed, count: draws, without: notBuilt });
      const agreed = await agree(await serviceOf(scope, lake), market, requests);
      return `${agreed.requests} requests agree, ${agreed.found} of them found something, ${agreed.listings} listings compared`;
    }),
};
