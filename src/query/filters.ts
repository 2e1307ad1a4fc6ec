/**
 * What each filter parameter means. Most rules follow from how an attribute is searched (`listing/schema.ts`); the others are rows of the
 * table. A parameter that the document has and the table lacks does not compile, nor a searched attribute without its parameters, nor a
 * rule of the wrong type.
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
  type TokensName,
  tokensNames,
} from "../listing/schema.ts";
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

/** A rule for each of some names, under parameters that begin with a prefix. */
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

/** What the parameters call the attributes that have bounds. */
type Range = (typeof attributes)[RangedName]["range"];

const ranges = Object.fromEntries(rangedNames.map((name) => [attributes[name].range, name])) as Readonly<
  Record<Range, RangedName>
>;
const rangeNames = Object.keys(ranges) as readonly Range[];

/** The names of attributes, all of which the document has as filters. */
const documented = <Name extends keyof Filters>(names: readonly Name[]): readonly Name[] => names;

/** The rules that follow from how an attribute is searched; exclusions that the document lacks are never asked for. */
const derived = {
  ...rules("", documented(categoryNames), anyOf),
  ...rules("exclude_", categoryNames, (name) => not(anyOf(name))),
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
  for (const range of rangeNames) {
    const [least, most] = [query[`min_${range}`], query[`max_${range}`]];
    if (least === undefined || most === undefined || least <= most) continue;
    const reason = `the minimum ${least} is above the maximum ${most}`;
    throw refuse("incompatible_parameters", { parameters: `min_${range} and max_${range}`, reason });
  }
  return parameters
    .filter((parameter) => query[parameter] !== undefined)
    .flatMap((parameter) => (filters[parameter] as Rule<unknown>)(query[parameter], query) ?? []);
}
