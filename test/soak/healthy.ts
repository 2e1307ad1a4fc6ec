/** Campaign `healthy`: random small markets, verified after each command that changes a lake's files. */
import { verifyMarkets } from "../support/campaigns/healthy-markets.ts";
import { Chance } from "../support/chance.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe:
    "carquet verify finds no fault in healthy lakes: ingested, vacuumed, without serving files, indexed and copied",
  draws: 200,
  run: async ({ seed, draws }) => {
    const verified = await verifyMarkets(draws, new Chance(seed), (done) => {
      if (done % 10 === 0) process.stdout.write(`${done} of ${draws} markets verified\n`);
    });
    return `${draws} markets verified ${verified} times, without a fault`;
  },
} satisfies Campaign;
