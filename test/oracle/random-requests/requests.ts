/** Random valid requests for listings and facets; the same seed and inventory produce the same ones. */
import { epochDay } from "../../../src/base/day.ts";
import { vocabulary } from "../../../src/contract/document.ts";
import { attributes, rangedNames } from "../../../src/listing/schema.ts";
import { trendValuesMax } from "../../../src/query/trends/trends.ts";
import { Chance } from "../../support/chance.ts";
import { measures, oracleCategoricalFacets, oracleNumericFacets } from "../answers/facets.ts";
import { groupAttributes } from "../answers/groups.ts";
import type { OracleInventory } from "../answers/inventory.ts";
import { facetAggregates } from "../answers/statistics.ts";
import { draws } from "./parameters.ts";
import { hasParameter, numberOf, type Operation, type Query, queryValues } from "./query.ts";
import { encodeItems, randomCase } from "./spellings.ts";

export interface RandomRequest {
  readonly operation: Operation;
  readonly query: Query;
}

export interface RequestDraws {
  readonly seed: number;
  readonly count: number;
}

type Probabilities = Readonly<Record<string, number>>;

/** Probabilities of modes; without one, active listings are searched. */
const modes: Probabilities = { snapshot_date: 0.3, sold_within_days: 0.15, inventory_status: 0.3 };
/** Probabilities of paging parameters. */
const controls: Probabilities = { sort: 0.7, limit: 0.6, offset: 0.4, fields: 0.35, include: 0.25 };
const byPageControls: Probabilities = { ...controls, limit: 0, offset: 0, per_page: 0.6, page: 0.5 };
const byPageShare = 0.08;

const allFilters = Object.keys(draws).filter((name) => modes[name] === undefined && byPageControls[name] === undefined);
const filtersMax = 5;

/** Yields random requests for pages of listings. */
export function* randomRequests(inventory: OracleInventory, { seed, count }: RequestDraws): Generator<RandomRequest> {
  const chance = new Chance(seed);
  const filterNames = filterDeck(chance);
  for (let index = 0; index < count; index += 1) {
    const isByPage = chance.happens(byPageShare);
    const names = [...filterNames(), ...pickByProbability(chance, isByPage ? byPageControls : controls)];
    const operation = isByPage ? "searchListingsByPage" : "searchListings";
    yield { operation, query: randomQuery(chance, inventory, names) };
  }
}

export function* randomFacets(inventory: OracleInventory, { seed, count }: RequestDraws): Generator<RandomRequest> {
  const chance = new Chance(seed);
  const filterNames = filterDeck(chance);
  for (let drawn = 0; drawn < count; drawn += 1) {
    const filtered = randomQuery(chance, inventory, filterNames());
    yield {
      operation: "getFacets",
      query: new Map([...filtered, ...facetParameters(chance, filtered, inventory.hasFit)]),
    };
  }
}

/** Yields random requests for groups of one to three attributes, with up to five metrics. */
export function* randomGroups(inventory: OracleInventory, { seed, count }: RequestDraws): Generator<RandomRequest> {
  const chance = new Chance(seed);
  const filterNames = filterDeck(chance);
  for (let drawn = 0; drawn < count; drawn += 1) {
    const filtered = randomQuery(chance, inventory, filterNames().slice(0, chance.pick([1, 2, 9])));
    const query = new Map([...filtered, ...groupParameters(chance, filtered)]);
    if (isValid(query, inventory)) yield { operation: "getGroups", query };
  }
}

function groupParameters(chance: Chance, filtered: Query): readonly (readonly [string, string])[] {
  const attributes = chance.some(groupAttributes, 3);
  const canSupply = hasSupply(filtered) && !attributes.includes("value_rating");
  const metrics = Array.from({ length: chance.integer(0, 5) }, () => metricName(chance, canSupply ? 0.4 : 0));
  const sort = chance.pick(metrics.length === 0 ? ["count", "-count"] : ["metric", "-metric", "count", "-count"]);
  const parameters: readonly (readonly [name: string, value: string, likely: number])[] = [
    [
      "group_by",
      encodeItems(
        chance,
        attributes.map((name) => randomCase(chance, name)),
      ),
      1,
    ],
    ["metric", encodeItems(chance, metrics), Number(metrics.length > 0)],
    ["sort", randomCase(chance, sort), 0.6],
    ["limit", String(chance.pick([1, 2, 20, 1000, chance.integer(1, 200)])), 0.6],
  ];
  return parameters.flatMap(([name, value, likely]) => (chance.happens(likely) ? [[name, value]] : []));
}

/** Returns whether metrics of supply can be combined with filters: those of active listings that do not need values. */
const hasSupply = (query: Query): boolean =>
  !query.has("value_rating") &&
  !query.has("sold_within_days") &&
  !queryValues(query.get("inventory_status")).includes("sold");

/** Returns a random metric in any case, one of supply with a probability. */
function metricName(chance: Chance, supplyShare: number, measured: readonly string[] = measures): string {
  const isSupply = chance.happens(supplyShare);
  const name = isSupply
    ? chance.pick(["days_supply", "sell_through"])
    : `${chance.pick(measured)}.${chance.pick(facetAggregates)}`;
  return randomCase(chance, name);
}

export function* randomTrends(inventory: OracleInventory, { seed, count }: RequestDraws): Generator<RandomRequest> {
  const chance = new Chance(seed);
  const ofTrends = (name: string): boolean => hasParameter("getTrends", name);
  const filterNames = filterDeck(chance, allFilters.filter(ofTrends));
  for (let drawn = 0; drawn < count; drawn += 1) {
    const names = filterNames().filter(ofTrends);
    const filtered = randomQuery(chance, inventory, chance.happens(0.5) ? names.slice(0, 1) : names);
    yield { operation: "getTrends", query: new Map([...filtered, ...trendParameters(chance, inventory)]) };
  }
}

/** Yields random queries with filters and a mode only. */
export function* randomFilters(inventory: OracleInventory, { seed, count }: RequestDraws): Generator<Query> {
  const chance = new Chance(seed);
  const filterNames = filterDeck(chance);
  for (let drawn = 0; drawn < count; drawn += 1) {
    yield randomQuery(chance, inventory, filterNames());
  }
}

/** Returns a function that draws modes and filters: each filter once before one is drawn again, so that no generator leaves any out. */
function filterDeck(chance: Chance, filters = allFilters): () => readonly string[] {
  let deck: readonly string[] = [];
  return () => {
    const count = chance.integer(0, filtersMax);
    if (deck.length < count) {
      const ranked = filters.map((name) => [chance.next(), name] as const).sort(([one], [other]) => one - other);
      deck = [...deck, ...ranked.map(([, name]) => name)];
    }
    const drawn = deck.slice(0, count);
    deck = deck.slice(count);
    return [...pickByProbability(chance, modes), ...drawn];
  };
}

function pickByProbability(chance: Chance, likelihood: Probabilities): readonly string[] {
  return Object.keys(likelihood).filter((name) => chance.happens(likelihood[name] ?? 0));
}

function randomQuery(chance: Chance, inventory: OracleInventory, names: readonly string[]): Query {
  let query: Query = new Map();
  for (const name of names) {
    const drawn = Object.entries(draws[name]?.(chance, inventory, query) ?? {});
    const more = new Map([...query, ...drawn]);
    if (isValid(more, inventory)) query = more;
  }
  return query;
}

/** Beginnings of words and names, one that few values have, and one without letters. */
const prefixes = ["a", "s", "f1", "f-", "20", "seat heat", "c v", "mercedes b", "é", "zzz", "+"];

/** Returns facet parameters: all facets, some, or one with a metric, possibly beside numeric ones. */
const measuresWithoutValues = measures.filter((name) => name !== "price_to_value");

/** Returns the measures of the listings of a query: values are those of active listings on the published day, if prices were fitted to it. */
function measuresOf(query: Query, hasFit: boolean): readonly string[] {
  const isSold = query.has("sold_within_days") || queryValues(query.get("inventory_status")).includes("sold");
  return isSold || query.has("snapshot_date") || !hasFit ? measuresWithoutValues : measures;
}

function facetParameters(chance: Chance, filtered: Query, hasFit: boolean): readonly (readonly [string, string])[] {
  const every = [...oracleCategoricalFacets, ...oracleNumericFacets];
  const isMeasured = chance.happens(0.5);
  const names = isMeasured
    ? [chance.pick(oracleCategoricalFacets), ...(chance.happens(0.3) ? chance.some(oracleNumericFacets, 2) : [])]
    : chance.happens(0.1)
      ? every
      : chance.some(every, 5);
  const metric = metricName(
    chance,
    hasSupply(filtered) && !names.includes("value_rating") ? 0.25 : 0,
    measuresOf(filtered, hasFit),
  );
  const sort = chance.pick(isMeasured ? ["metric", "-metric", "count", "-count"] : ["count", "-count"]);
  const cased = names.map((name) => randomCase(chance, name));
  const limit = String(chance.pick([1, 2, 5, 50, 100, chance.integer(1, 100)]));
  const fixed = oracleNumericFacets.filter((facet) => names.includes(facet) && chance.happens(0.7));
  const intervals = fixed.map((facet) => randomCase(chance, `${facet}:${widthFrom(chance, facet)}`));
  const parameters: readonly (readonly [name: string, value: string, likely: number])[] = [
    ["facets", encodeItems(chance, cased), 1],
    ["metric", metric, Number(isMeasured)],
    ["sort", randomCase(chance, sort), 0.6],
    ["facet_value_limit", limit, 0.5],
    ["facet_value_prefix", encodeItems(chance, [randomCase(chance, chance.pick(prefixes))]), 0.15],
    ["facet_mode", randomCase(chance, chance.pick(["conjunctive", "disjunctive", "disjunctive"])), 0.5],
    ["interval", encodeItems(chance, intervals), intervals.length === 0 ? 0 : 0.8],
  ];
  return parameters.flatMap(([name, value, likelihood]) => (chance.happens(likelihood) ? [[name, value]] : []));
}

const trendFacets = vocabulary("getTrends", "facet");
const trendNames = ["count", "new_listings", "sold", "price_drops", "days_supply", "sell_through"];

/** Returns trend parameters: a few metrics in a period within the data, or beyond it at either end. */
function trendParameters(chance: Chance, inventory: OracleInventory): readonly (readonly [string, string])[] {
  const aggregate = (): string => chance.pick([...facetAggregates, `p${chance.integer(1, 99)}`]);
  const metric = (): string =>
    chance.happens(0.5) ? chance.pick(trendNames) : `${chance.pick(measuresWithoutValues)}.${aggregate()}`;
  const metrics = Array.from({ length: chance.integer(1, 5) }, () => randomCase(chance, metric()));
  const facets = Array.from({ length: chance.pick([1, 1, 2, 3]) }, () => randomCase(chance, chance.pick(trendFacets)));
  const days = [...inventory.snapshots.keys()].sort();
  const [from = "", to = ""] = [chance.pick(days), chance.pick(days)].sort();
  const daysMax = 1 + epochDay(days.at(-1) ?? "") - epochDay(days[0] ?? "");
  const limitMax = Math.min(20, Math.floor(trendValuesMax / (daysMax * facets.length * metrics.length)));
  const parameters: readonly (readonly [name: string, value: string, likely: number])[] = [
    ["metric", encodeItems(chance, metrics), 1],
    ["interval", randomCase(chance, chance.pick(["day", "day", "week", "month", "quarter"])), 0.8],
    ["from", chance.happens(0.2) ? "2001-02-03" : from, 0.5],
    ["to", chance.happens(0.2) ? "2099-12-31" : to, 0.5],
    ["facet", encodeItems(chance, facets), 0.6],
    ["facet_limit", String(chance.integer(1, limitMax)), limitMax < 10 ? 1 : 0.4],
  ];
  return parameters.flatMap(([name, value, likely]) => (chance.happens(likely) ? [[name, value]] : []));
}

/** Returns a bucket width, mostly wide enough for a facet's values. */
function widthFrom(chance: Chance, facet: string): number {
  const usual = facet === "days_on_market" ? [1, 2, 7, 10, 30] : [1000, 2500, 7777, 10_000, 50_000];
  return chance.happens(0.7) ? chance.pick(usual) : chance.pick([1, 99, 250, 10_000_000, chance.integer(1, 3000)]);
}

/** Returns whether the parameters of a query are compatible, with one another and with the version. */
function isValid(query: Query, { hasFit }: Pick<OracleInventory, "hasFit">): boolean {
  const status = queryValues(query.get("inventory_status"));
  const isSold = query.has("sold_within_days") || status.includes("sold");
  const hasPoint = query.has("latitude") && query.has("longitude");
  const hasOrigin = hasPoint || query.has("postal_code");
  const conflicts = [
    rangedNames.some((name) => isAbove(query, `min_${attributes[name].range}`, `max_${attributes[name].range}`)),
    query.has("sold_within_days") && status.includes("active"),
    query.has("snapshot_date") && isSold,
    query.has("latitude") !== query.has("longitude"),
    query.has("postal_code") && hasPoint,
    (query.has("radius") || queryValues(query.get("sort")).includes("distance")) && !hasOrigin,
    query.has("radius") && query.has("bbox"),
    (query.has("snapshot_date") || isSold || !hasFit) &&
      (query.has("value_rating") || queryValues(query.get("sort")).some((sort) => sort.endsWith("value"))),
    (query.has("snapshot_date") || isSold) &&
      (queryValues(query.get("group_by")).includes("value_rating") ||
        queryValues(query.get("metric")).some((metric) => metric.startsWith("price_to_value."))),
  ];
  return !conflicts.includes(true);
}

function isAbove(query: Query, min: string, max: string): boolean {
  const from = numberOf(query, min);
  const to = numberOf(query, max);
  return from !== undefined && to !== undefined && from > to;
}
