/** Campaign `damage`: damaged files of a lake. */

import { damageAndAsk, damagedKinds, recordAnswers } from "../support/campaigns/damage.ts";
import { Chance } from "../support/chance.ts";
import { createLakeOfEveryState } from "../support/lakes/every-state.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export default {
  describe: "files of a lake are damaged at random positions, and no answer is wrong",
  draws: 300,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const undamaged = await recordAnswers(await createLakeOfEveryState(scope));
      const folder = await temporaryFolder(scope);
      const chance = new Chance(seed);
      const outcomes: Record<string, number> = {};
      for (let draw = 0; draw < draws; draw += 1) {
        const kind = damagedKinds[draw % damagedKinds.length] ?? "";
        const damaged = { kind, isOpen: chance.happens(0.5) };
        const outcome = `${kind}${damaged.isOpen ? " in service" : ""} ${await damageAndAsk(undamaged, folder, damaged, chance)}`;
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      }
      const counts = Object.entries(outcomes)
        .sort()
        .map(([outcome, count]) => `${outcome}: ${count}`);
      return `${undamaged.answers.size} requests each; ${counts.join(", ")}`;
    }),
} satisfies Campaign;
