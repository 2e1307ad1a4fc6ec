/** Random valid requests for listings: the same seed and market draw the same ones. */
import { Chance } from "./chance.ts";
import { draws, type Parameter } from "./draws.ts";
import type { Market } from "./market.ts";
import { itemsOf, numberOf, type Query, wordsOf } from "./query.ts";

/** What the service does not answer yet: a parameter, or one of its values as `parameter=value`. */
export const notBuilt: readonly string[] = [
  "features",
  "exclude_features",
  "options_packages",
  "exclude_options_packages",
  "keywords",
  "exclude_keywords",
  "exclude_assembly_location",
  "vin_pattern",
  "listed_after",
  "latitude",
  "longitude",
  "postal_code",
  "radius",
  "bbox",
  "sold_within_days",
  "inventory_status=sold",
  "include",
  "sort=distance",
];

/** How likely a request says how to answer, and of which day; all other parameters are filters, up to five of them. */
const likelihood: Readonly<Partial<Record<Parameter, number>>> = {
  snapshot_date: 0.4,
  sort: 0.7,
  limit: 0.6,
  offset: 0.4,
  fields: 0.35,
};
const filters = (Object.keys(draws) as Parameter[]).filter((name) => likelihood[name] === undefined);
const filtersMax = 5;

/** Draws so many requests, without what is not built. */
export function* randomRequests(
  market: Market,
  { seed, count, without }: { seed: number; count: number; without: readonly string[] },
): Generator<Query> {
  const chance = new Chance(seed);
  for (let drawn = 0; drawn < count; drawn += 1) yield randomRequest(chance, market, without);
}

function randomRequest(chance: Chance, market: Market, without: readonly string[]): Query {
  const available = filters.filter((name) => !without.includes(name));
  const controls = (Object.entries(likelihood) as [Parameter, number][]).filter(([, chances]) =>
    chance.happens(chances),
  );
  const names = [
    ...Array.from({ length: chance.integer(0, filtersMax) }, () => chance.pick(available)),
    ...controls.map(([name]) => name),
  ];
  let query: Query = new Map();
  for (const name of names) {
    const drawn = Object.entries(draws[name](chance, market, query));
    const more = new Map([...query, ...drawn]);
    if (isBuilt(drawn, without) && isValid(more)) query = more;
  }
  return query;
}

function isBuilt(drawn: readonly (readonly [string, string])[], without: readonly string[]): boolean {
  return drawn.every(
    ([name, raw]) =>
      !without.includes(name) && itemsOf(raw.toLowerCase()).every((item) => !without.includes(`${name}=${item}`)),
  );
}

/** Whether the parameters of a query can stand together. */
function isValid(query: Query): boolean {
  const status = wordsOf(query.get("inventory_status"));
  const isSold = query.has("sold_within_days") || status.includes("sold");
  const hasPoint = query.has("latitude") && query.has("longitude");
  const hasOrigin = hasPoint || query.has("postal_code");
  const conflicts = [
    ["price", "mileage", "msrp", "days_on_market"].some((of) => isAbove(query, `min_${of}`, `max_${of}`)),
    query.has("sold_within_days") && status.includes("active"),
    query.has("snapshot_date") && isSold,
    query.has("latitude") !== query.has("longitude"),
    query.has("postal_code") && hasPoint,
    (query.has("radius") || wordsOf(query.get("sort")).includes("distance")) && !hasOrigin,
    query.has("radius") && query.has("bbox"),
  ];
  return !conflicts.includes(true);
}

function isAbove(query: Query, least: string, most: string): boolean {
  const [from, to] = [numberOf(query, least), numberOf(query, most)];
  return from !== undefined && to !== undefined && from > to;
}
