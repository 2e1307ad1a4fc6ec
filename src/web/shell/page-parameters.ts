/**
 * The parameters of pages, and what each may be. What an address has beyond them is said above the page, which shows the rest; files and
 * redirects are refused. Values of filters are those of the API, which refuses others.
 */
import { ownValue } from "../../base/json.ts";
import { unknownParameter } from "../../contract/decode.ts";
import { operation } from "../../contract/document.ts";
import { Refusal, refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import type { EndpointId, TextParameters } from "../../operations/caller.ts";
import { operationDocs } from "../build/operation-docs.ts";
import { andList, orList } from "../sentences/words.ts";

/** What a parameter may be: one of some values, a text with a pattern, or a filter, which may be repeated. */
type Rule = readonly string[] | { readonly pattern: RegExp; readonly expected: string } | "filter";

type PageRules = Readonly<Record<string, Rule>>;

const text: Rule = { pattern: /(?:)/, expected: "text" };
const number: Rule = { pattern: /^\d{1,15}$/, expected: "a whole number" };
const month: Rule = { pattern: /^20\d\d-(0[1-9]|1[0-2])$/, expected: "a month, YYYY-MM" };
/** A parameter without a value. */
const flag: Rule = [""];

/** Returns the orders by some columns: each ascending, and after `-` descending. */
const orders = (columns: string): readonly string[] => columns.split(" ").flatMap((column) => [column, `-${column}`]);

/** Returns the orders of the tables of a page, each with its columns: `numbers=price.-day`. */
const numbersOf = (tables: Readonly<Record<string, string>>): Rule =>
  Object.entries(tables).flatMap(([table, columns]) => orders(columns).map((order) => `${table}.${order}`));

/** Returns the names of an operation's parameters. */
const parameterNamesOf = (id: EndpointId): readonly string[] => operation(id).parameters.map(({ name }) => name);

/** Returns the filters of a search that an operation has, and the names of those that it lacks. */
export function acceptedFilters(id: EndpointId, filters: TextParameters) {
  const known = parameterNamesOf(id);
  const all = Object.entries(filters);
  return {
    filters: Object.fromEntries(all.filter(([name]) => known.includes(name))),
    others: all.flatMap(([name]) => (known.includes(name) ? [] : [name.replaceAll("_", " ")])),
  };
}

/** Parameters of the API that are no filters of a page: pages are of the published day, and choose what they show of a listing. */
const notFilters: ReadonlySet<string> = new Set(
  "sort limit offset fields include format csv_raw data_version snapshot_date facet_mode facet_value_limit facet_limit".split(
    " ",
  ),
);

/** Returns the rules of the filters of operations; pages have bounds of years. */
function filtersOf(...ids: readonly EndpointId[]): PageRules {
  const [first = [], ...others] = ids.map(parameterNamesOf);
  const names = first.filter((name) => !notFilters.has(name) && others.every((other) => other.includes(name)));
  return Object.fromEntries([...names, "min_year", "max_year"].map((name) => [name, "filter"]));
}

const search: PageRules = {
  ...filtersOf("searchListings"),
  view: ["cars", "table"],
  sort: text,
  limit: text,
  offset: text,
};

const accounts = "account tier charged change balance";
const dealers = "dealer away cars to_market days";

/** The rules of each page by its route. Those of filters are last in messages. */
export const pageParameters = {
  "/shop": { ...search, ids: "filter" },
  "/find": { q: text },
  "/listings/:listing_id": {
    ...search,
    within: ["100", "500"],
    numbers: numbersOf({
      price: "day price change miles",
      nearest: "car distance_miles miles price adjusted_price status",
      similar: "car distance_miles miles price adjusted_price status adjustment weight vin",
    }),
  },
  "/dealers": { q: text, choose: flag },
  "/dealers/:dealer_id": {
    condition: ["used", "new"],
    radius: ["25", "50", "100"],
    sort: ["-days_on_market", "days_on_market", "-price", "price", "value", "-value"],
    buy: ["fit"],
    all: flag,
    numbers: numbersOf({
      "price-age": dealers,
      aging: "days cars money",
      buy: "model sold offered yours median",
      rank: dealers,
    }),
  },
  "/market": {
    ...filtersOf("searchListings", "getFacets"),
    show: text,
    against: text,
    days: ["30", "60", "365"],
    view: ["table", "map"],
    numbers: numbersOf({
      price: "day price_median price_median_against",
      days: "day days_on_market_median days_on_market_median_against",
      loss: "model age cars median fitted",
      map: "state cars median",
      "map-against": "state cars median",
      table:
        "day price_median price_median_against gap count count_against days_on_market_median days_on_market_median_against sold sold_against",
    }),
  },
  "/account": { changed: ["password"], query: text, name: text },
  "/account/charges.csv": {},
  "/sign-in": { token: text },
  "/invitation": { token: text },
  "/operate": {
    numbers: numbersOf({ silent: "dealer cars silent", read: "day cars files refused" }),
  },
  "/operate/days/:day": {
    dealer: text,
    outcome: text,
    field: text,
    reason: text,
    numbers: numbersOf({ issues: "field outcome reason rows" }),
  },
  "/operate/service": {},
  "/operate/log": { before: number },
  "/operate/feeds": {},
  "/operate/revenue": {
    month,
    numbers: numbersOf({ run: "day month before", classes: "class charged", accounts }),
  },
  "/operate/revenue.csv": { month },
  "/operate/accounts": { q: text, numbers: numbersOf({ accounts }) },
  "/operate/accounts/:accountId": { q: text, numbers: numbersOf({ accounts }) },
  "/sql": { statement: text },
} as const satisfies Readonly<Record<string, PageRules>>;

/** The rules of all pages that have any, by route. */
export const pageRules: Readonly<Record<string, PageRules>> = {
  ...pageParameters,
  ...Object.fromEntries(
    operationDocs.map(({ path, parameters }): readonly [string, PageRules] => [
      path,
      {
        ...Object.fromEntries(parameters.map(({ name }) => [name, "filter"])),
        body: text,
        language: ["curl", "Python", "TypeScript", "Agent"],
        key: ["shown"],
      },
    ]),
  ),
};

/** Returns the rules of the page of a route; undefined for one that reads no parameters of pages. */
const rulesOf = (route: string): PageRules | undefined =>
  ownValue(pageRules, route) ?? (/^\/(docs|operate)(\/|$)/.test(route) ? {} : undefined);

/** Returns what a page takes from an address, and why not the rest. Empty values, as forms send them, are none. */
export function readAddress(route: unknown, querystring: string) {
  const given = new URLSearchParams(querystring);
  const rules = rulesOf(String(route));
  const query = new URLSearchParams();
  const faults: Refusal[] = [];
  if (rules === undefined) return { query: given, faults };
  for (const name of new Set(given.keys())) {
    const rule = ownValue(rules, name);
    const values = given.getAll(name).filter((value) => value !== "" || rule === flag);
    const fault = rule === undefined ? unknownName(name, rules) : faultOf(name, values, rule);
    if (fault !== undefined) faults.push(fault);
    else for (const value of values) query.append(name, value);
  }
  // Pages of searches have bounds of years, which no operation has.
  for (const name of Object.hasOwn(rules, "min_year") ? new Set(query.keys()) : []) {
    const fault = ruledOut(name, query);
    if (fault === undefined) continue;
    query.delete(name);
    faults.push(fault);
  }
  return { query, faults };
}

/** Returns why the rest of an address rules a filter out: sold cars are not judged, and a radius is around a place. */
function ruledOut(name: string, query: URLSearchParams): Refusal | undefined {
  const sold = query.has("sold_within_days") ? "sold_within_days" : "inventory_status=sold";
  const isSold = query.has("sold_within_days") || query.has("inventory_status", "sold");
  if (isSold && (name === "value_rating" || (name === "sort" && query.get(name) === "-value")))
    return refuse("incompatible_parameters", { parameters: `${name} and ${sold}`, reason: "sold cars are not judged" });
  if (name === "radius" && !query.has("postal_code") && !query.has("latitude"))
    return refuse("missing_parameter", {
      parameter: "postal_code",
      allowed: "a ZIP code from which radius is measured",
    });
  return undefined;
}

/** Returns the refusal of a name, which says those of the page. */
function unknownName(name: string, rules: PageRules): Refusal {
  const names = Object.keys(rules);
  const own = Object.entries(rules).flatMap(([one, rule]) => (rule === "filter" ? [] : one));
  const known = own.length < names.length ? [...own, "filters of the API"] : own;
  const { code, message } = unknownParameter(name, names);
  return new Refusal(
    code,
    `${message} ${known.length === 0 ? "This page has none." : `This page has ${andList(known)}.`}`,
  );
}

function faultOf(parameter: string, values: readonly string[], rule: Rule): Refusal | undefined {
  if (rule === "filter" || values.length === 0) return undefined;
  if (values.length > 1) return refuse("repeated_parameter", { parameter, times: values.length });
  const [value = ""] = values;
  const isValid = "pattern" in rule ? rule.pattern.test(value) : rule.includes(value);
  if (isValid) return undefined;
  return refuse("invalid_parameter_value", { parameter, value: quoted(value), allowed: allowedBy(rule), hint: "" });
}

/** The most values that a message lists. */
const listedMax = 30;

function allowedBy(rule: Exclude<Rule, "filter">): string {
  if ("pattern" in rule) return rule.expected;
  if (rule === flag) return "no value";
  return rule.length > listedMax ? `an order such as ${rule[0]} or ${rule[1]}` : orList(rule);
}
