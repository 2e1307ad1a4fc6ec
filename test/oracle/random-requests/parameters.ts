/** Random values for each parameter of the listing search, mostly values that some listing has. */
import type { QueryOf } from "../../../src/contract/types.ts";
import type { Chance } from "../../support/chance.ts";
import type { FlatListing, ListField, NumberField, OracleInventory, TextField } from "../answers/inventory.ts";
import { fields } from "../answers/search.ts";
import type { Query } from "./query.ts";
import { encodeItems, encodeValue, randomCase, respell, respellName } from "./spellings.ts";

type SearchParameter = Exclude<
  keyof QueryOf<"searchListings"> | keyof QueryOf<"searchListingsByPage">,
  "format" | "csv_raw"
>;

/** Returns encoded parameters with a random value, and those it requires; empty if the inventory has no such value. */
export type Draw = (chance: Chance, inventory: OracleInventory, soFar: Query) => Readonly<Record<string, string>>;

const known = new WeakMap<OracleInventory, Map<string, readonly unknown[]>>();

/** Returns the values of a field over all listings, repeated by frequency; cached per inventory. */
function valuesOf<Field extends TextField | NumberField>(inventory: OracleInventory, field: Field) {
  const fields = known.get(inventory) ?? new Map<string, readonly unknown[]>();
  known.set(inventory, fields);
  const values = fields.get(field) ?? inventory.all.flatMap(({ [field]: value }) => (value === null ? [] : [value]));
  fields.set(field, values);
  return values as readonly NonNullable<FlatListing[Field]>[];
}

const texts =
  (name: SearchParameter, field: TextField, spellValue = respell, separator = ","): Draw =>
  (chance, inventory) => {
    const values = valuesOf(inventory, field);
    if (values.length === 0) return { [name]: encodeValue(chance, spellValue(chance, "Nowhere")) };
    const items = chance.some(values, chance.happens(0.6) ? 1 : 4).map((value) => spellValue(chance, value));
    const plain = items.filter((item) => !item.includes(separator));
    return plain.length === 0 ? {} : { [name]: encodeItems(chance, plain, separator) };
  };

const words =
  (name: SearchParameter, vocabulary: readonly string[]): Draw =>
  (chance) => {
    const items = chance.some(vocabulary, Math.min(3, vocabulary.length));
    const cased = items.map((word) => randomCase(chance, word));
    return { [name]: encodeItems(chance, cased) };
  };

const word =
  (name: SearchParameter, vocabulary: readonly string[]): Draw =>
  (chance) => ({ [name]: randomCase(chance, chance.pick(vocabulary)) });

const numbers =
  (name: SearchParameter, field: NumberField, absent: number): Draw =>
  (chance, inventory) => {
    const values = Array.from({ length: chance.happens(0.6) ? 1 : chance.integer(1, 4) }, () =>
      chance.happens(0.05) ? absent : (chance.pick(inventory.all)[field] ?? absent),
    );
    return { [name]: encodeItems(chance, values.map(String)) };
  };

const bound =
  (name: SearchParameter, field: NumberField): Draw =>
  (chance, inventory) => {
    if (chance.happens(0.04)) return { [name]: chance.pick(["0", "1", "2147483647"]) };
    const value = (chance.pick(inventory.all)[field] ?? 0) + chance.pick([0, 0, 0, 1, -1, 1000, -1000]);
    return { [name]: String(Math.max(0, value)) };
  };

const tokens =
  (name: SearchParameter, field: ListField): Draw =>
  (chance, inventory) => {
    const listingTokens = chance.pick(inventory.all)[field];
    if (listingTokens.length === 0) return {};
    const items = chance.some(listingTokens, 3).map((token) => respell(chance, token));
    return { [name]: encodeItems(chance, items) };
  };

const states =
  (name: SearchParameter): Draw =>
  (chance, inventory) => {
    const twoLetters = valuesOf(inventory, "state").filter((state) => /^[A-Z]{2}$/.test(state));
    const items = chance.some([...twoLetters, "WY"], 3).map((state) => randomCase(chance, state));
    return { [name]: encodeItems(chance, items) };
  };

const unknownDealer = "00000000-0000-4000-8000-000000000000";

const dealers: Draw = (chance, inventory) => {
  const max = chance.pick([1, 3, 50]);
  const items = [...chance.some(valuesOf(inventory, "dealer_id"), max - 1 || 1), unknownDealer].slice(0, max);
  const cased = items.map((id) => randomCase(chance, id));
  return { dealer_id: encodeItems(chance, cased) };
};

/** Maximum length of a text; locations joined by `+` are one text where the `+` may be a space. */
const textLengthMax = 200;

const excludedLocations: Draw = (chance, inventory) => {
  if (inventory.assemblyLocations.length === 0) return {};
  const drawn = chance.some(inventory.assemblyLocations, 2).map((place) => respell(chance, place));
  const places = drawn.join("+").length > textLengthMax ? drawn.slice(0, 1) : drawn;
  const items = places.map((place) => encodeValue(chance, place));
  return { exclude_assembly_location: items.join(chance.pick(["+", "%20", "%2B"])) };
};

const masks: Draw = (chance, inventory) => {
  if (chance.happens(0.05))
    return { vin_pattern: chance.pick(["*", "?", "?*", "?????????????????", "????????A", "Z??????????????*"]) };
  const patterns = chance.some(inventory.all, chance.happens(0.9) ? 3 : 10).map(({ vin }) => {
    const prefix = vin.slice(0, chance.pick([1, 2, 3, 8, 11, 17]));
    const masked = [...prefix].map((letter) => (chance.happens(0.2) ? "?" : letter)).join("");
    return randomCase(chance, chance.happens(0.3) ? `${masked}*` : masked);
  });
  const repeated = chance.happens(0.1)
    ? patterns.map((pattern) => randomCase(chance, `${pattern}*`.replace("**", "*")))
    : [];
  return { vin_pattern: encodeItems(chance, [...patterns, ...repeated]) };
};

const listedAfter: Draw = (chance, inventory) => {
  const { listed_at } = chance.pick(inventory.all);
  const time = Date.parse(listed_at ?? inventory.asOf) + chance.pick([0, 0, 1000, -1000, 86_400_000, -86_400_000]);
  const local = (hoursAhead: number): string => new Date(time + hoursAhead * 3_600_000).toISOString();
  const written = chance.pick([
    `${local(0).slice(0, 19)}Z`,
    `${local(0).slice(0, 19)}.5Z`,
    `${local(0).slice(0, 16)}Z`,
    `${local(0).slice(0, 19)},250`,
    local(0).slice(0, 19).replace("T", " "),
    `${local(3).slice(0, 19)} 03`,
    `${local(2).slice(0, 19)}+02:00`,
    `${local(5.5).slice(0, 19)}+0530`,
    `${local(-8).slice(0, 19)}-08:00`,
    local(0).slice(0, 10),
  ]);
  return { listed_after: encodeURIComponent(written) };
};

/** Normalizes a longitude to -180 to 180. */
const normalizeLongitude = (longitude: number): number => ((((longitude + 180) % 360) + 360) % 360) - 180;

const point: Draw = (chance, inventory) => {
  const { latitude, longitude } = chance.pick(inventory.all);
  if (chance.happens(0.05)) return { latitude: "51.7", longitude: chance.pick(["180", "-180", "179.9", "-179.95"]) };
  if (latitude === null || longitude === null || chance.happens(0.15)) {
    return { latitude: String(chance.integer(-90, 90)), longitude: String(chance.integer(-180, 180)) };
  }
  if (chance.happens(0.15)) return { latitude: String(latitude), longitude: String(longitude) };
  return {
    latitude: (latitude + chance.next() - 0.5).toFixed(4),
    longitude: normalizeLongitude(longitude + chance.next() - 0.5).toFixed(4),
  };
};

const postalCode: Draw = (chance, { zips, all }) => {
  if (zips.size === 0) return {};
  const { postal_code } = chance.pick(all);
  const isDealerLocation = postal_code !== null && zips.has(postal_code) && chance.happens(0.6);
  return { postal_code: isDealerLocation ? postal_code : chance.pick([...zips.keys()]) };
};

/** Returns an origin, unless the query has one. */
const origin: Draw = (chance, inventory, soFar) => {
  if (soFar.has("latitude") || soFar.has("postal_code")) return {};
  return (chance.happens(0.5) && inventory.zips.size > 0 ? postalCode : point)(chance, inventory, soFar);
};

const box: Draw = (chance, inventory) => {
  if (chance.happens(0.1)) return { bbox: chance.pick(["179.5,-17,-179,-16", "172,49,-176,54", "180,51,-180,52"]) };
  const { latitude, longitude } = chance.pick(inventory.all);
  if (latitude === null || longitude === null) return {};
  const [west, south] = [normalizeLongitude(longitude - 4 * chance.next()), latitude - 4 * chance.next()];
  const sides = [west, south, normalizeLongitude(longitude + 4 * chance.next()), latitude + 4 * chance.next()];
  const written = chance.happens(0.2) ? sides.map((side) => side.toFixed(12)) : sides.map((side) => side.toFixed(3));
  return { bbox: encodeItems(chance, written) };
};

const orders = ["days_on_market", "listed_at", "price", "miles", "msrp", "discount"];
const sorts = [...orders, ...orders.map((order) => `-${order}`), "distance"];

const sort: Draw = (chance, inventory, soFar) => {
  const drawn = chance.pick(sorts);
  return { sort: randomCase(chance, drawn), ...(drawn === "distance" ? origin(chance, inventory, soFar) : {}) };
};

const fieldList: Draw = (chance) => {
  const names = chance.happens(0.3)
    ? ["default", "features", "options_packages"]
    : chance.some(["default", ...fields], 6);
  const cased = names.map((name) => randomCase(chance, name));
  return { fields: encodeItems(chance, cased) };
};

const soldWithin: Draw = (chance, { sold, asOf }) => {
  const date = sold.length === 0 ? null : chance.pick(sold).sold_on_record;
  const daysAgo = date === null ? 30 : (Date.parse(asOf) - Date.parse(date)) / 86_400_000;
  return { sold_within_days: String(chance.pick([1, 7, 365, Math.max(1, daysAgo), daysAgo + 1])) };
};

const keywords = ["one_owner", "clean_title", "branded", "fleet"];
const powertrains = ["BEV", "FCEV", "HEV", "ICE", "MHEV", "PHEV"];
const inventoryTypes = ["new", "used", "certified", "cpo"];

const drawsByParameter: Readonly<Record<SearchParameter, Draw>> = {
  limit: (chance) => ({ limit: String(chance.pick([1, 2, 7, 25, 100, 100, chance.integer(1, 100)])) }),
  offset: (chance, { active }) => ({ offset: String(chance.integer(0, chance.pick([3, 60, active.length + 20]))) }),
  page: (chance) => ({ page: String(chance.pick([1, 1, 2, 3, 10])) }),
  per_page: (chance) => ({ per_page: String(chance.pick([1, 5, 50, 100, chance.integer(1, 100)])) }),
  sort,
  fields: fieldList,
  include: words("include", ["price_history", "options"]),
  make: texts("make", "make", respellName),
  model: texts("model", "model", respellName),
  model_code: texts("model_code", "model_code"),
  trim: texts("trim", "trim"),
  version: texts("version", "version"),
  year: numbers("year", "year", 1901),
  body_type: texts("body_type", "body_type"),
  engine: texts("engine", "engine"),
  transmission: texts("transmission", "transmission"),
  drivetrain: texts("drivetrain", "drivetrain"),
  fuel_type: texts("fuel_type", "fuel_type"),
  powertrain_type: words("powertrain_type", powertrains),
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
  assembly_location: texts("assembly_location", "assembly_location", respell, "|"),
  vin_pattern: masks,
  inventory_type: words("inventory_type", inventoryTypes),
  availability_status: words("availability_status", ["stock", "transit", "build"]),
  dealer_id: dealers,
  dealer_type: words("dealer_type", ["franchise", "independent"]),
  state: states("state"),
  exclude_make: texts("exclude_make", "make", respellName),
  exclude_model: texts("exclude_model", "model", respellName),
  exclude_trim: texts("exclude_trim", "trim"),
  exclude_version: texts("exclude_version", "version"),
  exclude_year: numbers("exclude_year", "year", 1901),
  exclude_body_type: texts("exclude_body_type", "body_type"),
  exclude_engine: texts("exclude_engine", "engine"),
  exclude_transmission: texts("exclude_transmission", "transmission"),
  exclude_drivetrain: texts("exclude_drivetrain", "drivetrain"),
  exclude_fuel_type: texts("exclude_fuel_type", "fuel_type"),
  exclude_powertrain_type: words("exclude_powertrain_type", powertrains),
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
  sold_within_days: soldWithin,
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
  radius: (chance, inventory, soFar) => ({
    ...origin(chance, inventory, soFar),
    radius: String(chance.pick([5, 25, 50.5, 100, 300, 500])),
  }),
  bbox: box,
};

/** Draws by parameter name. */
export const draws: Readonly<Record<string, Draw>> = drawsByParameter;
