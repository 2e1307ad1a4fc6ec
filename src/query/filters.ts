/**
 * Translates filter parameters to filters, with one rule per parameter.
 *
 * Most rules are derived from how an attribute is searched (`listing/schema.ts`); the others are rows of the table `filters`. A parameter of
 * the document without a rule, a searched attribute without its parameters, and a rule of the wrong type do not compile.
 */
import { epochMs } from "../base/day.ts";
import { refuse } from "../contract/errors.ts";
import type { Filters } from "../contract/types.ts";
import type { Filter } from "../listing/filter.ts";
import {
  attributes,
  type CategoryName,
  categoryNames,
  type NumberName,
  type RangedName,
  rangedNames,
  type TextName,
  type TimeName,
  type TokensName,
  textNames,
  tokensNames,
} from "../listing/schema.ts";
import type { Dimensions } from "../serving/dimensions.ts";
import { boxOf, originOf, requireOrigin } from "./geography.ts";
import { divideLocations } from "./locations.ts";

/** Further inputs of a rule: the other parameters, and the values of the data. */
interface RuleContext {
  readonly query: Filters;
  readonly dimensions: Dimensions;
}

/** Translates a parameter's value to a filter; undefined if it adds no condition. */
type Rule<T> = (value: T, context: RuleContext) => Filter | undefined;

const anyOf =
  (attribute: CategoryName): Rule<readonly (string | number)[]> =>
  (values) => ({ kind: "anyOf", attribute, values });

const equalsText =
  (attribute: TextName): Rule<readonly string[]> =>
  (values) => ({ kind: "equalsText", attribute, values });

const hasTokens =
  (attribute: TokensName, how: "all" | "any"): Rule<readonly string[]> =>
  (values) => ({ kind: "hasTokens", attribute, values, how });

const hasKeyword = (value: string): Filter => ({
  kind: "hasTokens",
  attribute: "keywords",
  values: [value],
  how: "all",
});

const negativeKeywords: readonly string[] = ["branded", "fleet"];

/** Requires positive keywords and excludes negative ones. */
const keywords: Rule<readonly string[]> = (values) => ({
  kind: "all",
  filters: values.map((value): Filter => {
    const filter = hasKeyword(value);
    return negativeKeywords.includes(value) ? { kind: "not", filter } : filter;
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
  (value, context) => {
    const filter = rule(value, context);
    return filter && { kind: "not", filter };
  };

const matchesMask: Rule<readonly string[]> = (masks) => ({ kind: "matchesMask", masks });

const since =
  (attribute: TimeName): Rule<string> =>
  (time) => ({ kind: "since", attribute, timeMs: epochMs(time) });

/** Matches any of the known locations in the values. */
const locations: Rule<readonly string[]> = (values, { dimensions }) => {
  const { known } = divideLocations(values, dimensions);
  return known.length === 0 ? undefined : { kind: "anyOf", attribute: "assembly_location", values: known };
};

const withinRadius: Rule<number> = (radiusMiles, { query }) => ({
  kind: "withinRadius",
  origin: requireOrigin(query, "radius"),
  radiusMiles,
});

const insideBox: Rule<readonly number[]> = (corners, { query }) => ({ kind: "insideBox", box: boxOf(corners, query) });

/** Validates the origin; adds no filter. */
const origin: Rule<string | number> = (_value, { query }) => {
  originOf(query);
  return undefined;
};

/** Adds no filter: the parameter selects the inventory mode (see `modes.ts`). */
const mode = (): undefined => undefined;

/** Returns one rule per name, for the parameters `<prefix><name>`. */
function rules<Prefix extends string, Name extends string, T>(
  prefix: Prefix,
  names: readonly Name[],
  rule: (name: Name) => Rule<T>,
): Readonly<Record<`${Prefix}${Name}`, Rule<T>>> {
  return Object.fromEntries(names.map((name) => [`${prefix}${name}`, rule(name)])) as Record<
    `${Prefix}${Name}`,
    Rule<T>
  >;
}

/** Names of ranged attributes in `min_<name>` and `max_<name>`. */
type Range = (typeof attributes)[RangedName]["range"];

const ranges = Object.fromEntries(rangedNames.map((name) => [attributes[name].range, name])) as Readonly<
  Record<Range, RangedName>
>;
const rangeNames = Object.keys(ranges) as readonly Range[];

/** Checks at compile time that the document has a filter for each name. */
const documented = <Name extends keyof Filters>(names: readonly Name[]): readonly Name[] => names;

/** Rules derived from how attributes are searched. Exclusions that the document does not have are unreachable. */
const derived = {
  ...rules("", documented(categoryNames), anyOf),
  ...rules("exclude_", categoryNames, (name) => not(anyOf(name))),
  ...rules("", documented(textNames), equalsText),
  ...rules("", documented(tokensNames), (name) => hasTokens(name, "all")),
  ...rules("exclude_", tokensNames, (name) => not(hasTokens(name, "any"))),
  ...rules("min_", rangeNames, (range) => atLeast(ranges[range])),
  ...rules("max_", rangeNames, (range) => atMost(ranges[range])),
};

export const filters = {
  ...derived,

  snapshot_date: mode,
  inventory_status: mode,
  sold_within_days: mode,

  keywords,
  exclude_keywords: not((values) => ({ kind: "any", filters: values.map(hasKeyword) })),
  exclude_assembly_location: not(locations),
  vin_pattern: matchesMask,
  listed_after: since("listed_at"),
  min_price_drop_percent: atLeast("price_drop_percent"),
  price_changed_after: since("price_changed_at"),
  latitude: origin,
  longitude: origin,
  postal_code: origin,
  radius: withinRadius,
  bbox: insideBox,
} satisfies { readonly [P in keyof Required<Filters>]: Rule<NonNullable<Filters[P]>> };

const parameters = Object.keys(filters) as readonly (keyof Filters)[];

/** Returns the filters of a request. Refuses a range whose minimum is above its maximum. */
export function filtersOf(query: Filters, dimensions: Dimensions): readonly Filter[] {
  for (const range of rangeNames) {
    const min = query[`min_${range}`];
    const max = query[`max_${range}`];
    if (min === undefined || max === undefined || min <= max) continue;
    const reason = `the minimum ${min} is above the maximum ${max}`;
    throw refuse("incompatible_parameters", { parameters: `min_${range} and max_${range}`, reason });
  }
  return parameters
    .filter((parameter) => query[parameter] !== undefined)
    .flatMap((parameter) => (filters[parameter] as Rule<unknown>)(query[parameter], { query, dimensions }) ?? []);
}
