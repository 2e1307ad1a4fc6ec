/** Response times in windows of five minutes. */
import { timeAt } from "../fairness.ts";

const windowSeconds = 300;

/** Milliseconds. */
export interface TimesSummary {
  readonly count: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The 99th percentile of each five minutes. */
  readonly p99OfWindowsMs: readonly number[];
}

const sortedTimes = (times: readonly number[]): readonly number[] => times.toSorted((a, b) => a - b);

export class ResponseTimes {
  private readonly windows: number[][] = [];

  add(atSeconds: number, ms: number): void {
    const index = Math.floor(atSeconds / windowSeconds);
    while (this.windows.length <= index) this.windows.push([]);
    this.windows[index]?.push(ms);
  }

  /** Describes the current window. */
  describe(): string {
    const times = sortedTimes(this.windows.at(-1) ?? []);
    return `median ${timeAt(times, 0.5).toFixed(0)} ms, p99 ${timeAt(times, 0.99).toFixed(0)} ms`;
  }

  summary(): TimesSummary {
    const all = sortedTimes(this.windows.flat());
    return {
      count: all.length,
      medianMs: timeAt(all, 0.5),
      p99Ms: timeAt(all, 0.99),
      maxMs: timeAt(all, 1),
      p99OfWindowsMs: this.windows.map((times) => timeAt(sortedTimes(times), 0.99)),
    };
  }
}
