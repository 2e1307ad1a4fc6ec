/** Random valid requests for listings and facets: the same seed and market draw the same ones. */

import { measures, oracleCategoricalFacets, oracleNumericFacets } from "../answers/facets.ts";
import type { Market } from "../answers/market.ts";
import { aggregates } from "../answers/statistics.ts";
import { Chance } from "../random-market/chance.ts";
import { draws } from "./draws.ts";
import { numberOf, type Operation, type Query, queryValues } from "./query.ts";
import { encodedList, inAnyCase } from "./spellings.ts";

export interface Request {
  readonly operation: Operation;
  readonly query: Query;
}

export interface Drawing {
  readonly seed: number;
  readonly count: number;
}

type Likelihood = Readonly<Record<string, number>>;

/** Which inventory is searched; today's if nothing is drawn. */
const modes: Likelihood = { snapshot_date: 0.3, sold_within_days: 0.15, inventory_status: 0.25 };
/** How a page is asked for. */
const controls: Likelihood = { sort: 0.7, limit: 0.6, offset: 0.4, fields: 0.35, include: 0.25 };
const byPageControls: Likelihood = { ...controls, limit: 0, offset: 0, per_page: 0.6, page: 0.5 };
const byPageShare = 0.08;

const filters = Object.keys(draws).filter((name) => modes[name] === undefined && byPageControls[name] === undefined);
const filtersMost = 5;

/** Draws so many requests for pages of listings. */
export function* randomRequests(market: Market, { seed, count }: Drawing): Generator<Request> {
  const chance = new Chance(seed);
  for (let drawn = 0; drawn < count; drawn += 1) {
    const isByPage = chance.happens(byPageShare);
    const names = [...filterNames(chance), ...likely(chance, isByPage ? byPageControls : controls)];
    const operation = isByPage ? "searchListingsByPage" : "searchListings";
    yield { operation, query: randomQuery(chance, market, names) };
  }
}

/** Draws so many requests for facets. */
export function* randomFacets(market: Market, { seed, count }: Drawing): Generator<Request> {
  const chance = new Chance(seed);
  for (let drawn = 0; drawn < count; drawn += 1) {
    const filtered = randomQuery(chance, market, filterNames(chance));
    yield { operation: "getFacets", query: new Map([...filtered, ...facetParameters(chance)]) };
  }
}

/** Draws so many queries that have filters and a mode, and no say in how they are answered. */
export function* randomFilters(market: Market, { seed, count }: Drawing): Generator<Query> {
  const chance = new Chance(seed);
  for (let drawn = 0; drawn < count; drawn += 1) {
    yield randomQuery(chance, market, filterNames(chance));
  }
}

function filterNames(chance: Chance): readonly string[] {
  const most = chance.integer(0, filtersMost);
  return [...likely(chance, modes), ...Array.from({ length: most }, () => chance.pick(filters))];
}

function likely(chance: Chance, likelihood: Likelihood): readonly string[] {
  return Object.keys(likelihood).filter((name) => chance.happens(likelihood[name] ?? 0));
}

function randomQuery(chance: Chance, market: Market, names: readonly string[]): Query {
  let query: Query = new Map();
  for (const name of names) {
    const drawn = Object.entries(draws[name]?.(chance, market, query) ?? {});
    const more = new Map([...query, ...drawn]);
    if (isValid(more)) query = more;
  }
  return query;
}

/** Which facets, and how: all of them, some, or one that is measured, perhaps beside numeric ones. */
function facetParameters(chance: Chance): readonly (readonly [string, string])[] {
  const every = [...oracleCategoricalFacets, ...oracleNumericFacets];
  const isMeasured = chance.happens(0.5);
  const names = isMeasured
    ? [chance.pick(oracleCategoricalFacets), ...(chance.happens(0.3) ? chance.some(oracleNumericFacets, 2) : [])]
    : chance.happens(0.1)
      ? every
      : chance.some(every, 5);
  const metric = `${chance.pick(measures)}.${chance.pick(Object.keys(aggregates))}`;
  const sort = chance.pick(isMeasured ? ["metric", "-metric", "count", "-count"] : ["count", "-count"]);
  const cased = names.map((name) => inAnyCase(chance, name));
  const limit = String(chance.pick([1, 2, 5, 50, 100, chance.integer(1, 100)]));
  const fixed = oracleNumericFacets.filter((facet) => names.includes(facet) && chance.happens(0.7));
  const intervals = fixed.map((facet) => inAnyCase(chance, `${facet}:${widthFrom(chance, facet)}`));
  const parameters: readonly (readonly [name: string, value: string, likely: number])[] = [
    ["facets", encodedList(chance, cased), 1],
    ["metric", inAnyCase(chance, metric), Number(isMeasured)],
    ["sort", inAnyCase(chance, sort), 0.6],
    ["facet_value_limit", limit, 0.5],
    ["interval", encodedList(chance, intervals), intervals.length === 0 ? 0 : 0.8],
  ];
  return parameters.flatMap(([name, value, likelihood]) => (chance.happens(likelihood) ? [[name, value]] : []));
}

/** A width of ranges: mostly wide enough for the values of a facet. */
function widthFrom(chance: Chance, facet: string): number {
  const usual = facet === "days_on_market" ? [1, 2, 7, 10, 30] : [1000, 2500, 7777, 10_000, 50_000];
  return chance.happens(0.7) ? chance.pick(usual) : chance.pick([1, 99, 250, 10_000_000, chance.integer(1, 3000)]);
}

/** Whether the parameters of a query can stand together. */
function isValid(query: Query): boolean {
  const status = queryValues(query.get("inventory_status"));
  const isSold = query.has("sold_within_days") || status.includes("sold");
  const hasPoint = query.has("latitude") && query.has("longitude");
  const hasOrigin = hasPoint || query.has("postal_code");
  const conflicts = [
    ["price", "mileage", "msrp", "days_on_market"].some((of) => isAbove(query, `min_${of}`, `max_${of}`)),
    query.has("sold_within_days") && status.includes("active"),
    query.has("snapshot_date") && isSold,
    query.has("latitude") !== query.has("longitude"),
    query.has("postal_code") && hasPoint,
    (query.has("radius") || queryValues(query.get("sort")).includes("distance")) && !hasOrigin,
    query.has("radius") && query.has("bbox"),
  ];
  return !conflicts.includes(true);
}

function isAbove(query: Query, least: string, most: string): boolean {
  const [from, to] = [numberOf(query, least), numberOf(query, most)];
  return from !== undefined && to !== undefined && from > to;
}
