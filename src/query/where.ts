/** Filters as SQL: one switch over their kinds, without a default, so that a new kind does not compile until it is here. */
import { integerIn } from "../base/json.ts";
import { all, any, join, name, Sql, sql } from "../base/sql.ts";
import type { Filters } from "../contract/types.ts";
import type { Dimensions } from "../lake/dimensions.ts";
import { hotValues } from "../lake/hot-copy.ts";
import { keyOf } from "../lake/hot-tables.ts";
import type { RepeatingColumn } from "../lake/layout.ts";
import type { Listings, Market } from "../lake/market.ts";
import {
  asCondition,
  isAnyOf,
  isUnheardOf,
  type Membership,
  ofDealers,
  passes,
  type Requirement,
} from "./attributes.ts";
import { type Filter, filtersOf } from "./filters.ts";
import { isInside, isWithin } from "./geography.ts";
import type { Mode } from "./modes.ts";

interface About {
  /** The columns of which the listings carry the key of the value. */
  readonly numbered: readonly RepeatingColumn[];
  readonly dimensions: Dimensions;
}

/**
 * What a request's mode and filters require of listings; nothing where all are let pass. Unknown values pass an exclusion and fail
 * everything else. Refuses filters that do not go together.
 */
export function requirementsOf(query: Filters, mode: Mode, { dimensions }: Market): readonly Requirement[] {
  const about = { numbered: mode.listings.numbered, dimensions };
  const filters = filtersOf(query).filter(({ kind }) => kind !== "everything");
  return [...mode.within, ...filters.map((filter) => requirement(filter, about))];
}

/**
 * The listings that fulfil all requirements, from FROM on; `beside` is joined to them. Keys are joined: the engine finds them in plain
 * arrays then, in half the time that it takes to ask whether each is in a set.
 */
export function matching(listings: Sql, requirements: readonly Requirement[], beside: Sql = sql``): Sql {
  const joined = requirements.filter(isJoined);
  const conditions = requirements.filter((required) => !isJoined(required)).map(asCondition);
  return sql`FROM (${listings}) ${beside} ${joining(joined)} WHERE ${all(conditions)}`;
}

/**
 * How many listings fulfil all requirements. Where nothing is required, that is known; where all is required of one key, it is known of
 * each key.
 */
export async function countMatches(
  { count, counts, unordered }: Listings,
  requirements: readonly Requirement[],
  market: Market,
): Promise<number> {
  if (requirements.length === 0) return count;
  const memberships = requirements.filter(isMembership);
  const [key, ...otherKeys] = new Set(memberships.map((one) => one.key));
  const isOfOneKey = memberships.length === requirements.length && otherKeys.length === 0;
  const counted =
    isOfOneKey && key !== undefined && counts !== undefined
      ? sql`SELECT coalesce(sum(listings), 0)::INTEGER AS total FROM (${counts(key)}) ${joining(memberships)}`
      : sql`SELECT count(*)::INTEGER AS total ${matching(unordered, requirements)}`;
  const [found] = await market.rows(counted);
  return integerIn(found, "total");
}

const isMembership = (required: Requirement): required is Membership => !(required instanceof Sql);

const isJoined = (required: Requirement): required is Membership =>
  isMembership(required) && required.told === undefined;

const joining = (memberships: readonly Membership[]): Sql =>
  join(
    memberships.map(({ key, among }) => sql`JOIN (${among}) USING (${name(key)})`),
    sql` `,
  );

function requirement(filter: Filter, about: About): Requirement {
  const condition = (one: Filter): Sql => asCondition(requirement(one, about));
  switch (filter.kind) {
    case "anyOf":
      return isAnyOf(filter.attribute, filter.values, about.dimensions);
    case "atLeast":
      return passes(filter.attribute, (column) => sql`${column} >= ${filter.bound}`);
    case "atMost":
      return passes(filter.attribute, (column) => sql`${column} <= ${filter.bound}`);
    case "carries":
      return carrying(filter, about);
    case "looksLike":
      return passes(filter.attribute, (column) => any(filter.masks.map((mask) => sql`${column} LIKE ${likeOf(mask)}`)));
    case "unheardOf":
      return isUnheardOf(filter.attribute, filter.value, about.dimensions);
    case "within":
      return ofDealers(isWithin(filter.origin, filter.radiusMiles));
    case "inside":
      return ofDealers(isInside(filter.box));
    case "all":
      return all(filter.filters.map(condition));
    case "any":
      return any(filter.filters.map(condition));
    case "not":
      return sql`(${condition(filter.filter)}) IS NOT TRUE`;
    case "everything":
      return sql`true`;
  }
}

/** The requirement that a listing carries all, or any, of some tokens. */
function carrying(
  { column, tokens, how }: Extract<Filter, { kind: "carries" }>,
  { numbered, dimensions }: About,
): Requirement {
  const keys = [...new Set(tokens.map((token) => dimensions.keyOf(column, token)))];
  const known = keys.filter((key) => key !== undefined);
  if (how === "all" && known.length < keys.length) return sql`false`;
  const has = (list: Sql): Sql =>
    (how === "any" ? any : all)(known.map((key) => sql`list_contains(${list}, ${key}::INTEGER)`));
  if (!numbered.includes(column)) return has(name(column));
  const key = keyOf(column);
  return { key, among: sql`SELECT key AS ${name(key)} FROM ${hotValues(column)} WHERE ${has(sql`value`)}` };
}

/** A VIN mask as a pattern: `?` is any character, and a mask is always the beginning. */
const likeOf = (mask: string): string => `${mask.replace(/\*$/, "").replaceAll("?", "_")}%`;
