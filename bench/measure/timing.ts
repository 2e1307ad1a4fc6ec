/**
 * Interleaved timing: candidates run in turn, round by round, so that a disturbance of the machine affects all of them. Every other round is in
 * reverse order, because what runs first finds colder caches.
 */

export interface Candidate {
  readonly name: string;
  readonly run: (round: number) => Promise<unknown>;
}

export interface TimingLimits {
  readonly roundsMax: number;
  /** A candidate that has spent more time than this is skipped once it has run three times. */
  readonly budgetMs: number;
  /** A candidate that has spent more time than this is skipped even if it has run fewer than three times. */
  readonly slowMs: number;
}

const runsMin = 3;

/** Runs all candidates in turn. Returns the times of each in milliseconds, in the order of measurement. */
export async function timeInterleaved(
  candidates: readonly Candidate[],
  { roundsMax, budgetMs, slowMs }: TimingLimits,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const timesByName = new Map<string, number[]>(candidates.map(({ name }) => [name, []]));
  for (let round = 0; round < roundsMax; round += 1) {
    for (const { name, run } of round % 2 === 0 ? candidates : [...candidates].reverse()) {
      const times = timesByName.get(name) ?? [];
      const spentMs = times.reduce((sum, ms) => sum + ms, 0);
      if (times.length >= (spentMs > slowMs ? 1 : runsMin) && spentMs > budgetMs) continue;
      const startedAtMs = performance.now();
      await run(round);
      times.push(performance.now() - startedAtMs);
    }
  }
  return timesByName;
}

/** Returns the smallest value that at least a fraction of all values do not exceed; NaN for no values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}

/** Rounds to three decimals. */
export const roundToThousandths = (value: number): number => Number(value.toFixed(3));

/** Returns the item with the median value. */
export function medianBy<T>(items: readonly T[], of: (item: T) => number): T {
  const values = items.map(of);
  const median = items[values.indexOf(quantile(values, 0.5))];
  if (median === undefined) throw new Error("No measurements: expected --rounds of at least 1.");
  return median;
}
