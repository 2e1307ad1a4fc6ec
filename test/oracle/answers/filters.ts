/** Oracle of filters: tests one listing and one filter at a time. */
import { attributes, categoryNames, rangedNames } from "../../../src/listing/schema.ts";
import { decodeValue, itemsOf, type Query, queryValues } from "../random-requests/query.ts";
import { distanceOf, isInsideBox, oracleOrigin } from "./geography.ts";
import {
  type FlatListing,
  isNumberCategory,
  type ListField,
  type NumberField,
  type OracleInventory,
  type TextField,
} from "./inventory.ts";
import { nameKey, oracleLocations } from "./unmatched.ts";

/** Whether a listing matches a filter; undefined if its value is unknown. */
type Test = (listing: FlatListing) => boolean | undefined;

/** Creates a test from the parameter's encoded value, the query and the inventory. */
type Rule = (raw: string, query: Query, inventory: OracleInventory) => Test;

const fold = (text: string): string => text.toLowerCase();

const oneOf = (
  field: TextField,
  values: (raw: string, inventory: OracleInventory) => readonly string[] = (raw) => itemsOf(raw),
): Rule => {
  return (raw, _query, inventory) => {
    const accepted = values(raw, inventory).map(fold);
    return ({ [field]: value }) => (value === null ? undefined : accepted.includes(fold(value)));
  };
};

const nameOrSlug =
  (field: "make" | "model"): Rule =>
  (raw) => {
    const accepted = itemsOf(raw);
    return ({ [field]: value }) =>
      value === null
        ? undefined
        : accepted.some(
            (name) => fold(name) === fold(value) || (/[\p{L}\p{N}]/u.test(name) && nameKey(name) === nameKey(value)),
          );
  };

const oneNumberOf =
  (field: NumberField): Rule =>
  (raw) => {
    const accepted = itemsOf(raw).map(Number);
    return ({ [field]: value }) => (value === null ? undefined : accepted.includes(value));
  };

const atLeast =
  (field: NumberField): Rule =>
  (raw) =>
  ({ [field]: value }) =>
    value === null ? undefined : value >= Number(decodeValue(raw));

const atMost =
  (field: NumberField): Rule =>
  (raw) =>
  ({ [field]: value }) =>
    value === null ? undefined : value <= Number(decodeValue(raw));

const hasToken = (listing: FlatListing, field: ListField, token: string): boolean =>
  listing[field].map(fold).includes(fold(token));

const allOf =
  (field: ListField): Rule =>
  (raw) =>
  (listing) =>
    itemsOf(raw).every((token) => hasToken(listing, field, token));

const someOf =
  (field: ListField): Rule =>
  (raw) =>
  (listing) =>
    itemsOf(raw).some((token) => hasToken(listing, field, token));

/** An exclusion drops only listings that are known to match. */
const not =
  (rule: Rule): Rule =>
  (raw, query, inventory) => {
    const test = rule(raw, query, inventory);
    return (listing) => test(listing) !== true;
  };

const negativeKeywords = ["branded", "fleet"];

const keywords: Rule = (raw) => (listing) =>
  queryValues(raw).every((word) => hasToken(listing, "keywords", word) !== negativeKeywords.includes(word));

const masks: Rule = (raw) => {
  const patterns = itemsOf(raw.toUpperCase()).map((mask) => mask.replace(/\*$/, "").replaceAll("?", "."));
  return ({ vin }) => patterns.some((pattern) => new RegExp(`^${pattern}`).test(vin));
};

const inventoryTypes = oneOf("inventory_type", (raw) =>
  queryValues(raw).map((word) => (word === "cpo" ? "certified" : word)),
);

const since =
  (name: "listed_at" | "price_changed_at"): Rule =>
  (raw) => {
    const time = decodeValue(raw)
      .replace(/^(\S{10}) (?=\d\d:)/, "$1T")
      .replace(/(T.*) /, "$1+")
      .replace(",", ".");
    const withZone = time.replace(/(T.*[+-]\d\d):?(\d\d)?$/, (_, hours, minutes = "00") => `${hours}:${minutes}`);
    const from = Date.parse(/T[^Z+-]*$/.test(withZone) ? `${withZone}Z` : withZone);
    return ({ [name]: at }) => (at === null ? undefined : Date.parse(at) >= from);
  };

const soldWithin: Rule = (raw, _query, { asOf }) => {
  const after = Date.parse(asOf) - Number(decodeValue(raw)) * 86_400_000;
  return ({ sold_on_record: day }) => (day === null ? undefined : Date.parse(day) > after);
};

const withinRadius: Rule = (raw, query, { zips }) => {
  const origin = oracleOrigin(query, zips);
  return (listing) => {
    const miles = distanceOf(listing, origin);
    return miles === null ? undefined : miles <= Number(decodeValue(raw));
  };
};

const alternatives: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(
    categoryNames.map((name) => [name, isNumberCategory(name) ? oneNumberOf(name) : oneOf(name)] as const),
  ),
  make: nameOrSlug("make"),
  model: nameOrSlug("model"),
  inventory_type: inventoryTypes,
};

const rules: Readonly<Record<string, Rule>> = {
  ...alternatives,
  ...Object.fromEntries(Object.entries(alternatives).map(([name, rule]) => [`exclude_${name}`, not(rule)])),
  assembly_location: oneOf("assembly_location", (raw) => itemsOf(raw, "|")),
  exclude_assembly_location: not(oneOf("assembly_location", (raw, inventory) => oracleLocations(inventory, raw).known)),
  options_packages: allOf("options_packages"),
  exclude_options_packages: not(someOf("options_packages")),
  features: allOf("features"),
  exclude_features: not(someOf("features")),
  keywords,
  exclude_keywords: not(someOf("keywords")),
  vin_pattern: masks,
  stock_number: oneOf("stock_number"),
  min_price_drop_percent: atLeast("price_drop_percent"),
  listed_after: since("listed_at"),
  price_changed_after: since("price_changed_at"),
  sold_within_days: soldWithin,
  ...Object.fromEntries(
    rangedNames.flatMap((name) => [
      [`min_${attributes[name].range}`, atLeast(name)],
      [`max_${attributes[name].range}`, atMost(name)],
    ]),
  ),
  radius: withinRadius,
  bbox: (raw) => {
    const box = itemsOf(raw).map(Number);
    return (listing) => isInsideBox(listing, box);
  },
};

/** Parameters that select the inventory or the form of the answer. */
const otherParameters = [
  ...["limit", "offset", "page", "per_page", "sort", "fields", "include", "inventory_status", "snapshot_date"],
  ...[
    "facets",
    "facet_value_limit",
    "facet_value_prefix",
    "facet_mode",
    "interval",
    "metric",
    "from",
    "to",
    "facet",
    "facet_limit",
    "group_by",
  ],
];
const origins = ["latitude", "longitude", "postal_code"];

export function filterOf(query: Query, inventory: OracleInventory): (listing: FlatListing) => boolean {
  const tests = [...query].flatMap(([name, raw]) => {
    if ([...otherParameters, ...origins].includes(name)) return [];
    const rule = rules[name];
    if (rule === undefined) throw new TypeError(`Unknown filter ${name}.`);
    return [rule(raw, query, inventory)];
  });
  return (listing) => tests.every((test) => test(listing) === true);
}
