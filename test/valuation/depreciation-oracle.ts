/** Oracle of depreciation: points, line and retained values by their definitions in the document, over rows of the lake. */
import type { Row } from "../../src/base/json.ts";

const listingsMin = 10;
const tenThousand = 10_000;

interface OraclePoint {
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly sample: number;
  /** Null for fewer than 10 listings. */
  readonly percentiles: readonly number[] | null;
  readonly fitted: number | null;
}

interface OracleLine {
  readonly slope: number;
  readonly intercept: number;
  readonly r2: number;
}

export interface OracleDepreciation {
  readonly sample: number;
  readonly line: OracleLine | undefined;
  readonly points: readonly OraclePoint[];
  readonly reference: {
    readonly of: string;
    readonly at: number;
    readonly price: number;
    readonly sample: number;
  } | null;
  readonly retained: readonly (number | null)[];
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function percentileOf(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const position = ((sorted.length - 1) * percent) / 100;
  const [below = 0, above = below] = sorted.slice(Math.floor(position));
  return below + (above - below) * (position - Math.floor(position));
}

/** Returns the regression line of `y` on `x`: covariance by variance. Undefined for too few pairs, or where `x` spans less than a unit. */
function lineOf(pairs: readonly (readonly [x: number, y: number])[]): OracleLine | undefined {
  const meanX = meanOf(pairs.map(([x]) => x));
  const meanY = meanOf(pairs.map(([, y]) => y));
  const sumOf = (term: (dx: number, dy: number) => number): number =>
    pairs.reduce((sum, [x, y]) => sum + term(x - meanX, y - meanY), 0);
  const xx = sumOf((dx) => dx * dx);
  const xy = sumOf((dx, dy) => dx * dy);
  const yy = sumOf((_, dy) => dy * dy);
  if (pairs.length < listingsMin || Math.max(...pairs.map(([x]) => x)) - Math.min(...pairs.map(([x]) => x)) < 1)
    return undefined;
  return { slope: xy / xx, intercept: meanY - (xy / xx) * meanX, r2: xy ** 2 / (xx * yy) };
}

/** Returns the depreciation of the chosen rows, in relation to the new ones; `newestYear` has age 0. */
export function depreciationByOracle(
  chosen: readonly Row[],
  isNew: readonly Row[],
  by: "age" | "miles",
  newestYear: number,
): OracleDepreciation {
  const [width, unit] = by === "age" ? [1, 1] : [tenThousand, tenThousand];
  const axisOf = (row: Row): number => (by === "age" ? newestYear - Number(row.year) : Number(row.miles));
  const line = lineOf(chosen.map((row) => [axisOf(row) / unit, Math.log(Number(row.price))]));
  const priceAt = (at: number): number | null => (line && Math.exp(line.intercept + (line.slope * at) / unit)) || null;
  const starts = [...new Set(chosen.map((row) => axisOf(row) - (axisOf(row) % width)))].sort((a, b) => a - b);
  const points = starts.map((from): OraclePoint => {
    const prices = chosen
      .filter((row) => axisOf(row) >= from && axisOf(row) < from + width)
      .map((row) => Number(row.price));
    const at = by === "age" ? from : from + width / 2;
    const isEnough = prices.length >= listingsMin;
    return {
      from,
      to: from + width - 1,
      at,
      sample: prices.length,
      fitted: priceAt(at),
      percentiles: isEnough ? [50, 10, 90].map((percent) => percentileOf(prices, percent)) : null,
    };
  });
  const reference = referenceOf(isNew, points);
  const retained = (by === "age" ? [1, 3, 5] : [1, 3, 5].map((one) => one * tenThousand)).map((at) => {
    const isObserved = points.some(({ from }) => from <= at) && points.some(({ to }) => to >= at);
    const price = isObserved ? priceAt(at) : null;
    return price === null || reference === null ? null : (100 * price) / reference.price;
  });
  return { sample: chosen.length, line, points, reference, retained };
}

function referenceOf(isNew: readonly Row[], points: readonly OraclePoint[]): OracleDepreciation["reference"] {
  if (isNew.length >= listingsMin) {
    const price = Math.exp(meanOf(isNew.map((row) => Math.log(Number(row.price)))));
    return { of: "new", at: 0, price, sample: isNew.length };
  }
  const first = points.find(({ sample }) => sample >= listingsMin);
  if (first === undefined || first.fitted === null) return null;
  return { of: "first_point", at: first.at, price: first.fitted, sample: first.sample };
}
