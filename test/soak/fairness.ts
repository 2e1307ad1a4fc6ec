/** Campaign `fairness`: the light requests of one account while another sends the most expensive ones. */

import { createCustomer, temporaryAccountsFile } from "../support/accounts.ts";
import { attackFairness, timeAt } from "../support/campaigns/fairness.ts";
import { startServing } from "../support/command-line.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

const listings = 300_000;

export default {
  describe: `light requests over ${listings} listings while another account sends the most expensive ones; a draw is a light request`,
  draws: 600,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { lake } = await createLake(scope, await generateFeeds(scope, { listings, format: "parquet" }));
      const accounts = await temporaryAccountsFile(scope);
      const env = { CARQUET_ACCOUNTS: accounts, CARQUET_LOG_LEVEL: "silent" };
      const { url, customer } = await startServing(scope, ["serve", "--port", "0", "--lake", lake], { env });
      const { idle, attacked, attack, attackTimes } = await attackFairness({
        url,
        accounts,
        attacker: customer,
        quiet: await createCustomer(accounts),
        lightRequests: draws,
        pauseMs: 50,
        connections: 32,
        seed,
        pastDay: "2026-11-18",
      });
      const times = (of: readonly number[]): string =>
        [0.5, 0.99, 1].map((share) => timeAt(of, share).toFixed(1)).join(", ");
      return (
        `light requests took (median, 99th percentile and maximum, ms) ${times(idle)} before the attack and ` +
        `${times(attacked)} during it; attacker: ${JSON.stringify(attack)}, ${times(attackTimes)}`
      );
    }),
} satisfies Campaign;
