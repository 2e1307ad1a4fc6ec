/** What is said of one car: its price beside similar cars, why it has no rating, its verdict, and the titles of its figures. */
import type { AnswerOf } from "../../contract/types.ts";
import { type Rating, rules } from "../../valuation/rules.ts";
import { count, dollars, shortDay } from "../shell/format.ts";
import type { Judgement, Sentence } from "./sentence.ts";
import {
  aboutNumber,
  agreeing,
  attention,
  capital,
  clause,
  daysText,
  type Hrefs,
  inWords,
  joined,
  judgement,
  known,
  linked,
  type MaybeNumber,
  mixed,
  part,
  pluralOf,
  sentenceOf,
  some,
  things,
  wholePrice,
  withArticle,
} from "./words.ts";

/** Days from which a car is said to stand long: the last bucket of aging begins above it. */
export const agedDays = 60;

/** A car that has been listed for at most this many days is said to be new. */
const newDays = 7;

/** Within this share of the value, a price is that of similar cars. */
const sameShare = 0.01;

/** The price of a car, and what the API says of it: the fields of a listing, or a valuation beside a price. */
export interface PricedCar {
  readonly price?: MaybeNumber;
  readonly market_value?: MaybeNumber;
  readonly market_value_low?: MaybeNumber;
  readonly value_rating?: Rating | null | undefined;
  /** History: `branded` among them means that the car is not valued. */
  readonly keywords?: readonly string[] | null | undefined;
  /** The reason of a valuation; search answers have none. */
  readonly null_reason?: AnswerOf<"findComparables">["data"]["valuation"]["null_reason"] | undefined;
}

/** Why a car has no rating: the reasons of valuations, and those that its price shows. */
const noRatings = {
  branded_title: "No rating: cars with a branded title are not valued",
  no_price: "No rating: the dealer states no price",
  too_low: "No rating: less than half of what similar cars cost",
  too_high: "No rating: more than twice what similar cars cost",
  insufficient_sample: "Too few similar cars to rate",
  unknown_attributes: "No rating: its model, year, miles or condition is not stated",
  out_of_range: "No rating: no similar car has such a year, miles or price",
  not_found: "No rating: this version of the data has no value of it",
  no_data: "No rating: this version of the data has no values",
} as const;

/**
 * Returns why a car has no rating; undefined if it has one. A branded title comes first, then a price that is not stated. With a value, the price is
 * below a half of it or above twice. Without one, the reason is that of the valuation; searches answer none, and it is too few similar cars.
 */
export function noRatingOf(car: PricedCar): keyof typeof noRatings | undefined {
  const { price, market_value: value } = car;
  if (typeof car.value_rating === "string") return undefined;
  if (car.keywords?.includes("branded") || car.null_reason === "branded_title") return "branded_title";
  if (typeof price !== "number") return "no_price";
  if (typeof value === "number") return price < value ? "too_low" : "too_high";
  return car.null_reason ?? "insufficient_sample";
}

/** Returns how far a price is from its value: `$2,275 less`; undefined without a rating. */
export function cardDifference(car: PricedCar): string | undefined {
  const { price, market_value: value } = car;
  if (noRatingOf(car) !== undefined || typeof price !== "number" || typeof value !== "number") return undefined;
  const difference = Math.round(price - value);
  if (difference === 0) return "Same price";
  return `${dollars(Math.abs(difference))} ${difference < 0 ? "less" : "more"}`;
}

/** Returns the line below the price of a card: `$2,275 less than similar cars`, or why the car has no rating. */
export function cardSentence(car: PricedCar): string {
  const reason = noRatingOf(car);
  if (reason !== undefined) return noRatings[reason];
  const difference = cardDifference(car);
  return difference === undefined ? "" : `${difference} ${difference === "Same price" ? "as" : "than"} similar cars`;
}

/** What keywords say of a car, on a card and in a sentence. A branded title is not called clean. */
const histories = [
  ["branded", "Salvage or rebuilt", "branded title"],
  ["clean_title", "Clean title", "clean title"],
  ["one_owner", "1 owner", "one owner"],
  ["fleet", "Ex-fleet", "once a fleet car"],
] as const;

/** Returns what is known of the history of a car. */
const historyOf = (keywords: readonly string[]) =>
  histories.filter(([word]) => keywords.includes(word) && !(word === "clean_title" && keywords.includes("branded")));

/** Returns the history of a car as parts for a line of a card. */
export function historyParts(keywords: readonly string[] | null | undefined): readonly string[] {
  const parts = historyOf(keywords ?? []).map(([, short]) => short);
  return parts.length === 0 ? ["No history stated"] : parts;
}

export interface JudgedCar extends PricedCar {
  readonly days?: MaybeNumber;
  /** How often the price has been reduced, and by how much in all. */
  readonly cuts?: MaybeNumber;
  readonly cutBy?: MaybeNumber;
  readonly soldOn?: string | null | undefined;
  /** Since when it is missing from its dealer's file. */
  readonly missingSince?: string | null | undefined;
  readonly asOf: string;
  readonly hrefs?: Hrefs<"similar" | "history" | "evidence"> | undefined;
}

/**
 * Returns the verdict of a car's page. Great and good prices are marked as neutral, high and implausible ones as attention, fair ones not at all.
 * More than 60 days on the lot are marked. Sold cars are not judged.
 */
export function carVerdict(car: JudgedCar): Judgement {
  const { soldOn, missingSince, asOf, price, keywords } = car;
  if (typeof soldOn === "string") {
    const asked = clause`Sold by ${shortDay(soldOn, asOf)}, last asked ${wholePrice(price)}.`;
    return judgement(asked ?? [`Sold by ${shortDay(soldOn, asOf)}.`], joined([historySentence(keywords)]));
  }
  const missing =
    typeof missingSince === "string"
      ? clause`${attention(`Not in its dealer's file since ${shortDay(missingSince, asOf)}`, car.hrefs?.evidence)}: ask whether it is still for sale.`
      : undefined;
  if (noRatingOf(car) === "branded_title") return judgement(joined([missing, brandedSentence]), []);
  const said = joined([missing, priceSentence(car), timeSentence(car), historySentence(keywords)]);
  return judgement(said.length > 0 ? said : ["Its price is not judged."], []);
}

const brandedSentence: Sentence = [
  { text: "The title is branded", mark: "attention" },
  ": an insurer or a state marked this car as salvage, rebuilt or flooded. Such cars are not valued here. Ask for the repair record, and have it inspected.",
];

/** Returns how a price stands beside similar cars, rounded to two digits: what is about an amount is not said to the dollar. */
function priceSentence(car: JudgedCar): Sentence | undefined {
  const { price, market_value: value, value_rating: rating, hrefs } = car;
  const reason = noRatingOf(car);
  if (reason === "no_data" || reason === "not_found") return undefined;
  if (reason === "no_price")
    return joined([
      "The dealer states no price.",
      clause`Similar cars cost about ${wholePrice(known(value, aboutNumber))}.`,
    ]);
  if (reason === "too_low" || reason === "too_high") {
    const words = noRatings[reason].replace("No rating: ", "");
    return clause`${attention(capital(words), hrefs?.similar)}: ask whether the price is a mistake.`;
  }
  if (reason !== undefined) return [`${noRatings[reason].replace("No rating:", "Its price is not judged:")}.`];
  if (typeof price !== "number" || typeof value !== "number") return undefined;
  const difference = price - value;
  if (Math.abs(difference) < sameShare * value && rating === "fair") return ["About the price of similar cars."];
  const words = `About ${dollars(aboutNumber(Math.abs(difference)))} ${difference < 0 ? "less" : "more"}`;
  if (rating === "fair") return clause`${linked(words, hrefs?.similar)} than similar cars, a usual difference.`;
  return clause`${part(words, rating === "high" ? "attention" : "neutral", hrefs?.similar)} than similar cars.`;
}

function timeSentence({ days, cuts, cutBy, hrefs }: JudgedCar): Sentence | undefined {
  if (typeof days !== "number") return undefined;
  if (days > agedDays) {
    const unsold = attention(`${daysText(days)} unsold`, hrefs?.history);
    return cuts === 0
      ? clause`${unsold} and never reduced: ask why.`
      : (clause`${unsold}, reduced ${some(cuts) ? timesText(cuts) : undefined}.` ?? clause`${unsold}.`);
  }
  if (some(cuts)) {
    const reduced = linked(`Reduced ${timesText(cuts)}`, hrefs?.history);
    return clause`${reduced}, by ${wholePrice(some(cutBy) ? cutBy : undefined)}.` ?? clause`${reduced}.`;
  }
  if (days > newDays) return undefined;
  return [days === 0 ? "Listed today." : `Listed ${days === 1 ? "yesterday" : `${daysText(days)} ago`}.`];
}

const timesText = (times: number): string => (times === 1 ? "once" : times === 2 ? "twice" : `${inWords(times)} times`);

function historySentence(keywords: readonly string[] | null | undefined): Sentence | undefined {
  if (keywords === null || keywords === undefined) return undefined;
  const parts = historyOf(keywords).map(([, , words]) => words);
  return sentenceOf(...(parts.length === 0 ? ["no history stated"] : parts));
}

/** How many similar cars, made comparable, cost less than this car, more, and the same. */
type SimilarPrices = Readonly<Record<"less" | "more", number> & Partial<Record<"same", number>>>;

/** Counts similar cars by their prices beside this one. */
export function countSimilar(price: number, prices: readonly number[]): SimilarPrices {
  const less = prices.filter((other) => other < price).length;
  const more = prices.filter((other) => other > price).length;
  return { less, more, same: prices.length - less - more };
}

/** Returns the title of the figure of similar cars: `All 18 similar cars cost more`. */
export function similarTitle({ less, more, same = 0 }: SimilarPrices): string {
  const of = less + more + same;
  const [number, word] = more >= less ? [more, "more"] : [less, "less"];
  if (of === 0) return "No similar car within this distance";
  if (of > 1 && same === of) return `All ${count(of)} similar cars cost the same`;
  if (of === 1) return number === 0 ? "The one similar car costs the same" : `The one similar car costs ${word}`;
  if (number === of) return of === 2 ? `Both similar cars cost ${word}` : `All ${count(of)} similar cars cost ${word}`;
  if (more === less) return `Of ${count(of)} similar cars, as many cost more as less`;
  return `${count(number)} of ${count(of)} similar cars ${agreeing(number, "costs", "cost")} ${word}`;
}

/** Returns what the dots of that figure are. `years` are those of the similar cars. */
export function similarNote({ model, years }: { readonly model: string; readonly years: readonly number[] }): string {
  const first = Math.min(...years);
  const last = Math.max(...years);
  const span = years.length === 0 ? "" : first === last ? ` ${first}` : ` ${first} to ${last}`;
  return `Each dot is ${span === "" ? withArticle(model) : `a${span} ${model}`}, its price adjusted to this car's year, miles, trim and options. Filled: for sale. Open: sold in the last ${rules.soldDays} days.`;
}

/** Returns why the figure shows cars from afar; undefined if similar cars are within the smallest distance that the page offers. */
export const nearestNote = (nearestMiles: MaybeNumber, smallest: number): string | undefined =>
  known(nearestMiles, (miles) =>
    miles <= smallest ? "" : `The nearest one is ${count(Math.round(miles))} miles away, so the whole country counts.`,
  ) || undefined;

/** Returns the words at the band of the model's interval: a share of 0.8 is `we expect 8 of 10 such cars here`. */
export const expectedWords = (coverage: number): string => `we expect ${tenths(coverage)} such cars here`;

const tenths = (share: number): string => `${count(Math.round(10 * share))} of 10`;

/** The interval of a valuation: its bounds, and the share of such cars that it is expected to contain. */
type Interval = Readonly<Record<"market_value_low" | "market_value_high" | "coverage", number | null>>;

/** Returns what a figure of few cars would show: `Made comparable, they cost $13,000 to $15,000. We expect 8 of 10 such cars from $12,829 to $17,600.` */
export function fewCarsNote(prices: readonly number[], interval: Interval): string {
  const { market_value_low: low, market_value_high: high, coverage } = interval;
  if (prices.length === 0) return "";
  const ends = [Math.min(...prices), Math.max(...prices)].map(dollars);
  const range = prices.length === 1 ? `it costs ${ends[0]}` : `they cost ${ends.join(" to ")}`;
  const isKnown = low !== null && high !== null && coverage !== null;
  return `Made comparable, ${range}.${isKnown ? ` We expect ${tenths(coverage)} such cars from ${dollars(low)} to ${dollars(high)}.` : ""}`;
}

/** Days on the lot and cuts; `change` is the price now less the first one, `supplyDays` those until similar cars are sold at today's pace. */
type PriceChanges = Readonly<
  Record<"days" | "cuts", MaybeNumber> & Partial<Record<"change" | "supplyDays", MaybeNumber>>
>;

/** Returns the title of the figure of the price over time: `Never reduced in 179 days`. */
export function priceTimeTitle({ days, cuts, change }: PriceChanges): string {
  const within = typeof days !== "number" ? "" : days === 0 ? ", listed today" : ` in ${daysText(days)}`;
  if (cuts === 0 && !some(change)) return days === 0 ? "Listed today" : `Never reduced${within}`;
  if (some(cuts)) {
    const all = typeof change === "number" && change < 0 ? `, by ${dollars(-change)} in all` : "";
    return `Reduced ${timesText(cuts)}${within}${all}`;
  }
  if (some(change)) return `Raised by ${dollars(change)}${within}`;
  return days === 0
    ? "Listed today"
    : (known(days, (number) => `${daysText(number)} on the lot`) ?? "Its price over time");
}

/** Returns how fast similar cars sell. A car that is older than 60 days and than that, and was never reduced, has room for an offer. */
export function paceNote({ days, cuts, supplyDays }: PriceChanges): string | undefined {
  if (!some(supplyDays)) return undefined;
  const isSlow = typeof days === "number" && days > agedDays && days > supplyDays && cuts === 0;
  return `Similar cars sell out in ${daysText(Math.max(1, supplyDays))} at today's pace.${isSlow ? " Offer less." : ""}`;
}

/** Cars, how many of their prices are rated, and how many of these are great or good. */
type StockNumbers = Record<"cars" | "used" | "new" | "medianDays" | "rated" | "goodOrBetter", MaybeNumber>;

interface DealerStock extends Readonly<Partial<StockNumbers>> {
  readonly hrefs?: Hrefs<"cars" | "good"> | undefined;
}

/** Returns the stock of a car's dealer: `3 cars for sale, typically 54 days old. 2 of 3 are great or good prices.` */
export function dealerSentence({ cars, medianDays, rated, goodOrBetter, hrefs, ...stock }: DealerStock): Sentence {
  const counted = clause`${linked(things(cars, "car"), hrefs?.cars)} for sale`;
  const typical = known(medianDays, (days) => `${cars === 1 ? "" : "typically "}${daysText(days)} old${mixed(stock)}`);
  const good =
    some(rated) && typeof goodOrBetter === "number"
      ? clause`${linked(`${goodOrBetter === 0 ? "None" : count(goodOrBetter)} of ${count(rated)}`, hrefs?.good)} ${rated === cars ? "" : "rated ones "}${goodOrBetter <= 1 ? "is a great or good price" : "are great or good prices"}.`
      : undefined;
  return joined([counted === undefined ? undefined : sentenceOf(joined([counted, typical], ", ")), good]);
}

interface RatedEvidence extends PricedCar {
  readonly market_value_high?: MaybeNumber;
  /** The price below which it is good. */
  readonly goodBelow?: MaybeNumber;
}

/** Returns why a price has its rating, with the one threshold that decides: `Rated great: $13,600 lies under $13,829, the lower end of what we expect.` */
export function ratingEvidence(car: RatedEvidence): Sentence | undefined {
  const { price, value_rating: rating, market_value_low: low, market_value_high: high, goodBelow } = car;
  const reason = noRatingOf(car);
  if (rating == null) return reason && [`${noRatings[reason]}.`];
  const thresholds: Readonly<Record<Rating, readonly [place: string, limit: MaybeNumber, end: string]>> = {
    great: ["under", low, ", the lower end of what we expect"],
    good: ["under", known(goodBelow, Math.ceil), ""],
    fair: ["within what we expect, which ends at", high, ""],
    high: ["over", high, ", the upper end of what we expect"],
  };
  const [place, limit, end] = thresholds[rating];
  return clause`Rated ${rating}: ${wholePrice(price)} lies ${place} ${wholePrice(limit)}${end}.`;
}

/** Returns the title of the table of similar cars: `The six nearest similar cars`. */
export const nearestTitle = (cars: number): string =>
  cars === 1 ? "The nearest similar car" : `The ${inWords(cars)} nearest similar cars`;

/** Returns the title of the alternatives: those of the search that led here, or of the model with a clean title. */
export const alternativesTitle = (model: string, from: "search" | "branded" | "model"): string =>
  from === "search"
    ? "Or one of these, nearer to your search"
    : from === "branded"
      ? `The nearest ${pluralOf(model)} with a clean title`
      : `Other ${pluralOf(model)}`;
