/** A search in words, by the parameters of its address. */
import { vocabulary } from "../../contract/document.ts";
import { type SearchedCars, searchWords } from "../sentences/shop.ts";
import { day } from "../shell/format.ts";
import { listOf, type ViewParameters } from "../shop/view.ts";
import { featureName } from "./feature-names.ts";

/** How a filter is said that `SearchedCars` has no place for, by its parameter. */
const otherWords: ReadonlyMap<string, (values: readonly string[]) => string> = new Map([
  ["trim", (values) => `trim ${values.join(" or ")}`],
  ["value_rating", (values) => `${values.join(" or ")} price`],
  ["keywords", (values) => values.map((value) => value.replaceAll("_", " ")).join(", ")],
  ["vin_pattern", (values) => `VIN ${values.join(" or ")}`],
  ["dealer_id", (values) => (values.length === 1 ? "of one dealer" : `of ${values.length} dealers`)],
  ["sold_within_days", ([days = ""]) => `sold in the last ${days} days`],
  ["inventory_status", ([status = ""]) => status],
  ["snapshot_date", ([date]) => `on ${day(date)}`],
]);

/** Parameters that are said as a place or a range, or choose no cars. */
const saidNames: ReadonlySet<string> = new Set(
  [
    "inventory_type base_exterior_color exterior_color fuel_type drivetrain make model body_type features postal_code state radius",
    "year min_year max_year min_price max_price min_mileage max_mileage latitude longitude",
    "sort offset limit cursor fields include layout view columns ids chart by period shade beside change unrated kinds",
  ]
    .join(" ")
    .split(" "),
);

/** Returns a search in words: `Used Toyota RAV4s to $25,000, trim LE`. Filters without words are named by their parameter. */
export function wordsOfSearch(view: ViewParameters, place?: string): string {
  const numberOf = (name: string): number | undefined => (view[name] === undefined ? undefined : Number(view[name]));
  const years = listOf(view, "year").map(Number).sort();
  const search: SearchedCars = {
    conditions: listOf(view, "inventory_type").filter((one) => conditionNames.includes(one)),
    colors: [...listOf(view, "base_exterior_color"), ...listOf(view, "exterior_color")],
    fuels: listOf(view, "fuel_type"),
    drivetrains: listOf(view, "drivetrain"),
    makes: listOf(view, "make"),
    models: listOf(view, "model"),
    bodies: listOf(view, "body_type"),
    features: listOf(view, "features").map(featureName),
    minYear: numberOf("min_year") ?? years[0],
    maxYear: numberOf("max_year") ?? years.at(-1),
    minPrice: numberOf("min_price"),
    maxPrice: numberOf("max_price"),
    minMiles: numberOf("min_mileage"),
    maxMiles: numberOf("max_mileage"),
    place: place ?? view.postal_code ?? (view.latitude === undefined ? view.state : "a point on the map"),
    radius: view.state === undefined ? numberOf("radius") : undefined,
    others: Object.keys(view).flatMap((name) => wordsOfOther(view, name)),
  };
  return searchWords(search);
}

const conditionNames: readonly string[] = vocabulary("searchListings", "inventory_type");

function wordsOfOther(view: ViewParameters, name: string): readonly string[] {
  if (saidNames.has(name)) return [];
  const words = otherWords.get(name)?.(listOf(view, name));
  return [words ?? `${name.replaceAll("_", " ")} ${view[name]}`];
}
