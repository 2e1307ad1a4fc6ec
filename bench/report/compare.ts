/**
 * Regression check: compares two runs by ratios, to each peer and to the calibration. It never compares times of different runs, because
 * they depend on the machine and its load.
 */
import { quantile } from "../measure/timing.ts";
import type { CaseResult, Results } from "./results.ts";

export interface CaseChange {
  readonly case: string;
  /** Median, over all references that both runs have, of the new ratio divided by the old one. Carquet is slower below 1. */
  readonly change: number;
  readonly isSlower: boolean;
}

/** Returns the change of each case that both runs have. A case is slower if its change is below the threshold. */
export function compareRuns(
  before: Pick<Results, "cases">,
  now: Pick<Results, "cases">,
  threshold: number,
): readonly CaseChange[] {
  const resultsBefore = new Map(before.cases.map((result) => [result.case, result]));
  return now.cases.flatMap((result) => {
    const resultBefore = resultsBefore.get(result.case);
    if (resultBefore === undefined) return [];
    const ratiosBefore = ratiosOf(resultBefore);
    const changes = Object.entries(ratiosOf(result)).flatMap(([reference, ratio]) => {
      const ratioBefore = ratiosBefore[reference];
      return ratioBefore === undefined || !(ratioBefore > 0) ? [] : [ratio / ratioBefore];
    });
    if (changes.length === 0) return [];
    const change = median(changes);
    return [{ case: result.case, change, isSlower: change < threshold }];
  });
}

/** Returns the ratios of a case by reference: peers and `calibration`. */
function ratiosOf({ carquet, ratio, calibration }: CaseResult): Readonly<Record<string, number>> {
  return calibration === undefined ? ratio : { ...ratio, calibration: calibration.p50_ms / carquet.p50_ms };
}

/** Returns the median; for an even number of values, the mean of the two middle ones. */
function median(values: readonly number[]): number {
  const upperMiddle = -quantile(
    values.map((value) => -value),
    0.5,
  );
  return (quantile(values, 0.5) + upperMiddle) / 2;
}
