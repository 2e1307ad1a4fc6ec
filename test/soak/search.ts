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
    const lakes = await visitRandomLakes(extent, async ({ client, inventory, seed, count }) => {
      const summary = await compareWithOracle(client, inventory, randomRequests(inventory, { seed, count }));
      requests += summary.requests;
      found += summary.found;
      listings += summary.compared;
    });
    return `${requests} requests to ${lakes} lakes agree, ${found} of them found something, ${listings} listings compared`;
  },
} satisfies Campaign;
