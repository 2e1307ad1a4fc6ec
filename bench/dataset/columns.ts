/** The columns of the flat rows that peers are filled from, with a kind that each peer maps to its own column type. */

export type ColumnKind = "category" | "text" | "integer" | "real" | "timestamp" | "date" | "tokens" | "texts";

export interface FlatColumn {
  readonly kind: ColumnKind;
  /** True for columns that pages return and no query filters, sorts or counts by. */
  readonly isWide?: true;
}

const [category, integer] = [{ kind: "category" }, { kind: "integer" }] as const;

export const peerColumns = {
  position: integer,
  id: { kind: "text" },
  vin: { kind: "text" },
  year: integer,
  make: category,
  model: category,
  trim: category,
  version: category,
  body_type: category,
  drivetrain: category,
  fuel_type: category,
  powertrain_type: category,
  transmission: category,
  engine: category,
  cylinders: integer,
  doors: integer,
  seating_capacity: integer,
  assembly_location: category,
  assembly_country: category,
  exterior_color: category,
  interior_color: category,
  base_exterior_color: category,
  base_interior_color: category,
  msrp: integer,
  discount_from_msrp: { kind: "real" },
  price: integer,
  miles: integer,
  days_on_market: integer,
  listed_at: { kind: "timestamp" },
  availability_status: category,
  inventory_type: category,
  sold_date: { kind: "date" },
  sold_on_record: { kind: "date" },
  dealer_id: category,
  dealer_name: category,
  dealer_type: category,
  city: category,
  state: category,
  postal_code: category,
  latitude: { kind: "real" },
  longitude: { kind: "real" },
  features: { kind: "tokens" },
  options_packages: { kind: "tokens" },
  keywords: { kind: "tokens" },
  stock_number: { kind: "text", isWide: true },
  vdp_url: { kind: "text", isWide: true },
  photo_urls: { kind: "texts", isWide: true },
  price_history: { kind: "text", isWide: true },
  options: { kind: "text", isWide: true },
} as const satisfies Record<string, FlatColumn>;

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

export const kindOf = (column: ColumnName): ColumnKind => peerColumns[column].kind;

export const isWide = (column: ColumnName): boolean => "isWide" in peerColumns[column];
