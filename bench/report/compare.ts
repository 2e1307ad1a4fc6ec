/**
 * Whether Carquet has become slower since an earlier run, by ratios alone: to each peer, and to the work that never changes. Times of
 * different runs are not compared, as the machine may have been another, or busy.
 */

import { quantile } from "../measure/measure.ts";
import { type CaseResult, comparableCases, type Results } from "./results.ts";

export interface Change {
  readonly case: string;
  /** The median, over all that both runs measured Carquet against, of how the ratio has changed: below 1, Carquet is slower. */
  readonly change: number;
  readonly isSlower: boolean;
}

/** How each case that both runs have has changed; it is slower below the threshold. */
export function changes(
  before: Pick<Results, "asked" | "cases">,
  now: Pick<Results, "asked" | "cases">,
  threshold: number,
): readonly Change[] {
  const earlier = new Map(comparableCases(before).map((one) => [one.case, one]));
  return comparableCases(now).flatMap((one) => {
    const then = earlier.get(one.case);
    if (then === undefined) return [];
    const [were, are] = [ratiosOf(then), ratiosOf(one)];
    const changed = Object.entries(are).flatMap(([to, ratio]) => {
      const was = were[to];
      return was === undefined || !(was > 0) ? [] : [ratio / was];
    });
    if (changed.length === 0) return [];
    const change = middle(changed);
    return [{ case: one.case, change, isSlower: change < threshold }];
  });
}

/** The ratios of a case, that to the calibration among them. */
function ratiosOf({ carquet, ratio, calibration }: CaseResult): Readonly<Record<string, number>> {
  return calibration === undefined ? ratio : { ...ratio, calibration: calibration.p50_ms / carquet.p50_ms };
}

/** The median; of an even number, the mean of the two in the middle. */
const middle = (values: readonly number[]): number =>
  (quantile(values, 0.5) -
    quantile(
      values.map((value) => -value),
      0.5,
    )) /
  2;
