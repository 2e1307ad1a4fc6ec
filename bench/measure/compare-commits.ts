/** Compares the working tree with a commit: both are sent each request in turn, so that a disturbance of the machine affects both. */
import type { BenchCase } from "../cases.ts";
import type { Log } from "../dataset/dataset.ts";
import type { BenchQuery } from "../queries/query.ts";
import { type Measurement, measured, timed } from "../report/results.ts";
import type { Server } from "../servers/server.ts";
import { warmUp, warmUpMs } from "../servers/warm-up.ts";
import { quantile, timeInterleaved } from "./timing.ts";

export interface CommitComparison {
  readonly now: Server<"carquet">;
  readonly before: Server<"before">;
  readonly warmUpQueries: readonly BenchQuery[];
  readonly isQuick: boolean;
  readonly log: Log;
}

/** Returns for each case both times, and the median and quartiles of the ratio: time before / time now of the same request. Above 1 is faster. */
export async function compareCommits(
  cases: readonly BenchCase[],
  { now, before, warmUpQueries, isQuick, log }: CommitComparison,
): Promise<readonly Measurement[]> {
  const limits = isQuick ? { roundsMax: 40, budgetMs: 1500 } : { roundsMax: 400, budgetMs: 8000 };
  await warmUp([now, before], warmUpQueries, { durationMs: warmUpMs(isQuick), requestsMin: 0 });
  const results: Measurement[] = [];
  for (const { name, queries } of cases) {
    const candidates = [now, before].map(({ name: server, send }) => ({
      name: server,
      run: (round: number) => send(queries[round % queries.length] as BenchQuery),
    }));
    const times = await timeInterleaved(candidates, { ...limits, slowMs: 2 * limits.budgetMs });
    const ours = times.get(now.name) ?? [];
    const theirs = times.get(before.name) ?? [];
    const ratios = ours.flatMap((ms, round) => (theirs[round] === undefined ? [] : [theirs[round] / ms]));
    results.push(timed(name, now.name, ours), timed(name, before.name, theirs));
    const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share));
    results.push(...measured(name, "ratio", { "25 %": low, median, "75 %": high }));
    log(`${name}: done`);
  }
  return results;
}
