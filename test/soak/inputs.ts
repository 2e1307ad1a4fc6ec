/** Campaigns of inputs: `hostile` values for each parameter; `fuzz` draws requests, mapping files, numbers, and statements of analysts. */

import assert from "node:assert/strict";
import { sendHostileRequests } from "../support/campaigns/hostile-answers.ts";
import { hostileRequests, searchOperations } from "../support/campaigns/hostile-requests.ts";
import { Chance } from "../support/chance.ts";
import { decoderTarget } from "../support/fuzz/decoder.ts";
import { mappingTarget } from "../support/fuzz/mapping.ts";
import { numberTarget } from "../support/fuzz/numbers.ts";
import { withSqlTarget } from "../support/fuzz/sql.ts";
import { type FuzzSummary, fuzz, type Target } from "../support/fuzz/target.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

export const hostile = {
  describe: "hostile values for each parameter are answered or refused",
  draws: 500,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const { lake } = await createLake(scope);
      const client = await startService(scope, lake);
      const counts: string[] = [];
      for (const operation of searchOperations) {
        const requests = hostileRequests(new Chance(seed), operation, draws);
        const parameters = new Set(requests.map(({ parameter }) => parameter)).size;
        const { answered, refused } = await sendHostileRequests(client, requests);
        counts.push(`${operation}: ${parameters} parameters, ${answered} answered, ${refused} refused`);
      }
      return counts.join("; ");
    }),
} satisfies Campaign;

/** Cases of each target for a draw, which take about as long. */
const perDraw = { decoder: 50, mapping: 1, numbers: 1, sql: 4 } as const;

export const fuzzed = {
  describe:
    "drawn requests, mappings, numbers and SQL statements are accepted or refused as they should be; a case that fails is added to test/fixtures/fuzz/",
  draws: 5000,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const summaries: [string, FuzzSummary][] = [];
      const run = async <Case>(target: Target<Case>, each: number): Promise<void> => {
        summaries.push([target.name, await fuzz(target, each * draws, seed)]);
      };
      await run(decoderTarget, perDraw.decoder);
      await run(await mappingTarget(scope), perDraw.mapping);
      await run(await numberTarget(scope), perDraw.numbers);
      await withSqlTarget(scope, (target) => run(target, perDraw.sql));
      const failures = summaries.flatMap(([, { failure }]) => failure ?? []);
      assert.deepEqual(failures, []);
      return summaries
        .map(([name, { accepted, refused }]) => `${name}: ${accepted} accepted, ${refused} refused`)
        .join("; ");
    }),
} satisfies Campaign;
