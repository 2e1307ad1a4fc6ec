/** Campaign `search`: random requests, compared with the oracle. */
import { compareWithOracle } from "../oracle/compare/oracle.ts";

import { randomRequests } from "../oracle/random-requests/requests.ts";
import type { Campaign } from "./campaign.ts";
import { visitRandomLakes } from "./random-lakes.ts";

export default {
  describe: "random requests to random lakes find what the oracle finds",
  draws: 20_000,
  async run(extent) {
    let [requests, found, listings] = [0, 0, 0];
    const markets = await visitRandomLakes(extent, async ({ client, market, seed, count }) => {
      const drawn = randomRequests(market, { seed, count });
      const agreed = await compareWithOracle(client, market, drawn);
      requests += agreed.requests;
      found += agreed.found;
      listings += agreed.compared;
    });
    return `${requests} requests to ${markets} lakes agree, ${found} of them found something, ${listings} listings compared`;
  },
} satisfies Campaign;
