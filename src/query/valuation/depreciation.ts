/**
 * Depreciation, operation `getDepreciation`: the prices of a model by age or miles, a curve that is fitted to them, and the share of its price that a
 * vehicle retains. The listings and their ages are those of the fit that values rest on.
 */
import { plusDays } from "../../base/day.ts";
import { integerIn, type Row } from "../../base/json.ts";
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import { ident, integerLiteral, type Sql, sql } from "../../db/sql.ts";
import { metricListingsMin } from "../../listing/aggregates.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { rules } from "../../valuation/rules.ts";
import { filtersOf } from "../filters.ts";
import { type UnmatchedMeta, unmatchedIn } from "../unmatched.ts";

type Query = QueryOf<"getDepreciation">;
type Answer = AnswerOf<"getDepreciation">;
type Depreciation = Answer["data"];
type Curve = Depreciation["curve"];
type Point = Depreciation["points"][number];

/** What prices are followed by: the column, the unit of the curve, the width of a point, and where retained values are stated. */
interface Axis {
  readonly value: Sql;
  readonly unit: number;
  readonly width: number;
  readonly retained: readonly number[];
}

const axes: Readonly<Record<Query["by"], Axis>> = {
  age: { value: sql`newest - "year"`, unit: 1, width: 1, retained: [1, 3, 5] },
  miles: { value: sql`miles`, unit: rules.mileageUnit, width: 10_000, retained: [10_000, 30_000, 50_000] },
};

const insufficient = "insufficient_sample" as const;

/** Returns schema `ModelPrices`, its metadata without the version, and the values that the data has never had. */
export async function depreciate(
  { by, inventory_type = ["used", "certified"], ...query }: Query,
  version: LakeVersion,
): Promise<{ readonly data: Depreciation; readonly meta: object; readonly unmatched: UnmatchedMeta }> {
  const { manifest, dimensions } = version;
  const named = { ...query, make: [query.make], model: [query.model] };
  const chosen = filtersOf({ ...named, inventory_type }, dimensions);
  const isNew = filtersOf({ ...named, inventory_type: ["new"] }, dimensions);
  const rows = await version.marketRows(
    ({ catalog, idsOf }) => statementOf(catalog, axes[by], { chosen: idsOf(chosen), isNew: idsOf(isNew) }),
    plusDays(manifest.as_of, 1 - rules.soldDays),
  );
  const spelled = (name: "make" | "model"): string => dimensions.spellingOf(name, query[name]) ?? query[name];
  return {
    data: { make: spelled("make"), model: spelled("model"), ...depreciationIn(rows, axes[by]) },
    meta: { by, inventory_type, sold_days: rules.soldDays, minimum_metric_count: metricListingsMin },
    unmatched: await unmatchedIn(named, version),
  };
}

/** Returns a query for the prices and the line of all chosen listings, those of each point, and the prices of new ones. */
function statementOf(
  catalog: string,
  { value, unit, width }: Axis,
  ids: Readonly<Record<"chosen" | "isNew", Sql>>,
): Sql {
  const market = ident(catalog, "comparables");
  return sql`
    WITH sample AS (
      SELECT false AS is_reference, price, miles, "year", residual FROM ${market} WHERE id IN (${ids.chosen})
      UNION ALL
      SELECT true AS is_reference, price, miles, "year", residual FROM ${market} WHERE id IN (${ids.isNew})
    ), followed AS (
      SELECT is_reference, price, newest, ln(price) AS y, ${value} AS value, value // ${integerLiteral(width)} AS point,
             value / ${integerLiteral(unit)} AS x
      FROM sample, (SELECT max("year") AS newest FROM ${market})
      WHERE abs(residual) < ln(${integerLiteral(rules.outlierRatio)})
    )
    SELECT is_reference, point::INTEGER AS point, count(*)::INTEGER AS sample, max(newest)::INTEGER AS newest,
           quantile_cont(price, [0.5, 0.1, 0.9]) AS prices, round(exp(avg(y)), 2) AS mean, max(x) - min(x) AS span,
           round(regr_slope(y, x), 6) AS slope, round(regr_intercept(y, x), 6) AS intercept, round(regr_r2(y, x), 4) AS r2
    FROM followed GROUP BY GROUPING SETS ((is_reference), (is_reference, point)) ORDER BY is_reference, point NULLS FIRST`;
}

function depreciationIn(rows: readonly Row[], axis: Axis): Omit<Depreciation, "make" | "model"> {
  const all = rows.find(({ is_reference, point }) => is_reference === false && point === null);
  const curve = curveOf(all, axis);
  const points = rows
    .filter(({ is_reference, point }) => is_reference === false && point !== null)
    .map((row) => pointOf(row, curve, axis));
  const reference = referenceOf(
    rows.find(({ is_reference, point }) => is_reference === true && point === null),
    points.find(({ null_reason }) => null_reason === null),
  );
  const isObserved = (at: number): boolean => (points[0]?.from ?? at) <= at && at <= (points.at(-1)?.to ?? 0);
  return {
    newest_year: all === undefined ? null : integerIn(all, "newest"),
    curve,
    points,
    reference,
    retained: axis.retained.map((at) => {
      const price = isObserved(at) ? fittedAt(at, curve) : null;
      if (price === null || reference === null) return { at, price: null, percent: null, null_reason: insufficient };
      return { at, price, percent: Math.round((1000 * price) / reference.price) / 10, null_reason: null };
    }),
  };
}

function curveOf(row: Row | undefined, { unit }: Axis): Curve {
  const sample = Number(row?.sample ?? 0);
  const intercept = row?.intercept;
  const slope = row?.slope;
  const r2 = row?.r2;
  const isKnown = typeof intercept === "number" && typeof slope === "number" && typeof r2 === "number";
  if (!isKnown || sample < metricListingsMin || Number(row?.span) < 1)
    return {
      unit,
      sample,
      intercept: null,
      slope: null,
      loss_percent: null,
      r2: null,
      null_reason: insufficient,
    };
  const loss_percent = Math.round(10_000 * (1 - Math.exp(slope))) / 100;
  return { unit, sample, intercept, slope, loss_percent, r2, null_reason: null };
}

function fittedAt(at: number, { unit, intercept, slope }: Curve): number | null {
  return intercept === null || slope === null ? null : Math.round(Math.exp(intercept + (slope * at) / unit));
}

function pointOf(row: Row, curve: Curve, { width }: Axis): Point {
  const point = integerIn(row, "point");
  const sample = integerIn(row, "sample");
  const from = point * width;
  const at = from + Math.floor(width / 2);
  const range = { from, to: from + width - 1, at, sample };
  const fitted = fittedAt(at, curve);
  if (sample < metricListingsMin)
    return { ...range, median: null, p10: null, p90: null, fitted, null_reason: insufficient };
  const [median = 0, p10 = 0, p90 = 0] = pricesIn(row);
  return { ...range, median, p10, p90, fitted, null_reason: null };
}

/** Returns the median, the 10th and the 90th percentile, in cents at most. */
const pricesIn = ({ prices }: Row): readonly number[] =>
  Array.isArray(prices) ? prices.map((price) => Math.round(100 * Number(price)) / 100) : [];

function referenceOf(ofNew: Row | undefined, first: Point | undefined): Depreciation["reference"] {
  const sample = Number(ofNew?.sample ?? 0);
  const price = ofNew?.mean;
  if (typeof price === "number" && sample >= metricListingsMin) return { of: "new", at: 0, price, sample };
  if (first === undefined || first.fitted === null) return null;
  return { of: "first_point", at: first.at, price: first.fitted, sample: first.sample };
}
