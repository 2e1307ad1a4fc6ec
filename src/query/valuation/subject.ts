/** The vehicle that is valued: a listing of the lake, or one that a request describes. */
import { numberOrNull, type Row, stringOrNull, textIn } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import type { ServedColumn } from "../../lake/served-columns.ts";
import type { Point } from "../../listing/geography.ts";
import { buildRow, type Dimensions, dealerRow } from "../../serving/dimensions.ts";
import type { FoundListing } from "../../serving/listing-files.ts";
import { steps } from "../../valuation/rules.ts";
import { type ZipCode, zipCodes } from "../geography.ts";
import { countedOptions, type Estimate } from "./valuation.ts";

/** Schema `ValuedSubject`. */
export type Shown = AnswerOf<"findComparables">["data"]["subject"];

/** The latest listing of the vehicle's VIN, which comparables leave out; null without one. */
type OwnListing = Pick<Shown, "listing_id">;

/** What a value depends on. Texts are spelled as in the lake. */
export interface Subject extends Pick<Shown, "price" | "msrp" | "trim" | "version" | "state"> {
  /** Null unless it is a listing. */
  readonly id: string | null;
  readonly own: OwnListing;
  readonly year: number;
  readonly make: string;
  readonly model: string;
  readonly inventoryType: NonNullable<Shown["inventory_type"]>;
  readonly miles: number;
  /** Body type and powertrain, as the fit has them; empty if they are unknown. */
  readonly body: string;
  /** The prices of its options, in dollars; null if its options are unknown. */
  readonly optionValue: number | null;
  readonly place: Point | undefined;
}

export interface Described {
  readonly shown: Shown;
  /** Undefined if an attribute that a value depends on is unknown. */
  readonly subject: Subject | undefined;
  readonly isBranded: boolean;
  /** The value of an active listing, made without it: see table `valuations`. */
  readonly stored: Estimate | undefined;
}

interface DescribedListing extends Described {
  readonly dealer: { readonly dealer_name: string | null; readonly city: string | null };
}

/** The columns that `describedOfListing` needs. */
export const subjectColumns = [
  ...(["id", "vin", "build_key", "dealer_key", "inventory_type", "miles", "price", "msrp", "keywords"] as const),
  ...(["options_packages", "market_value", "market_value_low", "market_value_high", "value_step"] as const),
] as const satisfies readonly ServedColumn[];

const inventoryTypes = ["new", "used", "certified"] as const;

/** Returns a listing, read with `subjectColumns`. */
export function describedOfListing({ row, state }: FoundListing, dimensions: Dimensions): DescribedListing {
  const build = buildRow.decode(dimensions.buildOf(row.build_key));
  const dealer = dealerRow.decode(dimensions.dealerOf(row.dealer_key));
  const shown: Shown = {
    listing_id: textIn(row, "id"),
    vin: textIn(row, "vin"),
    status: state,
    year: numberOrNull(build.year),
    make: stringOrNull(build.make),
    model: stringOrNull(build.model),
    trim: stringOrNull(build.trim),
    version: stringOrNull(build.version),
    state: stringOrNull(dealer.state),
    inventory_type: inventoryTypes.find((type) => type === row.inventory_type) ?? null,
    miles: numberOrNull(row.miles),
    price: numberOrNull(row.price),
    msrp: numberOrNull(row.msrp),
  };
  const optionValue = worthOf(dimensions, shown.make, dimensions.wordsOf(row.options_packages) ?? []);
  return {
    shown,
    subject: subjectOf(shown, {
      own: shown,
      body: bodyOf(build),
      optionValue,
      place: pointOf(dealer),
    }),
    isBranded: Array.isArray(row.keywords) && row.keywords.includes("branded"),
    stored: storedValueOf(row, optionValue),
    dealer: { dealer_name: stringOrNull(dealer.name), city: stringOrNull(dealer.city) },
  };
}

/** The body type and powertrain of a build, as the fit has them. */
const bodyOf = ({ body_type, powertrain_type }: Row): string =>
  [stringOrNull(body_type), stringOrNull(powertrain_type)].filter((part) => part !== null).join(" ");

/** The sum of the list prices of options of a make, in dollars. */
const worthOf = (dimensions: Dimensions, make: string | null, codes: readonly string[]): number =>
  dimensions.optionsOf(make, codes).reduce((sum, { msrp }) => sum + (numberOrNull(msrp) ?? 0), 0);

function pointOf({ latitude, longitude }: Row): Point | undefined {
  return typeof latitude === "number" && typeof longitude === "number" ? { latitude, longitude } : undefined;
}

function storedValueOf(row: Row, optionValue: number): Estimate | undefined {
  const { market_value: value, market_value_low: low, market_value_high: high } = row;
  const step = steps.find((one) => one === row.value_step);
  if (typeof value !== "number" || typeof low !== "number" || typeof high !== "number" || step === undefined)
    return undefined;
  const options = countedOptions(row.inventory_type, step, { value: optionValue, of: "vehicle" });
  return { value, low, high, step, options };
}

function subjectOf(shown: Shown, others: Pick<Subject, "own" | "body" | "optionValue" | "place">): Subject | undefined {
  const { listing_id: id, year, make, model, inventory_type: inventoryType, miles } = shown;
  if (year === null || make === null || model === null || inventoryType === null || miles === null) return undefined;
  const { price, msrp, trim, version, state } = shown;
  if (inventoryType === "new" && !((msrp ?? 0) > 0)) return undefined;
  return { id, year, make, model, inventoryType, miles, price, msrp, trim, version, state, ...others };
}

type DescribedQuery = Omit<QueryOf<"findComparables">, "limit" | "radius" | "data_version" | "vin">;

/** What a VIN says of a vehicle: the build of its latest listing, or that of its characters. */
export interface Build {
  readonly vin: string;
  readonly own: OwnListing;
  readonly shown: Partial<Pick<Shown, "year" | "make" | "model" | "trim" | "version" | "msrp">>;
  readonly body: string;
  readonly isBranded: boolean;
}

const noListing: OwnListing = { listing_id: null };

/** Returns the build that a decoded VIN stands for. */
export const buildOfVin = (vin: string, decoded: Row): Build => ({
  vin,
  own: noListing,
  shown: {
    year: numberOrNull(decoded.year),
    make: stringOrNull(decoded.make),
    model: stringOrNull(decoded.model),
    trim: stringOrNull(decoded.trim),
    version: null,
  },
  body: bodyOf(decoded),
  isBranded: false,
});

/** Returns the vehicle that parameters describe, of a build if it has a VIN. Refuses a request without those that its value depends on. */
export function describedIn(query: DescribedQuery, build: Build | undefined, dimensions: Dimensions): Described {
  const known = { ...build?.shown };
  const { year = known.year, make = known.make, model = known.model, msrp = known.msrp ?? null } = query;
  const { inventory_type = "used", price = null, options, title } = query;
  const { miles = inventory_type === "new" ? 0 : undefined } = query;
  const missing = (parameter: keyof DescribedQuery, allowed: string): Error =>
    refuse("missing_parameter", { parameter, allowed });
  if (make == null) throw missing("make", "a make, together with model and year, or vin");
  if (model == null) throw missing("model", "a model");
  if (year == null) throw missing("year", "a model year");
  if (miles === undefined) throw missing("miles", "the odometer reading, unless inventory_type is new");
  if (inventory_type === "new" && msrp === null) throw missing("msrp", "the MSRP of a new vehicle");
  const spelled = (
    attribute: "make" | "model" | "trim" | "version",
    value: string | null | undefined,
  ): string | null => (value == null ? null : (dimensions.spellingOf(attribute, value) ?? value));
  const zip = query.postal_code === undefined ? undefined : zipOf(query.postal_code);
  const shown: Shown = {
    listing_id: null,
    vin: build?.vin ?? null,
    status: null,
    year,
    inventory_type,
    miles,
    price,
    msrp,
    make: spelled("make", make),
    model: spelled("model", model),
    state: zip?.state ?? null,
    trim: spelled("trim", query.trim ?? known.trim),
    version: spelled("version", query.version ?? known.version),
  };
  const optionValue = options === undefined ? null : worthOf(dimensions, shown.make, options);
  const { own = noListing, body = "" } = build ?? {};
  const subject = subjectOf(shown, { own, body, optionValue, place: zip });
  const isBranded = title === undefined ? build?.isBranded === true : title === "branded";
  return { shown, subject, isBranded, stored: undefined };
}

function zipOf(postalCode: string): ZipCode {
  const zip = zipCodes().get(postalCode.slice(0, 5));
  if (zip === undefined) throw refuse("unknown_postal_code", { value: quoted(postalCode) });
  return zip;
}
