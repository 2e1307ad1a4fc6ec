/** What is said of searches and on the front door: how many cars match, how they are priced, and which change finds more. */
import { count, shortDay } from "../shell/format.ts";
import type { Fact, Judgement, Sentence } from "./sentence.ts";
import {
  agreeing,
  attention,
  capital,
  clause,
  daysText,
  digits,
  fact,
  type Hrefs,
  inWords,
  joined,
  judgement,
  linked,
  type MaybeNumber,
  mixed,
  neutral,
  shortened,
  some,
  things,
  wholePrice,
} from "./words.ts";

/** Searches with fewer cars than this are sparse: changes that show more are offered, and nothing is drawn. */
export const sparseCars = 10;

/** Returns conditions as an adjective: `used` includes certified cars; all and none are no word. */
export function conditionWords(conditions: readonly string[]): string {
  const has = (one: string): boolean => conditions.includes(one);
  const used = has("used") ? "used" : has("certified") ? "certified" : "";
  if (used === "") return has("new") ? "new" : "";
  if (has("new")) return has("used") ? "" : "new or certified";
  return used;
}

/** What a search found. */
interface FoundCars {
  readonly cars: number;
  /** The search in words; undefined for all cars. */
  readonly search?: string | undefined;
  /** Whether the best prices come first. */
  readonly isBestFirst?: boolean | undefined;
  readonly great?: MaybeNumber;
  readonly good?: MaybeNumber;
  /** The city of each great price; said if it is the same. */
  readonly greatCities?: readonly (string | null)[] | undefined;
  readonly cleanTitles?: MaybeNumber;
  readonly branded?: MaybeNumber;
  readonly used?: MaybeNumber;
  readonly new?: MaybeNumber;
  readonly medianPrice?: MaybeNumber;
  readonly medianDays?: MaybeNumber;
  readonly hasPriceBound?: boolean | undefined;
  /** How many single changes of a search without cars find some. */
  readonly changes?: MaybeNumber;
  /** Whether the cars were sold: these have no ratings. */
  readonly isSold?: boolean | undefined;
  readonly hrefs?: Hrefs<"great" | "good" | "branded" | "cleanTitles"> | undefined;
}

/**
 * Returns the verdict of a search. Up to ten cars are counted in words. Great prices "stand first" only where the best prices come first; sold cars
 * have no ratings, and no judgement.
 */
export function shopVerdict(found: FoundCars): Judgement {
  const { cars, search, changes, isSold = false } = found;
  if (cars === 0) {
    const change = some(changes) ? clause`${neutral("One change")} finds some.` : undefined;
    const none = search !== undefined ? "No car matches." : isSold ? "No car was sold." : "No car is for sale.";
    return judgement(joined([[none], change]), contextOf(found));
  }
  const counted = `${capital(search === undefined ? count(cars) : (inWords(cars) ?? ""))} ${agreeing(cars, "car", "cars")}`;
  const sentence = joined([[`${counted}${verbOf(found)}.`], isSold ? undefined : greatClause(found)]);
  return judgement(sentence, contextOf(found), foundFacts(found));
}

/** Returns what the counted cars do: they match, or were sold. */
function verbOf({ cars, search, isSold = false }: FoundCars): string {
  if (isSold) return agreeing(cars, " was sold", " were sold");
  return search === undefined ? "" : agreeing(cars, " matches", " match");
}

/** Returns the clause on great prices; undefined if they are not counted. */
function greatClause(found: FoundCars): Sentence | undefined {
  const { cars, search, great, good, isBestFirst = false, greatCities = [], hrefs } = found;
  if (typeof great !== "number") return undefined;
  const isFew = cars <= sparseCars;
  if (great === 0) {
    if (!isFew || typeof good !== "number") return undefined;
    if (cars === 1) return good === 1 ? clause`It is a ${neutral("good price", hrefs?.good)}.` : undefined;
    if (good === 0) return ["None is a great or good price."];
    return clause`None is a great price, ${inWords(good)} ${agreeing(good, "is", "are")} ${neutral("good", hrefs?.good)}.`;
  }
  const [first, ...others] = greatCities;
  const isOne = typeof first === "string" && others.length + 1 === great && others.every((city) => city === first);
  const where = !isOne ? "" : great === 1 ? `, in ${first}` : `, ${great === 2 ? "both" : "all"} in ${first}`;
  if (search !== undefined && (isFew || great === cars)) {
    const who = cars === 1 ? "It" : great === cars ? "All" : capital(inWords(great) ?? "");
    const prices = neutral(agreeing(great, "great price", "great prices"), hrefs?.great);
    return clause`${who} ${agreeing(great, "is a", "are")} ${prices}${where}.`;
  }
  const words = `${count(great)} great ${great === 1 ? "price" : "prices"}`;
  if (isBestFirst) return clause`${neutral(words, hrefs?.great)} ${great === 1 ? "stands" : "stand"} first.`;
  return clause`${neutral(`${count(great)} ${great === 1 ? "is a great price" : "are great prices"}`, hrefs?.great)}.`;
}

function contextOf(found: FoundCars): Sentence {
  const { cars, search, isBestFirst, branded, isSold = false, hrefs } = found;
  if (search !== undefined) return joined([[`${search}.`], cleanClause(found)]);
  if (cars === 0 || isSold) return [];
  const order = isBestFirst === true ? ["Ordered by how the price compares with similar cars."] : undefined;
  const badge = !some(branded)
    ? undefined
    : clause`${linked(count(branded), hrefs?.branded)} ${branded === 1 ? "has a branded title: it carries" : "have a branded title: they carry"} a red badge and no rating.`;
  return joined([order, badge]);
}

function cleanClause({ cars, cleanTitles, hrefs }: FoundCars): Sentence | undefined {
  if (typeof cleanTitles !== "number" || cars === 0 || cleanTitles > cars) return undefined;
  if (cars === 1) return cleanTitles === 1 ? ["It states a clean title."] : undefined;
  if (cleanTitles === 0) return ["None states a clean title."];
  // Numbers that are compared are both words, or both digits.
  const say = cars <= sparseCars ? inWords : digits;
  const who =
    cleanTitles < cars
      ? `${capital(say(cleanTitles) ?? "")} of ${say(cars)}`
      : cars === 2
        ? "Both"
        : `All ${say(cars)}`;
  return clause`${linked(who, hrefs?.cleanTitles)} ${cleanTitles === 1 ? "states" : "state"} a clean title.`;
}

/** Returns the facts of a search: a median says whether it mixes used and new cars, and whether a bound of the search cuts it. */
function foundFacts(found: FoundCars): readonly Fact[] {
  if (found.search === undefined || found.cars < 2) return [];
  const time = found.isSold === true ? "typical time to a sale" : "typical time on the lot";
  return [
    ...fact(wholePrice(found.medianPrice), medianLabel(found)),
    ...fact(daysText(found.medianDays), `${time}${mixed(found)}`),
  ];
}

/** Returns what a median price is of: `median price, used and new together, within your bound`. */
export const medianLabel = (found: Pick<FoundCars, "used" | "new" | "hasPriceBound">): string =>
  `median price${mixed(found)}${found.hasPriceBound === true ? ", within your bound" : ""}`;

/** A change of a search, in words as a chip has them, and what it would find. */
export interface SearchChange {
  readonly words: string;
  readonly cars: number;
  readonly href: string;
}

/** Returns the changes of a search that show more cars, at most three, the most first. */
export const bestChanges = (cars: number, changes: readonly SearchChange[]): readonly SearchChange[] =>
  changes
    .filter((change) => change.cars > cars)
    .sort((one, other) => other.cars - one.cars)
    .slice(0, 3);

/** Returns the title of cars beyond the radius: `A little farther: 9 within 150 miles`. `more` counts those beyond alone. */
export const fartherTitle = (more: number, radius: number): string =>
  `A little farther: ${count(more)} within ${count(radius)} miles`;

/** Returns what the cheapest car without bounds costs, or cost: `The cheapest used 911 for sale costs $92,590, in Bronx.` */
export const cheapestSentence = (
  what: string,
  price: MaybeNumber,
  city?: string | null,
  href?: string,
  isSold = false,
): Sentence =>
  clause`The cheapest ${what} ${isSold ? "that was sold cost" : "for sale costs"} ${linked(wholePrice(price), href)}${typeof city === "string" && city !== "" ? `, in ${city}` : ""}.` ??
  [];

/** Returns the verdict of a search of which a filter is refused: its ZIP code, or another one. */
export function refusedFilter(text: string, isZip: boolean): Judgement {
  const refused = isZip
    ? clause`There is no ZIP code ${attention(shortened(text))}.`
    : clause`${attention(`“${shortened(text)}”`)} cannot be searched.`;
  const left = isZip ? "distance" : "this filter";
  const kept = `Everything else of your search was understood and is kept. Until it is right, ${left} is left out.`;
  return judgement(refused ?? [], [kept]);
}

export interface MarketToday {
  readonly cars: number;
  readonly dealers: MaybeNumber;
  /** How many have a rating. */
  readonly rated?: MaybeNumber;
  readonly usedMedian?: MaybeNumber;
  readonly great?: MaybeNumber;
  /** How many have a price that changed on the day. */
  readonly repriced?: MaybeNumber;
  /** Of used cars. */
  readonly medianDays?: MaybeNumber;
  readonly day: string;
  /** Whether the newest day is old: then nothing is of today. */
  readonly isOld: boolean;
  readonly hrefs?: Hrefs<"usedMedian" | "great" | "repriced" | "medianDays"> | undefined;
}

/** Returns the line below the title of the front door. All cars are "each judged" only if each has a rating. */
export function frontLine({ cars, dealers, rated }: Pick<MarketToday, "cars" | "dealers" | "rated">): Sentence {
  const judged = !some(rated)
    ? ""
    : rated >= cars
      ? ", each judged against similar ones"
      : `, ${count(rated)} of them judged against similar ones`;
  const stock = clause`${things(cars, "car")} of ${things(dealers, "dealer")}${judged}.` ?? [
    `${things(cars, "car")}${judged}.`,
  ];
  return joined([stock, "Ask in your own words."]);
}

/** Returns the numbers of the front door. */
export const frontFacts = ({ great, repriced, day, isOld, hrefs, ...today }: MarketToday): readonly Fact[] => [
  ...fact(linked(wholePrice(today.usedMedian), hrefs?.usedMedian), "half of the used cars cost less"),
  ...fact(
    linked(digits(great), hrefs?.great),
    `${agreeing(great ?? 0, "great price", "great prices")} ${isOld ? `on ${shortDay(day, day)}` : "today"}`,
  ),
  ...fact(
    linked(digits(repriced), hrefs?.repriced),
    `${agreeing(repriced ?? 0, "car", "cars")} with a new price ${isOld ? `on ${shortDay(day, day)}` : "since yesterday"}`,
  ),
  ...fact(linked(daysText(today.medianDays), hrefs?.medianDays), "typical time of used cars on the lot"),
];

/** For how long prices are of today, in hours from the beginning of their day in UTC: until the next day has ended everywhere in the United States. */
const todaysHours = 58;

/** Returns whether the prices of a day are not of today any more. Until the next day's are published, it is those of yesterday that are shown as today's. */
export const isOldDay = (day: string, nowMs: number): boolean => nowMs - Date.parse(day) > todaysHours * 3_600_000;

/** Returns the title of the row of great prices: `Today's best prices near Tacoma, WA`; of old data, with its day. */
export const bestPricesTitle = ({ day, isOld }: Pick<MarketToday, "day" | "isOld">, place?: string): string =>
  `${isOld ? `The best prices of ${shortDay(day, day)}` : "Today's best prices"}${place === undefined ? "" : ` near ${place}`}`;

/** Returns the link to all great prices: `All 11 great prices within 150 miles`; undefined for none. */
export const allGreatPrices = (great: MaybeNumber, radius?: number): string | undefined =>
  !some(great)
    ? undefined
    : `${great === 1 ? "The one great price" : `All ${count(great)} great prices`}${radius === undefined ? "" : ` within ${count(radius)} miles`}`;

/** A kept car, as its verdict needs it: its rating is unknown for a price that is not judged. */
interface KeptPrice {
  readonly name: string;
  readonly price?: MaybeNumber;
  readonly market_value?: MaybeNumber;
  readonly value_rating?: string | null | undefined;
}

/** Returns the verdict of kept cars: how many they are, and which one costs least beside similar cars. */
export function keptVerdict(cars: readonly KeptPrice[]): Judgement {
  if (cars.length === 0) return judgement(["No car is shown."], ["The heart of a car keeps it, in this browser."]);
  const counted = [`${capital(inWords(cars.length) ?? "")} kept ${cars.length === 1 ? "car" : "cars"}.`];
  const rated = cars.flatMap(({ name, price, market_value: value, value_rating: rating }) =>
    rating == null || !some(price) || !some(value) ? [] : [{ name, less: value - price, share: price / value }],
  );
  const [best, next] = [...rated].sort((one, other) => one.share - other.share);
  const isClear = best !== undefined && best.less > 0 && (next === undefined || next.share > best.share);
  const words =
    !isClear || cars.length === 1
      ? undefined
      : clause`The ${best.name} has ${neutral("the best price")}: ${wholePrice(best.less)} less than similar cars.`;
  const unrated = cars.length - rated.length;
  const context = !some(unrated)
    ? []
    : [`${capital(inWords(unrated) ?? "")} of them ${unrated === 1 ? "has" : "have"} no rating.`];
  return judgement(joined([counted, words]), context);
}
