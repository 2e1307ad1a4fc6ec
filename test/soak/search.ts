/** The campaign `search`: many random requests, each compared with a plain search of every listing. */
import { agree } from "../oracle/compare/agree.ts";

import { randomRequests } from "../oracle/random-requests/requests.ts";
import type { Campaign } from "./campaign.ts";
import { inMarkets } from "./markets.ts";

export default {
  describe: "random requests to random markets find what a plain search of every listing finds",
  draws: 20_000,
  async run(extent) {
    let [requests, found, listings] = [0, 0, 0];
    const markets = await inMarkets(extent, async ({ client, market, seed, count }) => {
      const drawn = randomRequests(market, { seed, count });
      const agreed = await agree(client, market, drawn);
      requests += agreed.requests;
      found += agreed.found;
      listings += agreed.compared;
    });
    return `${requests} requests to ${markets} markets agree, ${found} of them found something, ${listings} listings compared`;
  },
} satisfies Campaign;
