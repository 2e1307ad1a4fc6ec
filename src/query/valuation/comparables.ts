/**
 * Answers of operations `getListingComparables`, `findComparables` and `valueVehicles`: the value of a vehicle by the fit of the published day, and the
 * active and recently sold listings that are most like it, each with its price adjusted to it.
 *
 * A listing's weight is a product of factors from 0 to 1, for its trim, model year, mileage, equipment, location, and time since its sale. Its adjusted price
 * is the value of the subject, times the ratio of the listing's price to its fitted price.
 */
import { type Row, stringOrNull, textIn } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import { ident, integerLiteral, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { daysSupplyOf, supplyDays } from "../../listing/aggregates.ts";
import { milesFrom } from "../../listing/geography.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import type { FoundListing } from "../../serving/listing-files.ts";
import { nearness, rules } from "../../valuation/rules.ts";
import { decodeVin, listingPeriodsOf, lookUpListing } from "../look-ups.ts";
import { type UnmatchedMeta, unmatchedIn } from "../unmatched.ts";
import { estimate } from "./estimate.ts";
import {
  type Build,
  buildOfVin,
  type Described,
  describedIn,
  describedOfListing,
  type Subject,
  subjectColumns,
} from "./subject.ts";
import { type Valuation, valuationOf, withoutValue } from "./valuation.ts";

type Comparables = AnswerOf<"findComparables">["data"];

/** How many comparables are returned, and within how many miles of the subject they are. */
interface Wanted {
  readonly limit: number;
  readonly radius?: number | undefined;
}

/** Returns the comparables of the listing with an id, in any state. Refuses an unknown or malformed id with `not_found`. */
export async function compareListing(id: string, wanted: Wanted, version: LakeVersion): Promise<Comparables> {
  const listing = await lookUpListing(id, subjectColumns, version);
  return compare(describedOfListing(listing, version.dimensions), wanted, version);
}

/** The parameters that may describe the present state of a vehicle whose VIN says the rest. */
const stateNames = ["inventory_type", "miles", "msrp", "price", "postal_code", "options", "title"];

/** Returns the comparables of the latest listing of a VIN, or of a described vehicle, and the values that the data has never had. */
export async function compareVehicle(
  { vin, limit, radius, data_version: _, ...description }: QueryOf<"findComparables">,
  version: LakeVersion,
): Promise<{ readonly data: Comparables; readonly unmatched: UnmatchedMeta }> {
  const given = Object.entries(description).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const other = given.find((name) => vin !== undefined && !stateNames.includes(name));
  if (other !== undefined) {
    const reason = "the VIN says what the vehicle is";
    throw refuse("incompatible_parameters", { parameters: `vin and ${other}`, reason });
  }
  const latest = vin === undefined ? undefined : await latestOf(vin, version);
  if (latest !== undefined && given.length === 0)
    return {
      data: await compare(describedOfListing(latest, version.dimensions), { limit, radius }, version),
      unmatched: {},
    };
  const build = vin === undefined ? undefined : await buildOf(vin.toUpperCase(), latest, version);
  const described = describedIn(description, build, version.dimensions);
  const data = await compare(described, { limit, radius }, version);
  const { make, model, trim, version: ofTrim, options } = description;
  const values = {
    ...(make && { make: [make] }),
    ...(model && { model: [model] }),
    ...(trim && { trim: [trim] }),
    ...(ofTrim && { version: [ofTrim] }),
    ...(options && { options_packages: options }),
  };
  const { unmatched } = await unmatchedIn(values, version);
  const named = unmatched?.map((one) =>
    one.parameter === "options_packages" ? { ...one, parameter: "options" } : one,
  );
  return { data, unmatched: named === undefined ? {} : { unmatched: named } };
}

async function buildOf(vin: string, latest: FoundListing | undefined, version: LakeVersion): Promise<Build> {
  if (latest === undefined) return buildOfVin(vin, await decodeVin(vin, version));
  const { shown, subject, isBranded } = describedOfListing(latest, version.dimensions);
  return { vin, own: shown, shown, body: subject?.body ?? "", isBranded };
}

const latestOf = async (vin: string, version: LakeVersion): Promise<FoundListing | undefined> =>
  (await listingPeriodsOf(vin.toUpperCase(), subjectColumns, version)).at(-1);

/** Returns the values of the latest listings of VINs, in their order. */
export async function valueVins(
  vins: readonly string[],
  version: LakeVersion,
): Promise<AnswerOf<"valueVehicles">["data"]> {
  const found = await Promise.all(vins.map((vin) => latestOf(vin, version)));
  const described = found.map((latest) => latest && describedOfListing(latest, version.dimensions));
  const valuations = await value(described, version);
  return vins.map((vin, index) => ({
    vin: vin.toUpperCase(),
    subject: described[index]?.shown ?? null,
    valuation: valuations[index] ?? withoutValue("not_found"),
  }));
}

/** Values vehicles: an active listing by its own valuation, others by the effects of the fit. */
async function value(
  vehicles: readonly (Described | undefined)[],
  version: LakeVersion,
): Promise<readonly Valuation[]> {
  const decided = vehicles.map((described): Valuation | Subject => {
    if (described === undefined) return withoutValue("not_found");
    const { subject, isBranded, stored } = described;
    if (isBranded) return withoutValue("branded_title");
    if (subject === undefined) return withoutValue("unknown_attributes");
    return stored === undefined ? subject : valuationOf(stored, subject.price);
  });
  const open = decided.filter((one): one is Subject => "optionValue" in one);
  const estimates = open.length === 0 ? [] : await estimate(open, version);
  return decided.map((one) => ("optionValue" in one ? (estimates[open.indexOf(one)] ?? withoutValue("no_data")) : one));
}

async function compare(described: Described, wanted: Wanted, version: LakeVersion): Promise<Comparables> {
  const { shown, subject } = described;
  const nothing = { subject: shown, summary: null, supply: noSupply, comparables: [] };
  if (subject === undefined) return { ...nothing, valuation: withoutValue("unknown_attributes") };
  if (wanted.radius !== undefined && subject.place === undefined) {
    const allowed = "a ZIP code, from which radius counts";
    throw refuse("missing_parameter", { parameter: "postal_code", allowed });
  }
  if (!version.hasFit) return { ...nothing, valuation: withoutValue("no_data") };
  const [[valuation = withoutValue("no_data")], rows] = await Promise.all([
    value([described], version),
    version.marketRows(({ catalog }) => nearestStatement(catalog, subject, version.manifest.as_of, wanted.radius)),
  ]);
  const { market_value } = valuation;
  const { active, sold } = supplyIn(rows);
  const supply = { active, sold, days: supplyDays, days_supply: daysSupplyOf(active, sold) };
  if (market_value === null) return { ...nothing, valuation, supply };
  const comparables = comparablesIn(rows, market_value);
  return {
    subject: shown,
    valuation,
    supply,
    summary: summaryOfComparables(comparables, subject.price),
    comparables: await Promise.all(comparables.slice(0, wanted.limit).map((one) => comparableListing(one, version))),
  };
}

/** Without a fit, the listings like a vehicle are not counted. */
const noSupply = { active: null, sold: null, days: supplyDays, days_supply: null };

/** Returns schema `ComparableListing`. */
async function comparableListing(
  { id, soldDate, weight, price, adjustedPrice, distanceMiles }: Comparable,
  version: LakeVersion,
): Promise<Comparables["comparables"][number]> {
  const [listing] = await version.lookUp("id", id, subjectColumns);
  if (listing === undefined) throw new TypeError(`Unknown listing ${id}: expected one of this version.`);
  const { shown, dealer } = describedOfListing(listing, version.dimensions);
  const { trim, version: ofTrim, year, inventory_type, state } = shown;
  return {
    listing_id: id,
    vin: shown.vin ?? "",
    status: soldDate === null ? "active" : "sold",
    sold_date: soldDate,
    year,
    trim,
    version: ofTrim,
    inventory_type,
    miles: shown.miles,
    price,
    adjusted_price: adjustedPrice,
    adjustment: adjustedPrice - price,
    weight: Math.round(10_000 * weight) / 10_000,
    distance_miles: distanceMiles,
    ...dealer,
    state,
  };
}

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

/** Returns a query for the nearest listings, the subject's own one before them, the nearest first, each with the supply of its group. */
function nearestStatement(catalog: string, subject: Subject, day: string, radius: number | undefined): Sql {
  const { own, year, trim, version, miles, optionValue, make, model } = subject;
  const { trimWeight, modelWeight, yearScale, mileageScale, mileageShare, optionScale, soldScale } = nearness;
  const today = sql`DATE ${literal(day)}`;
  const isSameTrim = sql`"trim" = ${trim ?? ""}`;
  const optionDistance = optionValue === null ? sql`0` : sql`abs(option_value - ${numberLiteral(optionValue)})`;
  const isNear = radius === undefined ? sql`true` : sql`distance <= ${numberLiteral(radius)}`;
  const gone = sql`coalesce(${today} - sold_date, 0)`;
  return sql`
    WITH candidates AS (
      SELECT replace(id::VARCHAR, '-', '') AS id, sold_date::VARCHAR AS sold_date, price,
             residual, ${distanceFrom(subject)} AS distance,
             (CASE WHEN ${isSameTrim} AND "version" = ${version ?? ""} THEN 1 WHEN ${isSameTrim} THEN ${numberLiteral(trimWeight)} ELSE ${numberLiteral(modelWeight)} END)
               * exp(-0.5 * pow(("year" - ${integerLiteral(year)}) / ${numberLiteral(yearScale)}, 2)
                 - 0.5 * pow((miles - ${numberLiteral(miles)}) / ${numberLiteral(mileageScale + mileageShare * miles)}, 2)
                 - ${gone} / ${numberLiteral(soldScale)} - ${optionDistance} / ${numberLiteral(optionScale)}
                 - coalesce(distance / ${numberLiteral(nearness.distanceScale)}, 0)) AS weight
      FROM ${ident(catalog, "comparables")}
      WHERE make = ${make} AND model = ${model} AND is_new = ${subject.inventoryType === "new"}
        AND "year" BETWEEN ${integerLiteral(year - nearness.yearsMax)} AND ${integerLiteral(year + nearness.yearsMax)}
        AND abs(residual) < ln(${integerLiteral(rules.outlierRatio)}) AND ${isNear}
    )
    SELECT *, id IS NOT DISTINCT FROM ${own.listing_id} AS is_own,
           (count(*) FILTER (sold_date IS NULL) OVER ())::INTEGER AS active,
           (count(*) FILTER (sold_date > (${today} - ${integerLiteral(supplyDays)})::VARCHAR AND NOT is_own) OVER ())::INTEGER AS sold
    FROM candidates ORDER BY is_own DESC, weight DESC, id LIMIT ${integerLiteral(nearness.comparablesMax + 1)}`;
}

/** The distance of a listing's dealer in miles; null if a place is unknown. */
const distanceFrom = ({ place }: Subject): Sql => (place === undefined ? sql`NULL::DOUBLE` : milesFrom(place));

/** Returns the listings that `nearestStatement` selects, with their prices adjusted to a value. */
function comparablesIn(rows: readonly Row[], value: number): readonly Comparable[] {
  const others = rows.filter((row) => row.is_own !== true).slice(0, nearness.comparablesMax);
  return others.map((row) => ({
    id: textIn(row, "id"),
    soldDate: stringOrNull(row.sold_date),
    weight: Number(row.weight),
    price: Number(row.price),
    adjustedPrice: Math.round(value * Math.exp(Number(row.residual))),
    distanceMiles: typeof row.distance === "number" ? Math.round(row.distance * 10) / 10 : null,
  }));
}

/** Returns the supply of the group; of the subject's own listing if it is active and of the group. */
const supplyIn = ([row]: readonly Row[]): Supply => ({
  active: Number(row?.active ?? 0),
  sold: Number(row?.sold ?? 0),
});

/** Returns what comparables say together; null for too few of them. */
function summaryOfComparables(
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
