/** Campaign `mixed`: an hour of mixed load at 1.5 times capacity, with faults. */
import assert from "node:assert/strict";
import { limitedDisk, mountedDisk } from "../support/campaigns/mixed/faults.ts";
import { type MixedLoadSummary, runMixedLoad } from "../support/campaigns/mixed/mixed-load.ts";
import { prepareLake } from "../support/campaigns/mixed/prepared-lake.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { withScope } from "../support/scope.ts";
import type { Campaign } from "./campaign.ts";

const shape = { listings: 100_000, days: 6, format: "parquet" } as const;
/** Shorter runs report the memory without comparing it: caches still fill. */
const comparedSeconds = 1200;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
const ms = (value: number): string => `${value.toFixed(0)} ms`;
const countsOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort()
    .map(([what, count]) => `${what}: ${count}`)
    .join(", ");

/** Returns the rows of the summary's table. */
function rowsOf(summary: MixedLoadSummary): readonly (readonly [what: string, value: string])[] {
  const { ledger, memory, wellBehaved, eventLoop } = summary;
  return [
    ["load", `${summary.offeredPerSecond.toFixed(1)}/s offered, ${summary.capacityPerSecond.toFixed(1)}/s capacity`],
    ["answers", `${summary.rightAnswers} right, ${summary.wrongAnswers} wrong`],
    ["by version", countsOf(summary.answersByVersion)],
    ...Object.entries(summary.responses).map(([role, counts]) => [role, countsOf(counts)] as const),
    ["charges", `${ledger.charges}, ${ledger.lost} lost, ${ledger.doubled} doubled, ${ledger.refunds} refunded`],
    ["charged, client left", String(ledger.unanswered)],
    ["memory", `${mib(memory.firstThirdBytes)} in the first third, ${mib(memory.lastThirdBytes)} in the last third`],
    [
      "well-behaved times",
      `median ${ms(wellBehaved.medianMs)}, p99 ${ms(wellBehaved.p99Ms)}, max ${ms(wellBehaved.maxMs)}`,
    ],
    ["p99 of each 5 minutes", wellBehaved.p99OfWindowsMs.map(ms).join(", ")],
    ["event loop delay", `p99 ${ms(eventLoop.p99Ms)}, max ${ms(eventLoop.maxMs)}`],
    [
      "versions",
      `${summary.published} published, the slowest in service after ${summary.slowestSwapSeconds.toFixed(1)} s`,
    ],
    ["faults", `${summary.damages} damaged files, ${summary.outages} outages of the ledger`],
    ["problems", String(summary.problemCount)],
  ];
}

export default {
  describe:
    `mixed load at 1.5 times capacity over ${shape.listings} listings, while versions change, files are damaged and the ledger's disk is full; ` +
    "a draw is a second",
  draws: 3600,
  run: ({ seed, draws }) =>
    withScope(async (scope) => {
      print("preparing the lake and the right answers of its versions");
      const name = JSON.stringify(shape);
      const feeds = (): Promise<string> => generateFeeds(scope, shape);
      const prepared = await prepareLake(scope, { feeds, name, versions: 4, lookedUp: 30, seed });
      print(`${prepared.requests.length} requests, ${prepared.versions.length} versions`);
      const disk = (await mountedDisk(scope)) ?? (await limitedDisk(scope));
      const summary = await runMixedLoad(scope, {
        prepared,
        disk,
        seed,
        seconds: draws,
        capacitySeconds: 10,
        swapSeconds: 60,
        damageSecondsMax: 30,
        fullSeconds: 15,
        checksMemory: draws >= comparedSeconds,
        onStatus: print,
      });
      const width = Math.max(...rowsOf(summary).map(([what]) => what.length));
      for (const [what, value] of rowsOf(summary)) print(`${what.padEnd(width)}  ${value}`);
      print(JSON.stringify(summary));
      assert.deepEqual(summary.problems, []);
      return `${summary.rightAnswers} right answers, ${summary.ledger.charges} charges, 0 problems`;
    }),
} satisfies Campaign;
