/** Random values for each parameter of the listing search, mostly values that some listing has. */
import { operation, vocabulary } from "../../../src/contract/document.ts";
import { attributes, type CountedName, categoryNames, listNames, rangedNames } from "../../../src/listing/schema.ts";
import type { Chance } from "../../support/chance.ts";
import {
  type FlatListing,
  isNumberCategory,
  type ListField,
  type NumberField,
  type OracleInventory,
  type TextField,
} from "../answers/inventory.ts";
import { fields } from "../answers/search.ts";
import type { Query } from "./query.ts";
import { encodeItems, encodeValue, randomCase, respell, respellName } from "./spellings.ts";

const isDocumented = (parameter: string): boolean =>
  operation("searchListings").parameters.some(({ name }) => name === parameter);

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
  (name: string, field: TextField, spellValue = respell, separator = ","): Draw =>
  (chance, inventory) => {
    const values = valuesOf(inventory, field);
    if (values.length === 0) return { [name]: encodeValue(chance, spellValue(chance, "Nowhere")) };
    const items = chance.some(values, chance.happens(0.6) ? 1 : 4).map((value) => spellValue(chance, value));
    return items.length === 0 ? {} : { [name]: encodeItems(chance, items, separator) };
  };

const words =
  (name: string, vocabulary: readonly string[]): Draw =>
  (chance) => {
    const items = chance.some(vocabulary, Math.min(3, vocabulary.length));
    const cased = items.map((word) => randomCase(chance, word));
    return { [name]: encodeItems(chance, cased) };
  };

const word =
  (name: string, vocabulary: readonly string[]): Draw =>
  (chance) => ({ [name]: randomCase(chance, chance.pick(vocabulary)) });

const numbers =
  (name: string, field: NumberField, absent: number): Draw =>
  (chance, inventory) => {
    const values = Array.from({ length: chance.happens(0.6) ? 1 : chance.integer(1, 4) }, () =>
      chance.happens(0.05) ? absent : (chance.pick(inventory.all)[field] ?? absent),
    );
    return { [name]: encodeItems(chance, values.map(String)) };
  };

const bound =
  (name: string, field: NumberField): Draw =>
  (chance, inventory) => {
    if (chance.happens(0.04)) return { [name]: chance.pick(["0", "1", "2147483647"]) };
    const value = (chance.pick(inventory.all)[field] ?? 0) + chance.pick([0, 0, 0, 1, -1, 1000, -1000]);
    return { [name]: String(Math.max(0, value)) };
  };

const tokens =
  (name: string, field: ListField): Draw =>
  (chance, inventory) => {
    const listingTokens = chance.pick(inventory.all)[field];
    if (listingTokens.length === 0) return {};
    const items = chance.some(listingTokens, 3).map((token) => respell(chance, token));
    return { [name]: encodeItems(chance, items) };
  };

const states =
  (name: string): Draw =>
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

const since =
  (parameter: string, attribute: "listed_at" | "price_changed_at"): Draw =>
  (chance, inventory) => {
    const { [attribute]: at } = chance.pick(inventory.all);
    const time = Date.parse(at ?? inventory.asOf) + chance.pick([0, 0, 1000, -1000, 86_400_000, -86_400_000]);
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
    return { [parameter]: encodeURIComponent(written) };
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
  const west = normalizeLongitude(longitude - 4 * chance.next());
  const south = latitude - 4 * chance.next();
  const sides = [west, south, normalizeLongitude(longitude + 4 * chance.next()), latitude + 4 * chance.next()];
  const written = chance.happens(0.2) ? sides.map((side) => side.toFixed(12)) : sides.map((side) => side.toFixed(3));
  return { bbox: encodeItems(chance, written) };
};

const sorts = vocabulary("searchListings", "sort");

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

/** Parameters of attributes whose values are drawn in another way than those of their kind. */
const special: Readonly<Partial<Record<CountedName, (parameter: string) => Draw>>> = {
  make: (parameter) => texts(parameter, "make", respellName),
  model: (parameter) => texts(parameter, "model", respellName),
  assembly_location: (parameter) => texts(parameter, "assembly_location", respell, "|"),
  state: states,
  dealer_id: () => dealers,
};

function drawOf(name: CountedName, parameter: string): Draw {
  const own = special[name];
  const closed = vocabulary("searchListings", name);
  if (own !== undefined) return own(parameter);
  if (closed.length > 0) return words(parameter, closed.map(String));
  if (name === "features" || name === "options_packages" || name === "keywords") return tokens(parameter, name);
  return isNumberCategory(name)
    ? numbers(parameter, name, name === "year" ? 1901 : 99)
    : texts(parameter, name as Exclude<typeof name, NumberField>);
}

/** Draws of the parameters of attributes that are counted by value, and of their exclusions. */
const attributeDraws = Object.fromEntries(
  [...categoryNames, ...listNames].flatMap((name) =>
    [name, `exclude_${name}`].filter(isDocumented).map((parameter) => [parameter, drawOf(name, parameter)] as const),
  ),
);

const boundDraws = Object.fromEntries(
  rangedNames.flatMap((name) =>
    [`min_${attributes[name].range}`, `max_${attributes[name].range}`].map((parameter) => [
      parameter,
      bound(parameter, name),
    ]),
  ),
);

/** Draws by parameter name. */
export const draws: Readonly<Record<string, Draw>> = {
  ...attributeDraws,
  ...boundDraws,
  min_price_drop_percent: bound("min_price_drop_percent", "price_drop_percent"),
  limit: (chance) => ({ limit: String(chance.pick([1, 2, 7, 25, 100, 100, chance.integer(1, 100)])) }),
  offset: (chance, { active }) => ({ offset: String(chance.integer(0, chance.pick([3, 60, active.length + 20]))) }),
  page: (chance) => ({ page: String(chance.pick([1, 1, 2, 3, 10])) }),
  per_page: (chance) => ({ per_page: String(chance.pick([1, 5, 50, 100, chance.integer(1, 100)])) }),
  sort,
  fields: fieldList,
  include: words("include", ["price_history", "options"]),
  exclude_assembly_location: excludedLocations,
  vin_pattern: masks,
  stock_number: texts("stock_number", "stock_number"),
  inventory_status: word("inventory_status", ["active", "sold", "sold", "sold"]),
  sold_within_days: soldWithin,
  snapshot_date: (chance, { snapshots }) => ({ snapshot_date: chance.pick([...snapshots.keys()]) }),
  listed_after: since("listed_after", "listed_at"),
  price_changed_after: since("price_changed_after", "price_changed_at"),
  latitude: point,
  longitude: point,
  postal_code: postalCode,
  radius: (chance, inventory, soFar) => ({
    ...origin(chance, inventory, soFar),
    radius: String(chance.pick([5, 25, 50.5, 100, 300, 500])),
  }),
  bbox: box,
};
