/** The columns of the flat rows that peers are filled from, with a kind that each peer maps to its own column type. */
import { vocabulary } from "../../src/contract/document.ts";
import {
  type DerivedName,
  derivedNames,
  type RangedName,
  rangedNames,
  type ValuedName,
  valuedNames,
} from "../../src/listing/schema.ts";

export type ColumnKind = "category" | "text" | "integer" | "real" | "timestamp" | "date" | "tokens" | "texts";

/** The kind of each column. */
export const peerColumns = {
  position: "integer",
  id: "text",
  vin: "text",
  year: "integer",
  make: "category",
  model: "category",
  trim: "category",
  version: "category",
  body_type: "category",
  drivetrain: "category",
  fuel_type: "category",
  powertrain_type: "category",
  transmission: "category",
  engine: "category",
  cylinders: "integer",
  doors: "integer",
  seating_capacity: "integer",
  assembly_location: "category",
  assembly_country: "category",
  exterior_color: "category",
  interior_color: "category",
  base_exterior_color: "category",
  base_interior_color: "category",
  msrp: "integer",
  discount_from_msrp: "real",
  price: "integer",
  miles: "integer",
  days_on_market: "integer",
  listed_at: "timestamp",
  availability_status: "category",
  inventory_type: "category",
  sold_date: "date",
  sold_on_record: "date",
  dealer_id: "category",
  dealer_name: "category",
  dealer_type: "category",
  city: "category",
  state: "category",
  postal_code: "category",
  latitude: "real",
  longitude: "real",
  features: "tokens",
  options_packages: "tokens",
  keywords: "tokens",
  stock_number: "text",
  vdp_url: "text",
  photo_urls: "texts",
  price_history: "text",
  options: "text",
} as const satisfies Readonly<Record<string, ColumnKind>>;

export type ColumnName = keyof typeof peerColumns;

export const columnNames = Object.keys(peerColumns) as readonly ColumnName[];

/** The columns of a page of listings without expansions. */
export const defaultColumns: readonly ColumnName[] = columnNames.filter(
  (column) =>
    ![
      ...["position", "assembly_location", "assembly_country"],
      ...["features", "options_packages", "keywords", "price_history", "options"],
    ].includes(column),
);

/** The columns that queries count by value or compare. */
export type CategoricalColumn = Exclude<ColumnName, "position" | "id" | "vin">;

/** All facets of the API that peers can have: those that are counted by value, in the order of the document, then those that are counted in ranges. */
export type BenchNumericFacet = Exclude<RangedName, DerivedName>;
export const benchNumericFacets = rangedNames.filter(
  (facet): facet is BenchNumericFacet => !derivedNames.some((name) => name === facet),
);

/** Not facets of peers: a dealer has a label, and recorded runs count 26 categories. */
const facetsOfCarquet = ["dealer_id", "powertrain_type"] as const;
export const benchCategoricalFacets = vocabulary("getFacets", "facets").filter(
  (facet): facet is Exclude<typeof facet, RangedName | ValuedName | (typeof facetsOfCarquet)[number]> =>
    ![...rangedNames, ...valuedNames, ...facetsOfCarquet].some((name) => name === facet),
) satisfies readonly CategoricalColumn[];
export const allBenchFacets = [...benchCategoricalFacets, ...benchNumericFacets];
