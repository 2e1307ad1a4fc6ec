/** What is said of a dealer's cars: its rank by price among dealers nearby, what ages, which cars to decide on, and what to buy. */
import { thresholdsOf } from "../../valuation/rules.ts";
import { count, dollars, inPercent, signedPercent, wholePercent } from "../shell/format.ts";
import { agedDays, cardSentence, noRatingOf, type PricedCar } from "./car.ts";
import type { Fact, Judgement, Sentence } from "./sentence.ts";
import {
  attention,
  capital,
  clause,
  daysText,
  fact,
  type Hrefs,
  inWords,
  joined,
  judgement,
  known,
  linked,
  type MaybeNumber,
  neutral,
  part,
  rankBefore,
  sentenceOf,
  some,
  things,
  wholePrice,
} from "./words.ts";

/** Dealers with fewer cars of a condition are not ranked. */
export const rankedCarsMin = 5;

/** Within this distance from the values, the median price of a dealer is at the market. */
const marketShare = 0.005;

/** From this share over its value on, a price is one to reduce, even if it is fair. */
const reduceShare = 0.03;

/** From this share under its value on, a price is not what keeps a car on the lot. */
const farUnderShare = 0.1;

/** Returns how far prices are from those of similar cars: `2.5 % under the market`, `at the market`. */
export const toMarketWords = (fraction: MaybeNumber): string | undefined =>
  known(fraction, (share) =>
    Math.abs(share) < marketShare ? "at the market" : `${inPercent(share)} ${share < 0 ? "under" : "over"} the market`,
  );

/** Formats the same for a column of a table: `−17.4 %`, of an unknown one nothing. */
export const toMarketText = (fraction: MaybeNumber): string => known(fraction, signedPercent) ?? "";

/** The cars of a dealer, of one condition, beside those of others. */
export interface DealerLot {
  /** Whether it is the reader's dealer. */
  readonly isOwn: boolean;
  /** `used` or `new`. */
  readonly condition: string;
  readonly cars: number;
  /** Its rank by the median price against similar cars, and by the median age, among the dealers with five such cars or more, itself included. */
  readonly priceRank?: MaybeNumber;
  readonly ageRank?: MaybeNumber;
  readonly dealers?: MaybeNumber;
  /** The median price against similar cars, as a fraction. */
  readonly toMarket?: MaybeNumber;
  readonly medianDays?: MaybeNumber;
  /** Cars older than 60 days, the sum of their prices, and that of all. */
  readonly aged?: MaybeNumber;
  readonly agedPrice?: MaybeNumber;
  readonly allPrice?: MaybeNumber;
  readonly branded?: MaybeNumber;
  readonly supplyDays?: MaybeNumber;
  readonly marketSupplyDays?: MaybeNumber;
  readonly hrefs?: Hrefs<"rank" | "aged" | "cars" | "branded" | "toMarket"> | undefined;
}

/**
 * Returns the verdict of a lot. Its rank is said for five cars or more and at least one competitor; the dearest third is marked as attention, other
 * ranks as neutral. Without a rank, its prices against the market are the verdict.
 */
export function lotVerdict(lot: DealerLot): Judgement {
  const { isOwn, condition, cars, hrefs } = lot;
  if (cars === 0) return judgement([`${isOwn ? "You have" : "It has"} no ${condition} cars for sale.`], []);
  const rank = rankClause(lot);
  const market = linked(toMarketWords(lot.toMarket), hrefs?.toMarket);
  const whose = `${isOwn ? "Your" : "Its"} ${condition} cars are`;
  const first = rank ??
    clause`${whose} ${neutral(toMarketWords(lot.toMarket), hrefs?.toMarket)}.` ?? [
      `${isOwn ? "You have" : "It has"} ${things(cars, `${condition} car`)}.`,
    ];
  const stock = sentenceOf(
    linked(things(cars, `${condition} car`), hrefs?.cars),
    rank === undefined ? undefined : market,
    known(lot.medianDays, (days) => `${cars === 1 ? "" : "typically "}${daysText(days)} old`),
  );
  return judgement(joined([first, agedClause(lot)]), joined([stock, brandedClause(lot)]), lotFacts(lot));
}

/** Returns a rank by price as a superlative: `cheapest of 13 dealers`, `second dearest of 13 dealers`. */
function rankClause({ isOwn, condition, cars, priceRank: rank, dealers, hrefs }: DealerLot): Sentence | undefined {
  if (!some(rank) || !some(dealers) || dealers < 2 || cars < rankedCarsMin || rank > dealers) return undefined;
  const isCheap = rank <= (dealers + 1) / 2;
  const words = `${rankBefore(isCheap ? rank : dealers + 1 - rank)}${isCheap ? "cheapest" : "dearest"} of ${count(dealers)} dealers`;
  const isDear = rank > (2 * dealers) / 3;
  return clause`${isOwn ? "Your" : "Its"} ${condition} cars are the ${part(words, isDear ? "attention" : "neutral", hrefs?.rank)} ${isOwn ? "near you" : "nearby"}.`;
}

function agedClause({ cars, aged, agedPrice, hrefs }: DealerLot): Sentence | undefined {
  if (typeof aged !== "number") return undefined;
  if (aged === 0) return cars === 1 ? undefined : [`None is older than ${agedDays} days.`];
  const who = aged === cars ? (cars === 1 ? "It" : "All") : capital(inWords(aged) ?? "");
  const old = attention(`${who} ${aged === 1 ? "is" : "are"} older than ${agedDays} days`, hrefs?.aged);
  return (
    clause`${old} and ${aged === 1 ? "holds" : "hold"} ${wholePrice(some(agedPrice) ? agedPrice : undefined)}.` ??
    clause`${old}.`
  );
}

const brandedClause = ({ branded, hrefs }: DealerLot): Sentence | undefined =>
  some(branded)
    ? clause`${linked(capital(inWords(branded) ?? ""), hrefs?.branded)} ${branded === 1 ? "has" : "have"} a branded title.`
    : undefined;

function lotFacts({ priceRank, ageRank, dealers, cars, ...lot }: DealerLot): readonly Fact[] {
  const isRanked = some(dealers) && dealers > 1 && cars >= rankedCarsMin;
  const rankFact = (rank: MaybeNumber, label: string): readonly Fact[] =>
    isRanked && some(rank) ? fact(`${count(rank)} of ${count(dealers)}`, label) : [];
  const market = daysCount(lot.marketSupplyDays);
  return [
    ...rankFact(priceRank, "by price"),
    ...rankFact(ageRank, "by fresh stock"),
    ...fact(daysText(lot.supplyDays), market === undefined ? "of supply" : `of supply; market ${market}`),
  ];
}

const daysCount = (value: MaybeNumber): string | undefined => known(value, (days) => count(Math.round(days)));

/** Returns the title of prices against age of dealers: `You ask least, yet five dealers hold fresher cars`. */
export function priceAgeTitle({
  isOwn,
  priceRank,
  ageRank,
  dealers,
}: Pick<DealerLot, "isOwn" | "priceRank" | "ageRank" | "dealers">): string {
  if (!some(priceRank) || !some(ageRank) || !some(dealers) || dealers < 2) return "Price and age of the dealers nearby";
  const others = (number: number, verb: string): string =>
    `${inWords(number)} ${number === 1 ? `dealer ${verb}s` : `dealers ${verb}`}`;
  const isCheapest = priceRank === 1;
  const isFreshest = ageRank === 1;
  const least = isOwn ? "You ask least" : "It asks least";
  const price = isCheapest ? least : capital(`${others(priceRank - 1, "ask")} less`);
  const age = isFreshest ? "none holds fresher cars" : `${others(ageRank - 1, "hold")} fresher cars`;
  return `${price}, ${isCheapest === isFreshest ? "and" : "yet"} ${age}`;
}

/** Returns what that figure shows: `13 dealers within 50 miles; a circle's size is its used cars. Lower left is cheap and fresh.` */
export const priceAgeNote = (dealers: number, radius: number, condition: string): string =>
  `${things(dealers, "dealer")} within ${count(radius)} miles; a circle's size is its ${condition} cars. Lower left is cheap and fresh.`;

/** Returns the title of the buckets of aging: `7 of 45 cars are older than 60 days`. */
export function agingTitle({ aged, cars }: Pick<DealerLot, "cars" | "aged">): string {
  if (typeof aged !== "number") return "Age of the cars";
  if (aged === 0) return `No car is older than ${agedDays} days`;
  const who =
    aged < cars ? `${count(aged)} of ${count(cars)} cars` : cars === 1 ? "The one car" : `All ${count(cars)} cars`;
  return `${who} ${aged === 1 ? "is" : "are"} older than ${agedDays} days`;
}

/** Returns what the buckets show: `Used cars by days on the lot. The last bar holds 18 % of your money.` */
export const agingNote = ({
  isOwn,
  condition,
  agedPrice,
  allPrice,
}: Pick<DealerLot, "isOwn" | "condition" | "agedPrice" | "allPrice">): string => {
  const share =
    some(agedPrice) && some(allPrice)
      ? ` The last bar holds ${wholePercent(agedPrice / allPrice)} of ${isOwn ? "your" : "its"} money.`
      : "";
  return `${capital(condition)} cars by days on the lot.${share}`;
};

/**
 * Returns the suggestion for a car that ages, or why it has no rating. Far under the market is a great price at least 10 % under its value: more money off does not help. Great
 * and good prices stay. A high price, or one 3 % or more over its value, is to be reduced; for the others, the price below which they are good.
 */
export function suggestionOf(car: PricedCar & { readonly market_value_high?: MaybeNumber }): string {
  const { price, market_value: value, market_value_low: low, market_value_high: high, value_rating: rating } = car;
  if (noRatingOf(car) !== undefined) return cardSentence(car);
  if (typeof price !== "number" || typeof value !== "number") return "";
  const share = (price - value) / value;
  if (rating === "great" && share <= -farUnderShare) return "Far under market: something else is wrong";
  if (rating === "great" || rating === "good") return "Priced well: check photos, move it";
  if (rating === "high" || share >= reduceShare)
    return price <= value ? "" : `${dollars(Math.round(price - value))} over similar cars: reduce`;
  if (typeof low !== "number" || typeof high !== "number") return "";
  return `Good below ${dollars(Math.floor(thresholdsOf({ value, low, high }).good))}`;
}

/** Returns what the table of models to buy shows. */
export const buyNote = (condition: string, radius: number, isOwn: boolean): string =>
  `${capital(condition)} models within ${count(radius)} miles by the share that sold within 30 days; ${isOwn ? "you have" : "it has"} none or one.`;
