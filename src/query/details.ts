/**
 * Full listings for operations `getListing` and `getVin`, in the shapes of schemas `ListingDetail`, `LatestListing` and `Build`.
 *
 * The property lists come from the document. A new property of the document does not compile until it has a source here.
 */
import { isRow, type Json, type Row, rowOf, textIn } from "../base/json.ts";
import { resolve } from "../contract/document.ts";
import type { AnswerOf } from "../contract/types.ts";
import { listingRow, type ServedColumn } from "../lake/served-columns.ts";
import type { AttributeName } from "../listing/schema.ts";
import { buildRow, type Dimensions, dealerRow } from "../serving/dimensions.ts";
import { type Expansion, expand, expansionColumn } from "./fields.ts";

/** A listing with its dealer, and its build. */
export interface Detail {
  readonly vin: string;
  /** Schema `Build`. */
  readonly build: Row;
  /** All other properties, `id` included. */
  readonly listing: Row;
}

type ListingDetail = AnswerOf<"getListing">["data"];
type Build = ListingDetail["vehicle"]["build"];

/** Returns the property names of a schema of the document, in document order. */
const propertiesOf = (schema: string): readonly string[] =>
  Object.keys(
    resolve<{ readonly properties: Readonly<Record<string, unknown>> }>({ $ref: `#/components/schemas/${schema}` })
      .properties,
  );

/** Properties of `ListingDetail` that `detailOf` or `operations/result.ts` adds from other sources. */
const joinedProperties = ["status", "dealer", "vehicle", "price_history"] as const;

const buildProperties = propertiesOf("Build").filter((property) => property !== "options");
const dealerProperties = propertiesOf("DealerBrief");
const listingProperties = propertiesOf("ListingDetail").filter(
  (property) => !joinedProperties.some((joined) => joined === property),
);

const sourceColumns = [
  ...(["build_key", "dealer_key", "listed_at", "msrp", "filled_from_vin"] as const),
] as const satisfies readonly ServedColumn[];

const baseColumns: readonly ServedColumn[] = [
  ...sourceColumns,
  ...[...listingProperties, ...buildProperties].filter((property) => listingRow.has(property)),
];

/** Returns the listing columns that `detailOf` needs. */
export function detailColumns(include: readonly Expansion[] = []): readonly ServedColumn[] {
  return [...baseColumns, ...include.map((expansion) => expansionColumn[expansion])];
}

/** Returns the detail of a listing row that was read with `detailColumns`, with the requested expansions. */
export function detailOf(row: Row, include: readonly Expansion[] = [], dimensions: Dimensions): Detail {
  const build = buildRow.decode(dimensions.buildOf(row.build_key));
  const expansionOf = (expansion: Expansion): Row =>
    include.includes(expansion)
      ? { [expansion]: expand(expansion, row[expansionColumn[expansion]], build.make, dimensions) }
      : {};
  return {
    vin: textIn(row, "vin"),
    build: Object.assign(buildOf(row, build), expansionOf("options")),
    listing: Object.assign(listingPropertiesOf(row), {
      dealer: pick(dealerRow.decode(dimensions.dealerOf(row.dealer_key)), dealerProperties),
      price_history: [],
      ...expansionOf("price_history"),
    }),
  };
}

/** Returns schema `Build` without options, from a listing's row and that of its build. */
function buildOf(row: Row, build: Row): Row {
  const { filled_from_vin: fromVin } = row;
  const names = Array.isArray(fromVin) ? fromVin.filter((name) => buildProperties.some((known) => known === name)) : [];
  const computed: Readonly<Record<Exclude<keyof Build, AttributeName | Expansion>, Json>> &
    Readonly<Partial<Record<string, Json>>> = {
    combined_msrp: row.msrp ?? null,
    derived: Object.fromEntries(names.map((name) => [String(name), "vin"])),
  };
  return {
    ...rowOf(buildProperties, (property) => computed[property] ?? row[property] ?? build[property] ?? null),
    window_sticker_verified: row.window_sticker_verified ?? false,
  };
}

/** Returns schema `Build` of a vehicle that is known by its VIN only, given the attributes that follow from it. */
export function decodedBuild(attributes: Row, include: readonly Expansion[] = []): Row {
  const names = Object.keys(attributes).filter((name) => attributes[name] !== null);
  return {
    ...buildOf({ filled_from_vin: names }, attributes),
    ...(include.includes("options") ? { options: [] } : {}),
  };
}

type DerivedProperty = Exclude<keyof ListingDetail, ServedColumn | (typeof joinedProperties)[number]>;
type Derivation = (row: Row) => Json;

/** Properties of `ListingDetail` that are computed; all others are the column of the same name. */
const derivedProperties: Readonly<Record<DerivedProperty, Derivation>> & Readonly<Partial<Record<string, Derivation>>> =
  {
    photo_urls: photosOf,
    photo_url_primary: (row) => photosOf(row)[0] ?? null,
    pricing: pricingOf,
    inventory_date: ({ listed_at }) => (typeof listed_at === "string" ? listed_at.slice(0, "YYYY-MM-DD".length) : null),
    price_change_total: priceChangeTotal,
    unknown_costs: ({ all_in_price }) => [...(all_in_price === null ? ["seller_fees"] : []), "taxes_and_registration"],
  };

const listingPropertiesOf = (row: Row): Row =>
  rowOf(listingProperties, (property) => {
    const derive = derivedProperties[property];
    return derive === undefined ? (row[property] ?? null) : derive(row);
  });

function priceChangeTotal({ price, price_at_listing: first }: Row): Json {
  return typeof price === "number" && typeof first === "number" ? price - first : null;
}

function photosOf({ photo_urls }: Row): readonly Json[] {
  return Array.isArray(photo_urls) ? photo_urls : [];
}

/** Returns a provider's pricing with its line items in display order. A line item without `row_order` gets its position in the list. */
function pricingOf({ pricing }: Row): Json {
  if (!isRow(pricing)) return null;
  const items = Array.isArray(pricing.line_items) ? pricing.line_items.filter(isRow) : [];
  const lineItems = items.map((item, index) => ({ ...item, row_order: item.row_order ?? index + 1 }));
  return { ...pricing, line_items: lineItems };
}

/** Returns the given columns of a row, in the given order; missing columns are null. */
const pick = (row: Row, columns: readonly string[]): Row => rowOf(columns, (column) => row[column] ?? null);
