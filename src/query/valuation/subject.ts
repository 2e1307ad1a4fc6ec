/** The vehicle that is valued: a listing of the lake, or one that a request describes. */
import { type Json, type Row, stringOrNull, textIn } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import type { ServedColumn } from "../../lake/served-columns.ts";
import type { Point } from "../../listing/geography.ts";
import { buildRow, type Dimensions, dealerRow } from "../../serving/dimensions.ts";
import type { FoundListing } from "../../serving/listing-files.ts";
import { steps } from "../../valuation/rules.ts";
import { type ZipCode, zipCodes } from "../geography.ts";
import type { Estimate } from "./valuation.ts";

/** Schema `ValuedSubject`. */
export type Shown = AnswerOf<"findComparables">["data"]["subject"];

/** What a value depends on. Texts are spelled as in the lake. */
export interface Subject extends Pick<Shown, "price" | "msrp" | "trim" | "version" | "state"> {
  /** Null unless it is a listing. */
  readonly id: string | null;
  readonly year: number;
  readonly make: string;
  readonly model: string;
  readonly inventoryType: NonNullable<Shown["inventory_type"]>;
  readonly miles: number;
  /** Body type and powertrain, as the fit has them; empty if they are unknown. */
  readonly body: string;
  /** The prices of its options, in dollars. */
  readonly optionValue: number;
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

const number = (value: Json | undefined): number | null => (typeof value === "number" ? value : null);

const inventoryTypes = ["new", "used", "certified"] as const;

/** Returns a listing, read with `subjectColumns`. */
export function describedOfListing({ row, state }: FoundListing, dimensions: Dimensions): DescribedListing {
  const build = buildRow.decode(dimensions.buildOf(row.build_key));
  const dealer = dealerRow.decode(dimensions.dealerOf(row.dealer_key));
  const shown: Shown = {
    listing_id: textIn(row, "id"),
    vin: textIn(row, "vin"),
    status: state,
    year: number(build.year),
    make: stringOrNull(build.make),
    model: stringOrNull(build.model),
    trim: stringOrNull(build.trim),
    version: stringOrNull(build.version),
    state: stringOrNull(dealer.state),
    inventory_type: inventoryTypes.find((type) => type === row.inventory_type) ?? null,
    miles: number(row.miles),
    price: number(row.price),
    msrp: number(row.msrp),
  };
  const options = dimensions.optionsOf(shown.make, dimensions.wordsOf(row.options_packages) ?? []);
  return {
    shown,
    subject: subjectOf(shown, {
      body: [stringOrNull(build.body_type), stringOrNull(build.powertrain_type)]
        .filter((part) => part !== null)
        .join(" "),
      optionValue: options.reduce((sum, { msrp }) => sum + (number(msrp) ?? 0), 0),
      place: pointOf(dealer),
    }),
    isBranded: Array.isArray(row.keywords) && row.keywords.includes("branded"),
    stored: storedValueOf(row),
    dealer: { dealer_name: stringOrNull(dealer.name), city: stringOrNull(dealer.city) },
  };
}

function pointOf({ latitude, longitude }: Row): Point | undefined {
  return typeof latitude === "number" && typeof longitude === "number" ? { latitude, longitude } : undefined;
}

function storedValueOf(row: Row): Estimate | undefined {
  const { market_value: value, market_value_low: low, market_value_high: high } = row;
  const step = steps.find((one) => one === row.value_step);
  if (typeof value !== "number" || typeof low !== "number" || typeof high !== "number" || step === undefined)
    return undefined;
  return { value, low, high, step };
}

function subjectOf(shown: Shown, others: Pick<Subject, "body" | "optionValue" | "place">): Subject | undefined {
  const { listing_id: id, year, make, model, inventory_type: inventoryType, miles } = shown;
  if (year === null || make === null || model === null || inventoryType === null || miles === null) return undefined;
  const { price, msrp, trim, version, state } = shown;
  if (inventoryType === "new" && !((msrp ?? 0) > 0)) return undefined;
  return { id, year, make, model, inventoryType, miles, price, msrp, trim, version, state, ...others };
}

type DescribedQuery = Omit<QueryOf<"findComparables">, "limit" | "vin">;

/** Returns the vehicle that parameters describe. Refuses a request without those that its value depends on. */
export function describedIn(query: DescribedQuery, dimensions: Dimensions): Described {
  const { year, make, model, inventory_type = "used", price = null, msrp = null } = query;
  const { miles = inventory_type === "new" ? 0 : undefined } = query;
  const missing = (parameter: keyof DescribedQuery, allowed: string): Error =>
    refuse("missing_parameter", { parameter, allowed });
  if (make === undefined) throw missing("make", "a make, together with model and year, or vin");
  if (model === undefined) throw missing("model", "a model");
  if (year === undefined) throw missing("year", "a model year");
  if (miles === undefined) throw missing("miles", "the odometer reading, unless inventory_type is new");
  if (inventory_type === "new" && msrp === null) throw missing("msrp", "the MSRP of a new vehicle");
  const spelled = (attribute: "make" | "model" | "trim" | "version", value: string): string =>
    dimensions.spellingOf(attribute, value) ?? value;
  const zip = query.postal_code === undefined ? undefined : zipOf(query.postal_code);
  const shown: Shown = {
    listing_id: null,
    vin: null,
    status: null,
    year,
    inventory_type,
    miles,
    price,
    msrp,
    make: spelled("make", make),
    model: spelled("model", model),
    state: zip?.state ?? null,
    trim: query.trim === undefined ? null : spelled("trim", query.trim),
    version: query.version === undefined ? null : spelled("version", query.version),
  };
  const subject = subjectOf(shown, { body: "", optionValue: 0, place: zip });
  return { shown, subject, isBranded: false, stored: undefined };
}

function zipOf(postalCode: string): ZipCode {
  const zip = zipCodes().get(postalCode.slice(0, 5));
  if (zip === undefined) throw refuse("unknown_postal_code", { value: quoted(postalCode) });
  return zip;
}
