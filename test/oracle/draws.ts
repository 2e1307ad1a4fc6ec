/** How a value is drawn for each parameter of the listing search: mostly one that some listing has. */
import type { QueryOf } from "../../src/contract/types.ts";
import type { Chance } from "./chance.ts";
import { fields } from "./listings.ts";
import type { FlatListing, ListField, Market, NumberField, TextField } from "./market.ts";
import type { Query } from "./query.ts";
import { encoded, encodedList, inAnyCase, named, spelled } from "./spellings.ts";

export type Parameter = keyof QueryOf<"searchListings">;

/** Draws a parameter's value, encoded, with what it cannot do without; nothing when the market has no such thing. */
type Draw = (chance: Chance, market: Market, soFar: Query) => Readonly<Partial<Record<Parameter, string>>>;

function listingsOf(market: Market): readonly FlatListing[] {
  return [market.active, market.sold, ...market.snapshots.values()].flat();
}

const texts =
  (name: Parameter, field: TextField, spell = spelled, separator = ","): Draw =>
  (chance, market) => {
    const known = listingsOf(market).flatMap(({ [field]: value }) =>
      value === null || value.includes(separator) ? [] : [value],
    );
    if (known.length === 0) return { [name]: encoded(chance, spell(chance, "Nowhere")) };
    const values = chance.some(known, chance.happens(0.6) ? 1 : 4);
    const items = values.map((value) => spell(chance, value)).filter((value) => !value.includes(separator));
    return items.length === 0 ? {} : { [name]: encodedList(chance, items, separator) };
  };

const words =
  (name: Parameter, vocabulary: readonly string[]): Draw =>
  (chance) => {
    const items = chance.some(vocabulary, Math.min(3, vocabulary.length));
    const cased = items.map((word) => inAnyCase(chance, word));
    return { [name]: encodedList(chance, cased) };
  };

const word =
  (name: Parameter, vocabulary: readonly string[]): Draw =>
  (chance) => ({ [name]: inAnyCase(chance, chance.pick(vocabulary)) });

const numbers =
  (name: Parameter, field: NumberField, absent: number): Draw =>
  (chance, market) => {
    const known = listingsOf(market).map((listing) => listing[field] ?? absent);
    const values = chance.some([...known, absent], chance.happens(0.6) ? 1 : 4);
    return { [name]: encodedList(chance, values.map(String)) };
  };

const bound =
  (name: Parameter, field: NumberField): Draw =>
  (chance, market) => {
    const known = listingsOf(market).map((listing) => listing[field] ?? 0);
    const value = chance.pick(known) + chance.pick([0, 0, 0, 1, -1, 1000, -1000]);
    return { [name]: String(Math.max(0, value)) };
  };

const tokens =
  (name: Parameter, field: ListField): Draw =>
  (chance, market) => {
    const carried = chance.pick(listingsOf(market))[field];
    if (carried.length === 0) return {};
    const items = chance.some(carried, 3).map((token) => spelled(chance, token));
    return { [name]: encodedList(chance, items) };
  };

const states =
  (name: Parameter): Draw =>
  (chance, market) => {
    const known = listingsOf(market).flatMap(({ state }) => (/^[A-Z]{2}$/.test(state ?? "") ? [state ?? ""] : []));
    const items = chance.some([...known, "ZZ"], 3).map((state) => inAnyCase(chance, state));
    return { [name]: encodedList(chance, items) };
  };

const dealers: Draw = (chance, market) => {
  const known = listingsOf(market).flatMap(({ dealer_id }) => dealer_id ?? []);
  const items = chance.some([...known, "00000000-0000-4000-8000-000000000000"], 3);
  const cased = items.map((id) => inAnyCase(chance, id));
  return { dealer_id: encodedList(chance, cased) };
};

const excludedLocations: Draw = (chance, market) => {
  const known = listingsOf(market).flatMap(({ assembly_location }) => assembly_location ?? []);
  if (known.length === 0) return {};
  const items = chance.some(known, 2).map((place) => encoded(chance, spelled(chance, place)));
  return { exclude_assembly_location: items.join(chance.pick(["+", "%2B"])) };
};

const masks: Draw = (chance, market) => {
  const patterns = chance.some(listingsOf(market), 3).map(({ vin }) => {
    const shown = vin.slice(0, chance.pick([1, 2, 3, 8, 11, 17]));
    const holed = [...shown].map((letter) => (chance.happens(0.2) ? "?" : letter)).join("");
    return inAnyCase(chance, chance.happens(0.3) ? `${holed}*` : holed);
  });
  return { vin_pattern: encodedList(chance, patterns) };
};

const listedAfter: Draw = (chance, market) => {
  const { listed_at } = chance.pick(listingsOf(market));
  const time = Date.parse(listed_at ?? market.asOf) + chance.pick([0, 0, 1000, -1000, 86_400_000, -86_400_000]);
  const utc = (at: number): string => new Date(at).toISOString().slice(0, 19);
  const zoned = chance.pick([`${utc(time)}Z`, `${utc(time + 7_200_000)}+02:00`, utc(time).slice(0, 10)]);
  return { listed_after: encodeURIComponent(zoned) };
};

const point: Draw = (chance, market) => {
  const { latitude, longitude } = chance.pick(listingsOf(market));
  const near = chance.happens(0.8) && latitude !== null && longitude !== null;
  return {
    latitude: (near ? latitude + chance.next() - 0.5 : chance.integer(24, 49)).toFixed(4),
    longitude: (near ? longitude + chance.next() - 0.5 : chance.integer(-125, -66)).toFixed(4),
  };
};

const postalCode: Draw = (chance, { zips }) => (zips.size === 0 ? {} : { postal_code: chance.pick([...zips.keys()]) });

/** An origin for what needs one, unless there is one already. */
const origin: Draw = (chance, market, soFar) => {
  if (soFar.has("latitude") || soFar.has("postal_code")) return {};
  return (chance.happens(0.5) && market.zips.size > 0 ? postalCode : point)(chance, market, soFar);
};

const box: Draw = (chance, market) => {
  if (chance.happens(0.05)) return { bbox: "179.5,-17,-179,-16" };
  const { latitude, longitude } = chance.pick(listingsOf(market));
  if (latitude === null || longitude === null) return {};
  const [west, south] = [longitude - 4 * chance.next(), latitude - 4 * chance.next()];
  const sides = [west, south, longitude + 4 * chance.next(), latitude + 4 * chance.next()];
  return { bbox: encodedList(chance, chance.happens(0.2) ? sides.map(String) : sides.map((side) => side.toFixed(3))) };
};

const orders = ["days_on_market", "listed_at", "price", "miles", "msrp", "discount"];
const sorts = [...orders, ...orders.map((order) => `-${order}`), "distance"];

const sort: Draw = (chance, market, soFar) => {
  const drawn = chance.pick(sorts);
  return { sort: inAnyCase(chance, drawn), ...(drawn === "distance" ? origin(chance, market, soFar) : {}) };
};

const projection: Draw = (chance) => {
  const names = chance.happens(0.3)
    ? ["default", "features", "options_packages"]
    : chance.some(["default", ...fields], 6);
  const cased = names.map((name) => inAnyCase(chance, name));
  return { fields: encodedList(chance, cased) };
};

const keywords = ["one_owner", "clean_title", "branded", "fleet"];
const inventoryTypes = ["new", "used", "certified", "cpo"];

export const draws: Readonly<Record<Parameter, Draw>> = {
  limit: (chance) => ({ limit: String(chance.pick([1, 2, 7, 25, 100, 100, chance.integer(1, 100)])) }),
  offset: (chance, { active }) => ({ offset: String(chance.integer(0, chance.pick([3, 60, active.length + 20]))) }),
  sort,
  fields: projection,
  include: words("include", ["price_history", "options"]),
  make: texts("make", "make", named),
  model: texts("model", "model", named),
  model_code: texts("model_code", "model_code"),
  trim: texts("trim", "trim"),
  version: texts("version", "version"),
  year: numbers("year", "year", 1901),
  body_type: texts("body_type", "body_type"),
  engine: texts("engine", "engine"),
  transmission: texts("transmission", "transmission"),
  drivetrain: texts("drivetrain", "drivetrain"),
  fuel_type: texts("fuel_type", "fuel_type"),
  powertrain_type: texts("powertrain_type", "powertrain_type"),
  cylinders: numbers("cylinders", "cylinders", 99),
  doors: numbers("doors", "doors", 99),
  seating_capacity: numbers("seating_capacity", "seating_capacity", 99),
  exterior_color: texts("exterior_color", "exterior_color"),
  interior_color: texts("interior_color", "interior_color"),
  base_exterior_color: texts("base_exterior_color", "base_exterior_color"),
  base_interior_color: texts("base_interior_color", "base_interior_color"),
  options_packages: tokens("options_packages", "options_packages"),
  features: tokens("features", "features"),
  keywords: words("keywords", keywords),
  assembly_country: texts("assembly_country", "assembly_country"),
  assembly_location: texts("assembly_location", "assembly_location", spelled, "|"),
  vin_pattern: masks,
  inventory_type: words("inventory_type", inventoryTypes),
  availability_status: words("availability_status", ["stock", "transit", "build"]),
  dealer_id: dealers,
  dealer_type: words("dealer_type", ["franchise", "independent"]),
  state: states("state"),
  exclude_make: texts("exclude_make", "make", named),
  exclude_model: texts("exclude_model", "model", named),
  exclude_trim: texts("exclude_trim", "trim"),
  exclude_version: texts("exclude_version", "version"),
  exclude_year: numbers("exclude_year", "year", 1901),
  exclude_body_type: texts("exclude_body_type", "body_type"),
  exclude_engine: texts("exclude_engine", "engine"),
  exclude_transmission: texts("exclude_transmission", "transmission"),
  exclude_drivetrain: texts("exclude_drivetrain", "drivetrain"),
  exclude_fuel_type: texts("exclude_fuel_type", "fuel_type"),
  exclude_powertrain_type: texts("exclude_powertrain_type", "powertrain_type"),
  exclude_exterior_color: texts("exclude_exterior_color", "exterior_color"),
  exclude_interior_color: texts("exclude_interior_color", "interior_color"),
  exclude_base_exterior_color: texts("exclude_base_exterior_color", "base_exterior_color"),
  exclude_base_interior_color: texts("exclude_base_interior_color", "base_interior_color"),
  exclude_options_packages: tokens("exclude_options_packages", "options_packages"),
  exclude_features: tokens("exclude_features", "features"),
  exclude_keywords: words("exclude_keywords", keywords),
  exclude_assembly_country: texts("exclude_assembly_country", "assembly_country"),
  exclude_assembly_location: excludedLocations,
  exclude_inventory_type: words("exclude_inventory_type", inventoryTypes),
  exclude_state: states("exclude_state"),
  inventory_status: word("inventory_status", ["active", "sold"]),
  sold_within_days: (chance) => ({ sold_within_days: String(chance.pick([1, 2, 7, 30, 365])) }),
  snapshot_date: (chance, { snapshots }) => ({ snapshot_date: chance.pick([...snapshots.keys()]) }),
  listed_after: listedAfter,
  min_price: bound("min_price", "price"),
  max_price: bound("max_price", "price"),
  min_mileage: bound("min_mileage", "miles"),
  max_mileage: bound("max_mileage", "miles"),
  min_msrp: bound("min_msrp", "msrp"),
  max_msrp: bound("max_msrp", "msrp"),
  min_days_on_market: bound("min_days_on_market", "days_on_market"),
  max_days_on_market: bound("max_days_on_market", "days_on_market"),
  latitude: point,
  longitude: point,
  postal_code: postalCode,
  radius: (chance, market, soFar) => ({
    ...origin(chance, market, soFar),
    radius: String(chance.pick([5, 25, 50.5, 100, 300, 500])),
  }),
  bbox: box,
};
