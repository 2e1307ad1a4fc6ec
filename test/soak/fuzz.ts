/** Campaign `fuzz`: the request decoder, mapping files, and the statements of analysts. */
import assert from "node:assert/strict";
import { decoderTarget } from "../support/fuzz/decoder.ts";
import { mappingTarget } from "../support/fuzz/mapping.ts";
import { withSqlTarget } from "../support/fuzz/sql.ts";
import { type FuzzSummary, fuzz, type Target } from "../support/fuzz/target.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

/** Cases of each target for a draw, which take about as long. */
const perDraw = { decoder: 50, mapping: 1, sql: 4 } as const;

export default {
  describe:
    "drawn requests, mappings and SQL statements are accepted or refused as they should be; a case that fails is added to test/fixtures/fuzz/",
  draws: 5000,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      const summaries: [string, FuzzSummary][] = [];
      const run = async <Case>(target: Target<Case>, each: number): Promise<void> => {
        summaries.push([target.name, await fuzz(target, each * draws, seed)]);
      };
      await run(decoderTarget, perDraw.decoder);
      await run(await mappingTarget(scope), perDraw.mapping);
      await withSqlTarget(scope, (target) => run(target, perDraw.sql));
      const failures = summaries.flatMap(([, { failure }]) => failure ?? []);
      assert.deepEqual(failures, []);
      return summaries
        .map(([name, { accepted, refused }]) => `${name}: ${accepted} accepted, ${refused} refused`)
        .join("; ");
    }),
} satisfies Campaign;
