/**
 * A listing in full, for the details of a listing and of a VIN, its parts shaped as schemas `ListingDetail`, `LatestListing` and
 * `Build` have them (sections 2.2 to 2.5 of the specification).
 */
import { isRow, type Json, type Row, textIn } from "../base/json.ts";
import { resolve } from "../contract/document.ts";
import type { AnswerOf } from "../contract/types.ts";
import { listingRow, type ServedColumn } from "../lake/served-columns.ts";
import type { AttributeName } from "../listing/schema.ts";
import { buildRow, type Dimensions, dealerRow } from "../serving/dimensions.ts";
import { type Expansion, expanded, expansionColumn } from "./expansions.ts";

/** A listing's own fields, its dealer and its build. */
export interface Detail {
  readonly vin: string;
  readonly build: Row;
  /** All else, with `id`. */
  readonly listing: Row;
}

type ListingDetail = AnswerOf<"getListing">["data"];
type Build = ListingDetail["vehicle"]["build"];

/** The properties of a schema of the document, in its order. */
const propertiesOf = (schema: string): readonly string[] =>
  Object.keys(
    resolve<{ readonly properties: Readonly<Record<string, unknown>> }>({ $ref: `#/components/schemas/${schema}` })
      .properties,
  );

/** Properties that are put together elsewhere: here from other tables, or in `http/present.ts`. */
const apart = ["status", "dealer", "vehicle", "price_history"] as const;

const [build, dealer] = [
  propertiesOf("Build").filter((property) => property !== "options"),
  propertiesOf("DealerBrief"),
];
const own = propertiesOf("ListingDetail").filter((property) => !apart.some((one) => one === property));

/** What is read for the properties that are not what a listing has under their name. */
const readBesides = ["build_key", "dealer_key", "listed_at", "msrp"] as const satisfies readonly ServedColumn[];

const read: readonly ServedColumn[] = [
  ...readBesides,
  ...[...own, ...build].filter((property) => listingRow.has(property)),
];

/** What is read of a listing for its detail. */
export function detailColumns(include: readonly Expansion[] = []): readonly ServedColumn[] {
  return [...new Set([...read, ...include.map((expansion) => expansionColumn[expansion])])];
}

/** The detail of a listing, given what `detailReadings` had read of it; `include` adds what it names. */
export function detailOf(fact: Row, include: readonly Expansion[] = [], dimensions: Dimensions): Detail {
  const besides: Readonly<Record<Exclude<keyof Build, AttributeName | Expansion>, Json>> = {
    combined_msrp: fact.msrp ?? null,
  };
  const vehicle: Row = {
    ...{ ...buildRow.decode(dimensions.buildOf(fact.build_key)), ...fact, ...besides },
    window_sticker_verified: fact.window_sticker_verified ?? false,
  };
  const added = (expansion: Expansion): Row =>
    include.includes(expansion)
      ? { [expansion]: expanded(expansion, fact[expansionColumn[expansion]], vehicle.make, dimensions) }
      : {};
  return {
    vin: textIn(fact, "vin"),
    build: { ...pick(vehicle, build), ...added("options") },
    listing: {
      ...ownOf(fact),
      dealer: pick(dealerRow.decode(dimensions.dealerOf(fact.dealer_key)), dealer),
      price_history: [],
      ...added("price_history"),
    },
  };
}

/** How the properties are made that are not what was read under their name. */
const made: Readonly<Record<Exclude<keyof ListingDetail, ServedColumn | (typeof apart)[number]>, (fact: Row) => Json>> &
  Readonly<Partial<Record<string, (fact: Row) => Json>>> = {
  photo_urls: photosOf,
  photo_url_primary: (fact) => photosOf(fact)[0] ?? null,
  pricing: pricingOf,
  inventory_date: ({ listed_at }) => (typeof listed_at === "string" ? listed_at.slice(0, "YYYY-MM-DD".length) : null),
};

/** A listing's own properties. */
const ownOf = (fact: Row): Row =>
  Object.fromEntries(
    own.map((property) => [property, (made[property] ?? ((of: Row) => of[property] ?? null))(fact)] as const),
  );

function photosOf({ photo_urls }: Row): readonly Json[] {
  return Array.isArray(photo_urls) ? photo_urls : [];
}

/** A provider's pricing with its rows as they were shown, in their order; what a row lacks is unknown, but its place is not. */
function pricingOf({ pricing }: Row): Json {
  if (!isRow(pricing)) return null;
  const lines = Array.isArray(pricing.line_items) ? pricing.line_items.filter(isRow) : [];
  const shown = lines.map((line, place) => ({ ...line, row_order: line.row_order ?? place + 1 }));
  return { ...pricing, line_items: shown };
}

/** Some columns of a row, in the order in which they are named. */
const pick = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(columns.map((column): [string, Json] => [column, row[column] ?? null]));
