/**
 * The tools: one row each, with the operation that answers it and the parameters that it offers. Schemas, prices and messages derive
 * from the document, and so does what is not offered here: a tool takes every parameter of its operation except `format`.
 */

import { operation, vocabulary } from "../contract/document.ts";
import type { OperationId } from "../contract/types.ts";
import { attributeOf, rangedNames, shownIn } from "../listing/schema.ts";
import type { CallableId, EndpointId } from "../operations/caller.ts";

export interface Tool<Id extends OperationId = CallableId> {
  readonly name: string;
  /** The operation that answers it. */
  readonly id: Id;
  readonly title: string;
  /** Further operations that answer it, by the value of the argument `report` that chooses one. */
  readonly reports: Readonly<Record<string, EndpointId>>;
  /** For the agent: when to call it, and what it returns. The price follows from the operation. */
  readonly description: string;
  /** The parameters that its schema names, in this order. */
  readonly parameters: readonly string[];
  /** The parameters that its schema describes; of the others, which work as in `search_listings`, it states the type. */
  readonly described: readonly string[];
  /** Values of parameters that a call omits, where they differ from those of the operation. */
  readonly defaults: Readonly<Record<string, string | number | string[]>>;
}

/** The operations that answer a tool: the usual one first. */
export const operationsOf = ({ id, reports }: AnyTool): readonly [OperationId, ...OperationId[]] => [
  id,
  ...Object.values(reports),
];

/** A tool that an operation within the process answers, or the tool that exports. */
export type AnyTool = Tool | Tool<"exportListings">;

const words = (text: string): string[] => text.split(/\s+/);

const vehicles = shownIn("agents").filter((name) => attributeOf(name).range === undefined);
const ranges = shownIn("agents")
  .flatMap((name) => attributeOf(name).range ?? [])
  .flatMap((range) => [`min_${range}`, `max_${range}`]);
const numbers = new Intl.ListFormat("en-GB").format(rangedNames.map((name) => `\`${name}\``));
const metrics = vocabulary("getFacets", "metric").map((metric) => metric.split("."));
const distinct = (names: readonly string[]): string => [...new Set(names)].join(", ");
const aggregates = distinct(metrics.flatMap(([, aggregate]) => aggregate ?? []));
const measures = distinct(metrics.flatMap(([measure = "", aggregate]) => (aggregate === undefined ? [] : measure)));
const plainMetrics = distinct(metrics.flatMap(([metric = "", aggregate]) => (aggregate === undefined ? metric : [])));
const metricNames = `${aggregates} of ${measures}, such as \`price.p25\`; or ${plainMetrics}`;
const trendMetric = operation("getTrends").parameters.find(({ name }) => name === "metric");
const trendNames = trendMetric?.schema.items?.["x-allowed"] ?? "";
const places = words("state postal_code radius");
const views = words("sold_within_days snapshot_date");
const others = words("filters detail");
const filters = [...vehicles, ...ranges, ...places, ...views, ...others];
/** The filters that most calls need; tools take the others too. */
const usualFilters = words(
  "make model trim year inventory_type min_price max_price max_mileage state postal_code radius",
);
const page = words("sort limit offset fields");
/** Parameters whose names and values say enough. */
const clear = words("inventory_type sold_within_days offset fields");

const compactFields =
  words(`year make model trim inventory_type price miles days_on_market exterior_color dealer_name city state
  distance_miles`);

type Optional = "described" | "defaults" | "reports";

/** Describes no parameter unless the row names some. */
const tool = <Id extends OperationId>(row: Omit<Tool<Id>, Optional> & Partial<Pick<Tool, Optional>>): Tool<Id> => ({
  described: [],
  reports: {},
  defaults: {},
  ...row,
});

/** All tools, in the order in which agents see them. */
export const tools: readonly AnyTool[] = [
  tool({
    name: "search_listings",
    id: "searchListings",
    title: "Search listings",
    description:
      "Finds vehicles for sale (or sold, or on sale on a past day) that match all filters, a page at a time, with few fields unless " +
      "`fields` names others; the number that they are sorted or filtered by is shown. Spell values as `find_values` returns them. To count " +
      "or to compare prices, use `count_facets`, `market_statistics`, `group_listings` or `trends` instead of reading pages.",
    parameters: [...filters, "value_rating", ...page],
    described: [...filters, ...page].filter((name) => !clear.includes(name)),
    defaults: { limit: 25, fields: compactFields },
  }),
  tool({
    name: "find_values",
    id: "getFacets",
    title: "Find values of an attribute",
    description:
      "Finds out which values exist, how they are spelled, and how many listings have them, the most frequent first. `facets` names " +
      "the attributes, `facet_value_prefix` what the values begin with. Filters narrow the listings: `make` for its models.",
    parameters: words("facets facet_value_prefix facet_value_limit make model filters detail"),
    described: words("facets"),
    defaults: { facet_value_limit: 50 },
  }),
  tool({
    name: "interpret_question",
    id: "interpretQuestion",
    title: "Words to filters",
    description:
      "Turns words such as `used awd rav4 under 25k near Austin, TX` into `filters`; names those it did not understand.",
    parameters: words("q"),
  }),
  tool({
    name: "count_facets",
    id: "getFacets",
    title: "Count listings by attribute",
    description:
      `Counts the matching listings: in total, by value, and by range of ${numbers}, with their minimum, maximum, ` +
      "mean and median. Takes the filters of `search_listings`.",
    parameters: [...words("facets facet_value_limit interval"), ...usualFilters, ...views, ...others],
  }),
  tool({
    name: "market_statistics",
    id: "getFacets",
    title: "Compare prices and other measures",
    description:
      `Compares a \`metric\` (${metricNames}) between the values of one attribute in \`facets\`, such as \`trim\`. Add \`price\` or ` +
      "another number to `facets` for its distribution over all matches. For combinations of attributes or several metrics use " +
      "`group_listings`. Takes the filters of `search_listings`.",
    parameters: [...words("facets metric sort facet_value_limit"), ...usualFilters, ...views, ...others],
    described: words("sort"),
    defaults: { metric: "price.median" },
  }),
  tool({
    name: "group_listings",
    id: "getGroups",
    title: "Pivot listings",
    description:
      "Counts the matching listings by the combinations of up to three attributes in `group_by`, such as `make` and `state`, each with up to five " +
      "metrics of `market_statistics`. Takes the filters of `search_listings`.",
    parameters: words("group_by metric sort limit make model inventory_type state filters detail"),
    defaults: { limit: 50 },
  }),
  tool({
    name: "trends",
    id: "getTrends",
    title: "Follow the market over time",
    description:
      `Follows up to five metrics of the matching listings over time: ${trendNames}; optionally one series for each value of each \`facet\`. ` +
      "The last point is the present. A point whose `days` is 0 has no data. Takes the filters of `search_listings` except those of sold and " +
      "past inventory.",
    parameters: [...words("metric interval from to facet facet_limit"), ...usualFilters, ...others],
  }),
  tool({
    name: "look_up_vin",
    id: "getVin",
    title: "Look up a VIN",
    description:
      "Returns a vehicle by its VIN: whether it is for sale, missing or sold, its specification and its latest listing with the dealer. As " +
      "`report`, `evidence` has what feeds stated about it and why it is listed, missing or sold; `dealer_fit` the dealers that would sell it fastest.",
    parameters: words("vin include report"),
    reports: { evidence: "getEvidence", dealer_fit: "findFittingDealers" },
  }),
  tool({
    name: "get_listing",
    id: "getListing",
    title: "Get a listing",
    description: "Returns one listing in full by its id, with dealer, specification and pricing.",
    parameters: words("listing_id include"),
  }),
  tool({
    name: "value_vehicle",
    id: "findComparables",
    title: "Value a vehicle",
    description:
      "Returns what a vehicle is worth, how its price compares, and the listings most like it with adjusted prices. Takes a `vin`, or " +
      "`make`, `model`, `year`, `miles` and perhaps `trim`. As `report`, `depreciation` follows the prices of a `make` and `model` by age or " +
      "`by=miles`; `valuations` values up to 100 VINs, separated by commas in `vin`.",
    parameters: words("vin make model year miles trim price report by"),
    reports: { depreciation: "getDepreciation", valuations: "valueVehicles" },
    defaults: { limit: 5 },
  }),
  tool({
    name: "search_dealers",
    id: "searchDealers",
    title: "Search dealers",
    description:
      "Finds dealers by the beginnings of words of their name, website or city (`q`), state, type or franchise (`make`), with the number of their listings, the largest first.",
    parameters: words("q state type make limit offset detail"),
    defaults: { limit: 25 },
  }),
  tool({
    name: "dealer_inventory",
    id: "searchDealerListings",
    title: "Search a dealer's inventory",
    description:
      "Finds the listings of one dealer, whose id `search_dealers` returns. Takes the filters of `search_listings`. As `report`, `model_fit` " +
      "has what the dealer sells faster than its market.",
    parameters: [
      "dealer_id",
      ...vehicles.slice(0, 4),
      ...words("inventory_type sold_within_days"),
      ...others,
      ...page,
      "report",
    ],
    reports: { model_fit: "findFittingModels" },
    defaults: { limit: 25, fields: compactFields.filter((name) => !name.startsWith("dealer")) },
  }),
  tool({
    name: "list_changes",
    id: "listChanges",
    title: "List what has changed",
    description:
      "Lists the listings that have changed since an older version of the data, `since` (`meta.data_version` of an earlier answer; a refusal names the " +
      "oldest): `kinds` are `new`, `price`, `changed`, `returned`, `missing`, `sold`, `ended` and `removed`. Takes most filters of `search_listings`.",
    parameters: words("since kinds make model inventory_type state filters limit cursor fields detail"),
    defaults: { limit: 25, fields: words("year make model trim price miles dealer_name") },
  }),
  tool({
    name: "export_listings",
    id: "exportListings",
    title: "Export listings to a file",
    description:
      "Writes all listings that match to one file, for more than a few pages. Returns the number of rows and a link for downloads " +
      "with an API key. Takes the filters of `search_listings`.",
    parameters: [
      ...words("format"),
      ...vehicles.slice(0, 4),
      ...words("inventory_type sold_within_days filters sort fields"),
    ],
    defaults: { format: "csv" },
  }),
  tool({
    name: "get_usage",
    id: "getUsage",
    title: "Get usage and charges",
    description: "Returns requests and charges by day and usage class.",
    parameters: words("start_date end_date metering_class"),
  }),
];

/** The tools that need no account; `carquet export` exports without one. */
export const lakeTools: readonly AnyTool[] = tools.filter(({ id }) => id !== "getUsage" && id !== "exportListings");
