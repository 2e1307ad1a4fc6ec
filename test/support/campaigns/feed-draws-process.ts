/** Runs draws of `feed-draws.ts` in a separate process. Prints the number of each draw, then the counts and the peak memory. */
import { temporaryFolder } from "../lakes/lakes.ts";
import { withScope } from "../scope.ts";
import { ingestMutatedFeeds } from "./feed-draws.ts";

const [seed = 1, first = 0, draws = 1] = process.argv.slice(2).map(Number);
const print = (message: unknown): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);

await withScope(async (scope) => {
  const folder = await temporaryFolder(scope);
  const counts = await ingestMutatedFeeds(folder, { seed, first, draws }, (draw) => print({ draw }));
  print({ ...counts, peakMebibytes: Math.round(process.resourceUsage().maxRSS / 1024) });
});
