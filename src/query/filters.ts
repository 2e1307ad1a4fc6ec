/**
 * What each filter parameter means: one row each, checked from both sides. A parameter that the document has and this table
 * lacks does not compile, nor does the reverse, nor a rule of the wrong type.
 */
import { refuse } from "../contract/errors.ts";
import type { Filters } from "../contract/types.ts";
import type { AttributeName } from "./attributes.ts";

/** A condition on listings, as plain data. */
export type Filter =
  | { readonly kind: "anyOf"; readonly attribute: AttributeName; readonly values: readonly (string | number)[] }
  | { readonly kind: "atLeast"; readonly attribute: AttributeName; readonly bound: number }
  | { readonly kind: "atMost"; readonly attribute: AttributeName; readonly bound: number }
  | { readonly kind: "not"; readonly filter: Filter }
  | { readonly kind: "everything" };

/** How a parameter's value becomes a filter. */
type Rule<T> = (value: T) => Filter;

const anyOf =
  (attribute: AttributeName): Rule<readonly (string | number)[]> =>
  (values) => ({ kind: "anyOf", attribute, values });

const atLeast =
  (attribute: AttributeName): Rule<number> =>
  (bound) => ({ kind: "atLeast", attribute, bound });

const atMost =
  (attribute: AttributeName): Rule<number> =>
  (bound) => ({ kind: "atMost", attribute, bound });

const not =
  <T>(rule: Rule<T>): Rule<T> =>
  (value) => ({ kind: "not", filter: rule(value) });

/** Says which listings are searched, not which of them match. */
const mode = (): Filter => ({ kind: "everything" });

/** Defined in the document, and not built yet. */
const notBuilt = (parameter: string) => (): Filter => {
  throw refuse("not_implemented", { what: `The parameter ${parameter}` });
};

export const filters = {
  make: anyOf("make"),
  model: anyOf("model"),
  model_code: anyOf("model_code"),
  trim: anyOf("trim"),
  version: anyOf("version"),
  year: anyOf("year"),
  body_type: anyOf("body_type"),
  engine: anyOf("engine"),
  transmission: anyOf("transmission"),
  drivetrain: anyOf("drivetrain"),
  fuel_type: anyOf("fuel_type"),
  powertrain_type: anyOf("powertrain_type"),
  cylinders: anyOf("cylinders"),
  doors: anyOf("doors"),
  seating_capacity: anyOf("seating_capacity"),
  exterior_color: anyOf("exterior_color"),
  interior_color: anyOf("interior_color"),
  base_exterior_color: anyOf("base_exterior_color"),
  base_interior_color: anyOf("base_interior_color"),
  assembly_country: anyOf("assembly_country"),
  assembly_location: anyOf("assembly_location"),
  inventory_type: anyOf("inventory_type"),
  availability_status: anyOf("availability_status"),
  dealer_id: anyOf("dealer_id"),
  dealer_type: anyOf("dealer_type"),
  state: anyOf("state"),

  exclude_make: not(anyOf("make")),
  exclude_model: not(anyOf("model")),
  exclude_trim: not(anyOf("trim")),
  exclude_version: not(anyOf("version")),
  exclude_year: not(anyOf("year")),
  exclude_body_type: not(anyOf("body_type")),
  exclude_engine: not(anyOf("engine")),
  exclude_transmission: not(anyOf("transmission")),
  exclude_drivetrain: not(anyOf("drivetrain")),
  exclude_fuel_type: not(anyOf("fuel_type")),
  exclude_powertrain_type: not(anyOf("powertrain_type")),
  exclude_exterior_color: not(anyOf("exterior_color")),
  exclude_interior_color: not(anyOf("interior_color")),
  exclude_base_exterior_color: not(anyOf("base_exterior_color")),
  exclude_base_interior_color: not(anyOf("base_interior_color")),
  exclude_assembly_country: not(anyOf("assembly_country")),
  exclude_inventory_type: not(anyOf("inventory_type")),
  exclude_state: not(anyOf("state")),

  min_price: atLeast("price"),
  max_price: atMost("price"),
  min_mileage: atLeast("miles"),
  max_mileage: atMost("miles"),
  min_msrp: atLeast("msrp"),
  max_msrp: atMost("msrp"),
  min_days_on_market: atLeast("days_on_market"),
  max_days_on_market: atMost("days_on_market"),

  snapshot_date: mode,
  inventory_status: mode,
  sold_within_days: mode,

  features: notBuilt("features"),
  exclude_features: notBuilt("exclude_features"),
  options_packages: notBuilt("options_packages"),
  exclude_options_packages: notBuilt("exclude_options_packages"),
  keywords: notBuilt("keywords"),
  exclude_keywords: notBuilt("exclude_keywords"),
  exclude_assembly_location: notBuilt("exclude_assembly_location"),
  vin_pattern: notBuilt("vin_pattern"),
  listed_after: notBuilt("listed_after"),
  latitude: notBuilt("latitude"),
  longitude: notBuilt("longitude"),
  postal_code: notBuilt("postal_code"),
  radius: notBuilt("radius"),
  bbox: notBuilt("bbox"),
} satisfies { readonly [P in keyof Required<Filters>]: Rule<NonNullable<Filters[P]>> };

/** The filters of a request's parameters. Refuses a range whose ends are the wrong way round. */
export function filtersOf(query: Filters): readonly Filter[] {
  for (const range of ["price", "mileage", "msrp", "days_on_market"] as const) {
    const [least, most] = [query[`min_${range}`], query[`max_${range}`]];
    if (least === undefined || most === undefined || least <= most) continue;
    const reason = `the minimum ${least} is above the maximum ${most}`;
    throw refuse("incompatible_parameters", { parameters: `min_${range} and max_${range}`, reason });
  }
  return Object.entries(filters).flatMap(([parameter, rule]) => {
    const value: unknown = query[parameter as keyof Filters];
    return value === undefined ? [] : [(rule as Rule<unknown>)(value)];
  });
}
