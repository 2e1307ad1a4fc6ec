/** The columns of the flat rows that peers hold, and the kind of values in each, which every engine has a type of its own for. */

export type Kind = "word" | "text" | "whole" | "real" | "time" | "day" | "words" | "texts";

export interface Column {
  readonly kind: Kind;
  /** Whether it is wide: shown on a page, and never asked about. */
  readonly isWide?: true;
}

const [word, whole] = [{ kind: "word" }, { kind: "whole" }] as const;

export const columns = {
  position: whole,
  id: { kind: "text" },
  vin: { kind: "text" },
  year: whole,
  make: word,
  model: word,
  trim: word,
  version: word,
  body_type: word,
  drivetrain: word,
  fuel_type: word,
  powertrain_type: word,
  transmission: word,
  engine: word,
  cylinders: whole,
  doors: whole,
  seating_capacity: whole,
  assembly_location: word,
  assembly_country: word,
  exterior_color: word,
  interior_color: word,
  base_exterior_color: word,
  base_interior_color: word,
  msrp: whole,
  discount_from_msrp: { kind: "real" },
  price: whole,
  miles: whole,
  days_on_market: whole,
  listed_at: { kind: "time" },
  availability_status: word,
  inventory_type: word,
  sold_date: { kind: "day" },
  dealer_id: word,
  dealer_name: word,
  dealer_type: word,
  city: word,
  state: word,
  postal_code: word,
  latitude: { kind: "real" },
  longitude: { kind: "real" },
  features: { kind: "words" },
  options_packages: { kind: "words" },
  keywords: { kind: "words" },
  stock_number: { kind: "text", isWide: true },
  vdp_url: { kind: "text", isWide: true },
  photo_urls: { kind: "texts", isWide: true },
  price_history: { kind: "text", isWide: true },
  options: { kind: "text", isWide: true },
} as const satisfies Record<string, Column>;

export type ColumnName = keyof typeof columns;

export const columnNames = Object.keys(columns) as readonly ColumnName[];

/** What a page of listings shows, unless it is asked for more. */
export const shown: readonly ColumnName[] = columnNames.filter(
  (column) =>
    ![
      ...["position", "assembly_location", "assembly_country"],
      ...["features", "options_packages", "keywords", "price_history", "options"],
    ].includes(column),
);

/** The kind of a column. */
export const kindOf = (column: ColumnName): Kind => columns[column].kind;

/** Whether a column is wide. */
export const isWide = (column: ColumnName): boolean => "isWide" in columns[column];
