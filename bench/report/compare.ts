/**
 * Regression check: compares two runs by ratios, to each peer and to the calibration. It never compares times of different runs, because
 * they depend on the machine and its load.
 */
import { quantile } from "../measure/timing.ts";
import { type Results, ratioIn } from "./results.ts";
import { alignTable, formatNumber } from "./tables.ts";

export interface CaseChange {
  readonly case: string;
  /** Median, over all references that both runs have, of the new ratio divided by the old one. Carquet is slower below 1. */
  readonly change: number;
  readonly isSlower: boolean;
}

type Compared = Pick<Results, "measurements">;

/** Returns the change of each case that both runs have. A case is slower if its change is below the threshold. */
export function compareRuns(before: Compared, now: Compared, threshold: number): readonly CaseChange[] {
  const servers = new Set(now.measurements.map(({ server }) => server));
  servers.delete("carquet");
  servers.delete("in process");
  const cases = now.measurements.flatMap(({ name, unit, server }) =>
    unit === "ms" && server === "carquet" ? [name] : [],
  );
  return cases.flatMap((name) => {
    const changes = [...servers].flatMap((server) => {
      const [ratio, ratioBefore] = [ratioIn(now, name, server), ratioIn(before, name, server)];
      return ratio === undefined || ratioBefore === undefined || !(ratioBefore > 0) ? [] : [ratio / ratioBefore];
    });
    if (changes.length === 0) return [];
    const change = median(changes);
    return [{ case: name, change, isSlower: change < threshold }];
  });
}

/** Returns the median; for an even number of values, the mean of the two middle ones. */
function median(values: readonly number[]): number {
  const upperMiddle = -quantile(
    values.map((value) => -value),
    0.5,
  );
  return (quantile(values, 0.5) + upperMiddle) / 2;
}

/** Returns a table of the changes since an earlier run, largest slowdown first. */
export function formatChanges(changes: readonly CaseChange[]): string {
  const sorted = [...changes].sort((a, b) => a.change - b.change);
  return alignTable([
    ["case", "new ratio / old ratio", ""],
    ...sorted.map(({ case: name, change, isSlower }) => [name, formatNumber(change), isSlower ? "slower" : ""]),
  ]);
}
