/**
 * What each filter parameter means: one row each, checked from both sides. A parameter that the document has and this table
 * lacks does not compile, nor does the reverse, nor a rule of the wrong type.
 */

import { epochMs } from "../base/day.ts";
import { refuse } from "../contract/errors.ts";
import type { Filters } from "../contract/types.ts";
import type { Filter } from "../listing/filter.ts";
import type { CategoryName, NumberName, TokensName } from "../listing/schema.ts";
import { boxOf, neededOrigin, originOf } from "./geography.ts";

/** How a parameter's value becomes a filter, or none; geography looks at several parameters. */
type Rule<T> = (value: T, query: Filters) => Filter | undefined;

const anyOf =
  (attribute: CategoryName): Rule<readonly (string | number)[]> =>
  (values) => ({ kind: "anyOf", attribute, values });

const hasTokens =
  (attribute: TokensName, how: "all" | "any"): Rule<readonly string[]> =>
  (values) => ({ kind: "hasTokens", attribute, values, how });

const keyword = (word: string): Filter => ({ kind: "hasTokens", attribute: "keywords", values: [word], how: "all" });

const negativeKeywords: readonly string[] = ["branded", "fleet"];

/** Positive keywords must be there, negative ones must not. */
const keywords: Rule<readonly string[]> = (words) => ({
  kind: "all",
  filters: words.map((word): Filter => {
    const filter = keyword(word);
    return negativeKeywords.includes(word) ? { kind: "not", filter } : filter;
  }),
});

const atLeast =
  (attribute: NumberName): Rule<number> =>
  (bound) => ({ kind: "atLeast", attribute, bound });

const atMost =
  (attribute: NumberName): Rule<number> =>
  (bound) => ({ kind: "atMost", attribute, bound });

const not =
  <T>(rule: Rule<T>): Rule<T> =>
  (value, query) => {
    const filter = rule(value, query);
    return filter && { kind: "not", filter };
  };

const masks: Rule<readonly string[]> = (values) => ({ kind: "matchesMask", masks: values });

const since: Rule<string> = (time) => ({ kind: "listedSince", timeMs: epochMs(time) });

/** Places; one in which a `+` is still in doubt is itself where it is a known place with a blank for it, else two places. */
const locations: Rule<readonly string[]> = (values) => {
  const attribute = "assembly_location";
  const inDoubt = values.filter((value) => value.includes("+"));
  const certain = values.filter((value) => !value.includes("+"));
  return {
    kind: "any",
    filters: [
      ...(certain.length === 0 ? [] : [{ kind: "anyOf", attribute, values: certain } as const]),
      ...inDoubt.map((value): Filter => {
        const [place, places] = [value.replaceAll("+", " "), value.split("+").map((part) => part.trim())];
        const apart: Filter = {
          kind: "all",
          filters: [
            { kind: "anyOf", attribute, values: places },
            { kind: "isUnknownValue", attribute, value: place },
          ],
        };
        return { kind: "any", filters: [{ kind: "anyOf", attribute, values: [place] }, apart] };
      }),
    ],
  };
};

const within: Rule<number> = (radiusMiles, query) => ({
  kind: "withinRadius",
  origin: neededOrigin(query, "radius"),
  radiusMiles,
});

const inside: Rule<readonly number[]> = (corners, query) => ({ kind: "insideBox", box: boxOf(corners, query) });

/** Says from where distances are; checked, and no condition of its own. */
const origin: Rule<string | number> = (_value, query) => {
  originOf(query);
  return undefined;
};

/** Says which listings are searched, not which of them match. */
const mode = (): undefined => undefined;

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

  features: hasTokens("features", "all"),
  exclude_features: not(hasTokens("features", "any")),
  options_packages: hasTokens("options_packages", "all"),
  exclude_options_packages: not(hasTokens("options_packages", "any")),
  keywords,
  exclude_keywords: not((words) => ({ kind: "any", filters: words.map(keyword) })),
  exclude_assembly_location: not(locations),
  vin_pattern: masks,
  listed_after: since,
  latitude: origin,
  longitude: origin,
  postal_code: origin,
  radius: within,
  bbox: inside,
} satisfies { readonly [P in keyof Required<Filters>]: Rule<NonNullable<Filters[P]>> };

const parameters = Object.keys(filters) as readonly (keyof Filters)[];

/** The filters of a request's parameters. Refuses a range whose ends are the wrong way round. */
export function filtersOf(query: Filters): readonly Filter[] {
  for (const range of ["price", "mileage", "msrp", "days_on_market"] as const) {
    const [least, most] = [query[`min_${range}`], query[`max_${range}`]];
    if (least === undefined || most === undefined || least <= most) continue;
    const reason = `the minimum ${least} is above the maximum ${most}`;
    throw refuse("incompatible_parameters", { parameters: `min_${range} and max_${range}`, reason });
  }
  return parameters
    .filter((parameter) => query[parameter] !== undefined)
    .flatMap((parameter) => (filters[parameter] as Rule<unknown>)(query[parameter], query) ?? []);
}
