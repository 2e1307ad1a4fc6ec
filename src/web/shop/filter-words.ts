/** Filters in words: a few for the chip that removes them, and all of a search as a sentence has them. */
import { ownValue } from "../../base/json.ts";
import { Refusal } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import { type AttributeName, attributeOf, attributes, rangedNames } from "../../listing/schema.ts";
import { ratingWords } from "../components/badge.tsx";
import { conditionWords } from "../sentences/shop.ts";
import { andList, capital, lower, orList, pluralOf, things } from "../sentences/words.ts";
import { count, day, dollars } from "../shell/format.ts";
import { facetDefinitions, titleOf, type ViewFacets } from "./facets.ts";
import { filterNames, listOf, type ViewParameters } from "./view.ts";

/** Filters that are removed together, in words. */
interface ChosenFilter {
  readonly names: readonly string[];
  readonly text: string;
}

/** A filter that the API refuses, by its parameters, and why. */
export interface LostFilter {
  readonly names: readonly string[];
  readonly refusal: Refusal;
}

/** Returns which parameters of an address a refusal is about; undefined for other exceptions. */
export function lostFilter(thrown: unknown, given: ViewParameters): LostFilter | undefined {
  if (!(thrown instanceof Refusal)) return undefined;
  const named = thrown.code === "unknown_postal_code" ? "postal_code" : thrown.parameters;
  const words = new Set(named.split(/\W+/));
  const names = Object.keys(given).filter((name) => words.has(name.replace(/^(min|max)_year$/, "year")));
  return names.length === 0 ? undefined : { names, refusal: thrown };
}

/** What is known of a view besides its parameters. */
export interface ViewNames {
  /** The names of ids, such as those of dealers. */
  readonly facets?: ViewFacets | undefined;
  /** The place of its ZIP code: `Tacoma, WA`. */
  readonly place?: string | undefined;
}

/** Words of closed vocabularies that are not the values themselves. */
const valueNames: ReadonlyMap<string, string> = new Map([
  ...Object.entries(ratingWords),
  ["branded", "Hide branded titles"],
  ["fleet", "Never a fleet car"],
  ["stock", "In stock"],
  ["transit", "In transit"],
  ["build", "To be built"],
]);

/** The categories whose values are written in lower case, with underscores. */
const plainCategories = "features options_packages keywords inventory_type dealer_type".split(" ");

/** Words of features that are not written in lower case. */
const featureWords: ReadonlyMap<string, string> = new Map(
  "ABS Android Apple Auto AWD Bluetooth CarPlay DC DVD GPS HD LED SiriusXM USB Wi-Fi"
    .split(" ")
    .map((word) => [word.toLowerCase().replace("-", ""), word]),
);

/** Returns a feature as people write it: `apple_carplay` is Apple CarPlay. */
const featureName = (feature: string): string =>
  capital(feature.replaceAll(/[^_ ]+/g, (word) => featureWords.get(word.toLowerCase()) ?? word).replaceAll("_", " "));

/** Returns a value of a category in words. */
export function valueName(name: string, value: string, facets?: ViewFacets): string {
  const label = ownValue(facets?.values, name)?.find((bucket) => bucket.value === value)?.label;
  return label ?? valueNames.get(value) ?? (plainCategories.includes(name) ? featureName(value) : value);
}

/** Returns the filters of a view in words, each with the parameters that its chip removes. */
export function chosenFilters(view: ViewParameters, names: ViewNames = {}): readonly ChosenFilter[] {
  const left = new Set(filterNames(view));
  const chosen: ChosenFilter[] = [];
  if (view.model !== undefined && listOf(view, "make").length === 1) {
    chosen.push({ names: ["make", "model"], text: `${view.make} ${listOf(view, "model").join(", ")}` });
    for (const name of ["make", "model"]) left.delete(name);
  }
  for (const name of left) {
    const group = groupOf(name).filter((one) => left.has(one));
    for (const one of group) left.delete(one);
    chosen.push({ names: group, text: textOf(name, view, names) });
  }
  return chosen;
}

/** Returns why a filter is refused: of bounds in plain words, else as the API says it. */
export function whyLost(view: ViewParameters, { names: [name = ""], refusal }: LostFilter): string {
  const [, range] = /^(?:min|max)_(.+)$/.exec(name) ?? [];
  if (range === undefined) return refusal.message;
  if (Number(view[`min_${range}`]) > Number(view[`max_${range}`]))
    return "The first number is greater than the second: swap them.";
  const wrong = [`min_${range}`, `max_${range}`].find((bound) => !(Number(view[bound] ?? 0) >= 0)) ?? name;
  return `Invalid value ${quoted(view[wrong])} for ${wrong}: expected a number, such as ${range === "year" ? "2022" : "25,000"}.`;
}

/** The parameters of a distance. */
const placeNames: readonly string[] = ["postal_code", "latitude", "longitude", "radius"];

/** The parameters that one chip says and removes. */
function groupOf(name: string): readonly string[] {
  const [, bound, range] = /^(min|max)_(.+)$/.exec(name) ?? [];
  if (bound !== undefined) return [`min_${range}`, `max_${range}`];
  if (placeNames.includes(name)) return placeNames;
  if (name === "sold_within_days" || name === "inventory_status") return ["sold_within_days", "inventory_status"];
  return [name];
}

function textOf(name: string, view: ViewParameters, { facets, place }: ViewNames): string {
  const value = view[name] ?? "";
  const [, range] = /^(?:min|max)_(.+)$/.exec(name) ?? [];
  if (range !== undefined) return rangeText(range, view[`min_${range}`], view[`max_${range}`]);
  if (placeNames.includes(name)) {
    const where = originWords(view, place);
    return view.radius === undefined ? `Distance from ${where}` : `${view.radius} mi of ${where}`;
  }
  if (name === "inventory_status" || name === "sold_within_days")
    return view.sold_within_days === undefined ? capital(value) : `Sold in ${view.sold_within_days} days`;
  const [, excluded, category = name] = /^(exclude_)?(.*?)(?:_pattern)?$/.exec(name) ?? [];
  const values = listOf(view, name).map((one) => dayText(valueName(category, one, facets)));
  if (name === "inventory_type") return capital(conditionWords(listOf(view, name))) || values.join(", ");
  const words = name === "value_rating" ? capital(values.map(lower).join(" or ")) : values.join(", ");
  const titled = isNumbered(category) ? capital(`${filterTitle(category)} ${words}`) : words;
  return excluded === undefined || hidingWords.test(titled) ? titled : `Not ${titled}`;
}

/** Returns where distances of a view are measured from. */
const originWords = ({ latitude, longitude, postal_code: zip = "" }: ViewParameters, place?: string): string =>
  place ?? (latitude === undefined ? `ZIP code ${zip}` : `${latitude}, ${longitude}`);

/** Keywords that hide the cars which have them: their exclusion is the same. */
const hidingWords = /^(Hide|Never) /;

/** Whether a value needs its title to be understood. */
function isNumbered(name: string): boolean {
  if (!Object.hasOwn(attributes, name)) return true;
  const { type } = attributeOf(name as AttributeName);
  return (type === "SMALLINT" && name !== "year") || name === "stock_number";
}

const dayText = (value: string): string =>
  /^\d{4}-\d{2}-\d{2}/.test(value) && !Number.isNaN(Date.parse(value)) ? day(value) : value;

/** Returns the words for a category. */
const filterTitle = (name: string): string =>
  facetDefinitions.find(({ parameters }) => parameters.includes(name))?.title ??
  (Object.hasOwn(attributes, name) ? titleOf(name as AttributeName) : name.replaceAll("_", " "));

/** Returns a range in words: `to $25,000`, `2019 to 2021`, `30,000 mi and more`. */
function rangeText(range: string, min: string | undefined, max: string | undefined): string {
  const attribute = rangedNames.find((one) => attributes[one].range === range);
  const unit = attribute === undefined ? undefined : attributeOf(attribute).unit;
  const format = (value: string | undefined): string => {
    if (value === undefined || !Number.isFinite(Number(value))) return value ?? "";
    return range === "year" ? value : unit === "dollars" ? dollars(Number(value)) : count(Number(value));
  };
  const suffix = range === "mileage" ? " mi" : range === "days_on_market" ? " days" : "";
  const plain = range === "price" || range === "year" || suffix !== "" || attribute === undefined;
  const title = plain ? "" : `${titleOf(attribute)} `;
  if (min === max) return `${title}${format(min)}${suffix}`;
  if (min === undefined) return `${title}to ${format(max)}${suffix}`;
  if (max === undefined) return `${title}from ${format(min)}${suffix}`;
  return `${title}${format(min)} to ${format(max)}${suffix}`;
}

/** The filters that the words of a search begin with; others follow as on their chips. */
const spokenNames: ReadonlySet<string> = new Set(
  "inventory_type base_exterior_color exterior_color fuel_type drivetrain make model features body_type state min_price max_price postal_code radius".split(
    " ",
  ),
);

/** The filters that choose the market, which the verdict says. */
const marketNames: ReadonlySet<string> = new Set(["inventory_status", "sold_within_days"]);

/** The filters whose values keep their first letter within a sentence: `LE`, `Tacoma`. */
const properNames = /^(?:city|dealer_name|trim|version|vin_pattern)$/;

/** Returns a search in words: `Used AWD SUVs to $25,000 within 100 miles of Tacoma, WA`; undefined for all cars of a market. */
export function spokenSearch(view: ViewParameters, names: ViewNames = {}): string | undefined {
  if (filterNames(view).every((name) => marketNames.has(name))) return undefined;
  const { min_price: min, max_price: max } = view;
  const features = listOf(view, "features").map(insideSentence);
  const bodies = listOf(view, "body_type").map((body) => (/^[A-Z]{2,}$/.test(body) ? body : body.toLowerCase()));
  const models = listOf(view, "model");
  const words = [
    conditionWords(listOf(view, "inventory_type")),
    orList([...listOf(view, "base_exterior_color"), ...listOf(view, "exterior_color")]).toLowerCase(),
    orList(listOf(view, "fuel_type")).toLowerCase(),
    orList(listOf(view, "drivetrain")),
    orList(listOf(view, "make")),
    orList((models.length > 0 ? models : bodies).map(pluralOf)) || "cars",
    min === undefined && max === undefined ? "" : rangeText("price", min, max),
    features.length === 0 ? "" : `with ${andList(features)}`,
    placeWords(view, names),
  ];
  const others = chosenFilters(view, names)
    .filter((chosen) => chosen.names.every((name) => !spokenNames.has(name) && !marketNames.has(name)))
    .map(({ names: [name = ""], text }) => (properNames.test(name) ? text : lower(text)))
    .map((text) => text.replace(/hide branded titles/i, "no branded title"));
  const all = [words.filter((word) => word !== "").join(" "), ...(models.length > 0 ? bodies : []), ...others];
  return capital(all.join(", "));
}

/** Returns a feature as a sentence has it: `third row seats`, but `Apple CarPlay`. */
const insideSentence = (feature: string): string => featureName(`with ${feature}`).slice("with ".length);

function placeWords(view: ViewParameters, { place }: ViewNames): string {
  const { radius } = view;
  if (radius !== undefined) return `within ${things(Number(radius), "mile")} of ${originWords(view, place)}`;
  return view.state === undefined ? "" : `in ${view.state}`;
}
