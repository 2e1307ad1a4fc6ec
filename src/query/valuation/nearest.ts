/**
 * Comparables: the active and recently sold listings that are most like a subject, each with its price adjusted to it.
 *
 * A listing's weight is a product of factors from 0 to 1, for its trim, model year, mileage, equipment, place, and time since its sale. Its adjusted price
 * is the value of the subject, times the ratio of the listing's price to its fitted price.
 */
import { type Row, stringOrNull, textIn } from "../../base/json.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { ident, integerLiteral, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { milesFrom } from "../../listing/geography.ts";
import { supplyDays } from "../../listing/supply.ts";
import { nearness, rules } from "../../valuation/rules.ts";
import type { Shown, Subject } from "./subject.ts";

/** A listing that is like the subject. Prices are in dollars. */
export interface Comparable {
  readonly id: string;
  readonly soldDate: string | null;
  readonly weight: number;
  readonly price: number;
  readonly adjustedPrice: number;
  readonly distanceMiles: number | null;
}

/** The listings of the subject's model, condition and years of age. */
interface Supply {
  readonly active: number;
  readonly sold: number;
}

/** Returns a query for the nearest listings, the nearest first, each with the supply of its group. */
export function nearestStatement(catalog: string, subject: Subject, day: string): Sql {
  const { id, year, trim, version, miles, optionValue, make, model } = subject;
  const { trimWeight, modelWeight, yearScale, mileageScale, mileageShare, optionScale, soldScale } = nearness;
  const today = sql`DATE ${literal(day)}`;
  const isSameTrim = sql`"trim" = ${trim ?? ""}`;
  const gone = sql`coalesce(${today} - sold_date, 0)`;
  return sql`
    WITH candidates AS (
      SELECT replace(id::VARCHAR, '-', '') AS id, sold_date::VARCHAR AS sold_date, price,
             residual, ${distanceFrom(subject)} AS distance,
             (CASE WHEN ${isSameTrim} AND "version" = ${version ?? ""} THEN 1 WHEN ${isSameTrim} THEN ${numberLiteral(trimWeight)} ELSE ${numberLiteral(modelWeight)} END)
               * exp(-0.5 * pow(("year" - ${integerLiteral(year)}) / ${numberLiteral(yearScale)}, 2)
                 - 0.5 * pow((miles - ${numberLiteral(miles)}) / ${numberLiteral(mileageScale + mileageShare * miles)}, 2)
                 - ${gone} / ${numberLiteral(soldScale)} - abs(option_value - ${numberLiteral(optionValue)}) / ${numberLiteral(optionScale)}
                 - coalesce(distance / ${numberLiteral(nearness.distanceScale)}, 0)) AS weight
      FROM ${ident(catalog, "comparables")}
      WHERE make = ${make} AND model = ${model} AND is_new = ${subject.inventoryType === "new"}
        AND "year" BETWEEN ${integerLiteral(year - nearness.yearsMax)} AND ${integerLiteral(year + nearness.yearsMax)}
        AND id IS DISTINCT FROM ${id}::UUID
        AND abs(residual) < ln(${integerLiteral(rules.outlierRatio)})
    )
    SELECT *, (count(*) FILTER (sold_date IS NULL) OVER ())::INTEGER AS active,
           (count(*) FILTER (sold_date > (${today} - ${integerLiteral(supplyDays)})::VARCHAR) OVER ())::INTEGER AS sold
    FROM candidates ORDER BY weight DESC, id LIMIT ${integerLiteral(nearness.comparablesMax)}`;
}

/** The distance of a listing's dealer in miles; null if a place is unknown. */
const distanceFrom = ({ place }: Subject): Sql => (place === undefined ? sql`NULL::DOUBLE` : milesFrom(place));

/** Returns the listings that `nearestStatement` selects, with their prices adjusted to a value. */
export function comparablesIn(rows: readonly Row[], value: number): readonly Comparable[] {
  return rows.map((row) => ({
    id: textIn(row, "id"),
    soldDate: stringOrNull(row.sold_date),
    weight: Number(row.weight),
    price: Number(row.price),
    adjustedPrice: Math.round(value * Math.exp(Number(row.residual))),
    distanceMiles: typeof row.distance === "number" ? Math.round(row.distance * 10) / 10 : null,
  }));
}

/** Returns the supply of the group; of the subject's too if it is active. */
export function supplyIn([row]: readonly Row[], { status }: Shown): Supply {
  const own = status === "active" ? 1 : 0;
  return { active: Number(row?.active ?? 0) + own, sold: Number(row?.sold ?? 0) };
}

/** Returns what comparables say together; null for too few of them. */
export function summaryOfComparables(
  comparables: readonly Comparable[],
  price: number | null,
): AnswerOf<"findComparables">["data"]["summary"] {
  const total = sumOf(comparables, ({ weight }) => weight);
  if (total === 0 || comparables.length < rules.sampleMin) return null;
  // Squares of the least weights are too small for a number.
  const largest = Math.max(...comparables.map(({ weight }) => weight));
  const squares = sumOf(comparables, ({ weight }) => (weight / largest) ** 2);
  const sorted = comparables.toSorted(
    (one, other) => one.adjustedPrice - other.adjustedPrice || (one.id < other.id ? -1 : 1),
  );
  let below = 0;
  const middle = sorted.find(({ weight }) => {
    below += weight;
    return below >= total / 2;
  });
  const cheaper = sumOf(comparables, ({ adjustedPrice, weight }) => (adjustedPrice < (price ?? 0) ? weight : 0));
  return {
    sample: comparables.length,
    median_adjusted_price: (middle ?? sorted.at(-1))?.adjustedPrice ?? 0,
    percentile: price === null ? null : Math.round((1000 * cheaper) / total) / 10,
    effective_sample: Math.round((10 * (total / largest) ** 2) / squares) / 10,
  };
}

const sumOf = (comparables: readonly Comparable[], term: (comparable: Comparable) => number): number =>
  comparables.reduce((sum, comparable) => sum + term(comparable), 0);
