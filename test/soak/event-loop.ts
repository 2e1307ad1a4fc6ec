/** Campaign `event-loop`: how long each operation holds the event loop at its largest allowed size. */
import assert from "node:assert/strict";
import { type LoopHold, measureHolds } from "../support/campaigns/event-loop.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

const shape = { listings: 250_000, days: 4, format: "parquet" } as const;
const heldMsMax = 20;

const columns = ["operation", "request", "bytes", "held", "elapsed", "light"] as const;
const cellsOf = ({ operation, what, bytes, heldMs, elapsedMs, lightMs }: LoopHold): readonly string[] => [
  operation,
  what,
  String(bytes),
  ...[heldMs, elapsedMs, lightMs].map((ms) => `${ms.toFixed(1)} ms`),
];

const print = (cells: readonly string[]): void =>
  void process.stdout.write(`${cells.map((cell, index) => cell.padEnd(index < 2 ? 22 : 10)).join(" ")}\n`);

export default {
  describe:
    `the longest holds of the event loop by the largest requests of each operation over ${shape.listings} listings, beside a light account: ` +
    `at most ${heldMsMax} ms; a draw is a repetition`,
  draws: 9,
  run: ({ draws }) =>
    withScope(async (scope) => {
      const lake = process.env.CARQUET_LAKE ?? (await createLake(scope, await generateFeeds(scope, shape))).lake;
      print(columns);
      const holds = await measureHolds(scope, lake, draws, (hold) => print(cellsOf(hold)));
      const long = holds.filter(({ heldMs }) => heldMs > heldMsMax);
      assert.deepEqual(
        long.map(({ operation, what, heldMs }) => `${operation}, ${what}: ${heldMs} ms`),
        [],
      );
      return `${holds.length} requests, none held the event loop for more than ${heldMsMax} ms`;
    }),
} satisfies Campaign;
