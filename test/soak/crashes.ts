/** Campaign `crashes`: PostgreSQL crashes while replicas charge. */
import { crashServers } from "../ledger/server-crashes.ts";
import { Chance } from "../support/chance.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "PostgreSQL crashes under load from 32 clients of 4 replicas: each answer is charged exactly once",
  draws: 100,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const options = { crashes: draws, replicas: 4, clients: 32, chance: new Chance(seed) };
      const { charged, unavailable, refunded } = await crashServers(scope, options);
      return (
        `${draws} crashes: ${charged} requests charged once, ${unavailable} refused while the server was down, ${refunded} of them ` +
        "charged and refunded; money for exactly N requests gave N answers"
      );
    }),
} satisfies Campaign;
