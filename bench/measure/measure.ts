/** How long things take, in rounds: whatever is compared takes turns, so that what disturbs the machine disturbs all of it. */

export interface Timing {
  readonly p50_ms: number;
  readonly p99_ms: number;
}

export interface Turn {
  readonly name: string;
  readonly run: (round: number) => Promise<unknown>;
}

export interface Rounds {
  /** At most so many. */
  readonly rounds: number;
  /** Whatever has had its time sits out, once it has had three turns. */
  readonly budgetMs: number;
  /** What takes so long has one turn. */
  readonly longMs: number;
}

const turnsAtLeast = 3;

/** Lets all take turns; gives the times of each, in milliseconds, in the order taken. */
export async function takeTurns(
  turns: readonly Turn[],
  { rounds, budgetMs, longMs }: Rounds,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map<string, number[]>(turns.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, run } of turns) {
      const taken = times.get(name) ?? [];
      const spent = taken.reduce((sum, ms) => sum + ms, 0);
      if (taken.length >= (spent > longMs ? 1 : turnsAtLeast) && spent > budgetMs) continue;
      const startedAtMs = performance.now();
      await run(round);
      taken.push(performance.now() - startedAtMs);
    }
  }
  return times;
}

/** The median and the 99th percentile of times. */
export function timingOf(times: readonly number[] = []): Timing {
  return { p50_ms: rounded(quantile(times, 0.5)), p99_ms: rounded(quantile(times, 0.99)) };
}

/** The value that a share of all values is at or below; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** To three digits after the point, which is a microsecond. */
export const rounded = (value: number): number => Number(value.toFixed(3));
