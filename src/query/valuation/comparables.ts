/**
 * Answers of operations `getListingComparables`, `findComparables` and `valueVehicles`: the value of a vehicle by the fit of the published day, and the
 * listings that are most like it.
 */
import { refuse } from "../../contract/errors.ts";
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import { daysSupplyOf, supplyDays } from "../../listing/supply.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import type { FoundListing } from "../../serving/listing-files.ts";
import { listingPeriodsOf } from "../listing-periods.ts";
import { lookUpListing } from "../look-ups.ts";
import { type UnmatchedMeta, unmatchedIn } from "../unmatched.ts";
import { effectsOf, estimateOf } from "./estimate.ts";
import { type Comparable, comparablesIn, nearestStatement, summaryOfComparables, supplyIn } from "./nearest.ts";
import { type Described, describedIn, describedOfListing, subjectColumns } from "./subject.ts";
import { type Valuation, valuationOf, withoutValue } from "./valuation.ts";

type Comparables = AnswerOf<"findComparables">["data"];

/** Returns the comparables of the listing with an id, in any state. Refuses an unknown or malformed id with `not_found`. */
export async function compareListing(id: string, limit: number, version: LakeVersion): Promise<Comparables> {
  const listing = await lookUpListing(id, subjectColumns, version);
  return compare(describedOfListing(listing, version.dimensions), limit, version);
}

/** Returns the comparables of the latest listing of a VIN, or of a described vehicle, and the values that the data has never had. */
export async function compareVehicle(
  { vin, limit, data_version: _, ...description }: QueryOf<"findComparables">,
  version: LakeVersion,
): Promise<{ readonly data: Comparables; readonly unmatched: UnmatchedMeta }> {
  if (vin === undefined) {
    const data = await compare(describedIn(description, version.dimensions), limit, version);
    const { make = "", model = "", trim, version: ofTrim } = description;
    const values = {
      make: [make],
      model: [model],
      ...(trim && { trim: [trim] }),
      ...(ofTrim && { version: [ofTrim] }),
    };
    return { data, unmatched: await unmatchedIn(values, version) };
  }
  const [other] = Object.entries(description).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (other !== undefined) {
    const reason = "the latest listing of the VIN has its own attributes";
    throw refuse("incompatible_parameters", { parameters: `vin and ${other}`, reason });
  }
  const latest = await latestOf(vin, version);
  if (latest === undefined) throw refuse("not_found", { what: "vehicle with the VIN", id: vin });
  return { data: await compare(describedOfListing(latest, version.dimensions), limit, version), unmatched: {} };
}

const latestOf = async (vin: string, version: LakeVersion): Promise<FoundListing | undefined> =>
  (await listingPeriodsOf(vin.toUpperCase(), subjectColumns, version)).at(-1);

/** Returns the values of the latest listings of VINs, in their order. */
export function valueVins(vins: readonly string[], version: LakeVersion): Promise<AnswerOf<"valueVehicles">["data"]> {
  return Promise.all(
    vins.map(async (vin) => {
      const latest = await latestOf(vin, version);
      const described = latest && describedOfListing(latest, version.dimensions);
      const valuation = described === undefined ? withoutValue("not_found") : await value(described, version);
      return { vin: vin.toUpperCase(), subject: described?.shown ?? null, valuation };
    }),
  );
}

/** Values a vehicle: an active listing by its own valuation, another by the effects of the fit. */
async function value({ subject, isBranded, stored }: Described, version: LakeVersion): Promise<Valuation> {
  if (isBranded) return withoutValue("branded_title");
  if (subject === undefined) return withoutValue("unknown_attributes");
  const estimate =
    stored ?? estimateOf(subject, await version.marketRows(({ catalog }) => effectsOf(catalog, subject)));
  return estimate === undefined ? withoutValue("insufficient_sample") : valuationOf(estimate, subject.price);
}

async function compare(described: Described, limit: number, version: LakeVersion): Promise<Comparables> {
  const { shown, subject } = described;
  if (subject === undefined)
    return {
      subject: shown,
      valuation: withoutValue("unknown_attributes"),
      summary: null,
      supply: noSupply,
      comparables: [],
    };
  const [valuation, rows] = await Promise.all([
    value(described, version),
    version.marketRows(({ catalog }) => nearestStatement(catalog, subject, version.manifest.as_of)),
  ]);
  const { market_value } = valuation;
  const { active, sold } = supplyIn(rows, shown);
  const supply = { active, sold, days: supplyDays, days_supply: daysSupplyOf(active, sold) };
  if (market_value === null) return { subject: shown, valuation, summary: null, supply, comparables: [] };
  const comparables = comparablesIn(rows, market_value);
  return {
    subject: shown,
    valuation,
    supply,
    summary: summaryOfComparables(comparables, subject.price),
    comparables: await Promise.all(comparables.slice(0, limit).map((one) => comparableListing(one, version))),
  };
}

const noSupply = { active: 0, sold: 0, days: supplyDays, days_supply: null };

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
