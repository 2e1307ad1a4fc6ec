/** What is said of a market: how prices moved, how fast cars sell, what a model loses with age; for one search, or for two side by side. */
import { epochDay, plusDays } from "../../base/day.ts";
import { life } from "../../listing/lifecycle-rules.ts";
import { count, dollars, inPercent, shortDay, signedPercent } from "../shell/format.ts";
import type { Judgement, Sentence } from "./sentence.ts";
import {
  andList,
  capital,
  clause,
  daysText,
  inWords,
  joined,
  judgement,
  known,
  linked,
  type MaybeNumber,
  neutral,
  pluralOf,
  some,
  things,
  wholePrice,
  withArticle,
} from "./words.ts";

/** Prices that moved by less than this fraction held. */
const heldShare = 0.01;

/** Medians of fewer cars are unknown, as in the API. */
const medianCarsMin = 10;

/** Days of supply that differ by less than the first share are equal, by less than the second a little apart. */
const sameSupplyShare = 0.05;
const littleShare = 0.25;

/** One of the compared searches. */
export interface MarketSide {
  /** In the singular: `RAV4`, `car`. */
  readonly name: string;
  /** For a name whose plural is not regular. */
  readonly plural?: string | undefined;
  readonly cars?: MaybeNumber;
  readonly median?: MaybeNumber;
  readonly medianBefore?: MaybeNumber;
  readonly sold?: MaybeNumber;
  readonly days?: MaybeNumber;
  readonly daysBefore?: MaybeNumber;
  readonly supplyDays?: MaybeNumber;
  /** What it loses of its price a year, in percent, by the fitted curve: `loss_percent` of `by=age`. Other bases are not mixed with it. */
  readonly yearLoss?: MaybeNumber;
  readonly hrefs?: Readonly<Partial<Record<"change" | "cars" | "sold", string | undefined>>> | undefined;
}

export interface MarketPeriod {
  /** From the first to the last day. */
  readonly from: string;
  readonly asOf: string;
  /** `used`, `new`, or `used and new` where medians mix them. */
  readonly condition: string;
  /** Whether the search bounds the price: medians are within the bound. */
  readonly hasPriceBound?: boolean | undefined;
}

const pluralName = ({ name, plural }: MarketSide): string => plural ?? pluralOf(name);
const periodDays = ({ from, asOf }: MarketPeriod): number => epochDay(asOf) - epochDay(from);
const bounded = ({ hasPriceBound = false }: MarketPeriod): string => (hasPriceBound ? ", within your bound" : "");

/** Returns the change of a median as a fraction; undefined if one of both is unknown. */
const changeOf = ({ median, medianBefore }: MarketSide): number | undefined =>
  some(median) && some(medianBefore) ? median / medianBefore - 1 : undefined;

/**
 * Returns the verdict of a market: `Used RAV4 prices fell 4.7 % in 30 days. CR-V prices held: +0.6 %.` A change below 1 % held. Rises and falls are
 * both neutral: one is good for sellers, the other for buyers.
 */
export function marketVerdict(sides: readonly MarketSide[], period: MarketPeriod): Judgement {
  const moved = sides.flatMap((side) => (changeOf(side) === undefined ? [] : [side]));
  const clauses = moved.map((side, index) => moveClause(side, index === 0 ? period : undefined));
  const [side] = sides;
  const sentence =
    moved.length > 0
      ? joined(clauses)
      : side === undefined
        ? []
        : (stockClause(side) ?? [`${capital(pluralName(side))} for sale.`]);
  return judgement(sentence, joined([medianClause(sides, period), soldClause(sides, period)]));
}

function moveClause(side: MarketSide, period: MarketPeriod | undefined): Sentence | undefined {
  const change = changeOf(side);
  if (change === undefined) return undefined;
  const of = period === undefined || period.condition === "" ? "" : `${period.condition} `;
  const subject = `${capital(`${of}${side.name}`)} prices`;
  const when = period === undefined ? "" : ` in ${things(periodDays(period), "day")}`;
  const href = side.hrefs?.change;
  // Percentages are shown with one decimal.
  const shown = Math.abs(Math.round(change * 1000) / 1000);
  if (shown > 0 && shown < heldShare) return clause`${subject} held${when}: ${neutral(signedPercent(change), href)}.`;
  const moved = shown === 0 ? "did not move" : `${change < 0 ? "fell" : "rose"} ${inPercent(change)}`;
  return clause`${subject} ${neutral(moved, href)}${when}.`;
}

const stockClause = (side: MarketSide): Sentence | undefined =>
  typeof side.cars !== "number"
    ? undefined
    : side.cars === 0
      ? [`No ${side.name} is for sale.`]
      : clause`${linked(carsOf(side, side.cars), side.hrefs?.cars)} ${side.cars === 1 ? "is" : "are"} for sale${side.cars < medianCarsMin ? ": too few for a median price" : ""}.`;

/** Returns an amount of a side: `1 RAV4`, `71 RAV4s`, `no CR-V`. */
const carsOf = (side: MarketSide, cars: number): string =>
  cars === 0 ? `no ${side.name}` : `${count(cars)} ${cars === 1 ? side.name : pluralName(side)}`;

/** Returns the median of the first side, beside that of the first day. */
function medianClause([side]: readonly MarketSide[], period: MarketPeriod): Sentence | undefined {
  if (side === undefined || !some(side.cars) || side.cars < medianCarsMin) return undefined;
  const { median, medianBefore } = side;
  const half = clause`Half of the ${linked(carsOf(side, side.cars), side.hrefs?.cars)} cost less than ${wholePrice(median)}`;
  if (half === undefined) return undefined;
  const difference = some(median) && some(medianBefore) ? Math.round(median - medianBefore) : undefined;
  const day = shortDay(period.from, period.asOf);
  const then = known(difference, (change) =>
    change === 0
      ? ` now, as on ${day}`
      : ` now, ${dollars(Math.abs(change))} ${change < 0 ? "less" : "more"} than on ${day}`,
  );
  return joined([half, then, `${bounded(period)}.`], "");
}

function soldClause(sides: readonly MarketSide[], period: MarketPeriod): Sentence | undefined {
  const known = sides.flatMap((side) => (typeof side.sold === "number" ? [{ side, sold: side.sold }] : []));
  if (known.length === 0 || known.length < sides.length) return undefined;
  const subjects = known.map(({ side, sold }): Sentence => joined([linked(carsOf(side, sold), side.hrefs?.sold)]));
  const isOne = known.length === 1 && known.every(({ sold }) => sold <= 1);
  return clause`In ${things(periodDays(period), "day")} ${joined(subjects, " and ")} ${isOne ? "was" : "were"} sold.`;
}

/**
 * Returns whether the sales of an interval can be known. A sale is known once a car was absent for days, so that the first days of the data have none.
 * Unknown sales are left out, not drawn as zero.
 */
export const isSoldKnown = (day: string, data: { readonly first: string; readonly last: string }): boolean =>
  day >= plusDays(data.first, life.soldAfterDays) && day <= data.last;

/** Returns the title of the figure of medians: `RAV4s became $1,300 cheaper, CR-Vs $152 dearer`. */
export function pricesMovedTitle(sides: readonly MarketSide[], period?: Pick<MarketPeriod, "hasPriceBound">): string {
  const moved = sides.flatMap((side) => {
    const { median, medianBefore } = side;
    return some(median) && some(medianBefore) ? [{ side, change: Math.round(median - medianBefore) }] : [];
  });
  if (moved.length === 0) return `Median price of ${andList(sides.map(pluralName))}`;
  const words = moved.map(({ side, change }, index) => {
    const became = change === 0 ? "no dearer" : `${dollars(Math.abs(change))} ${change < 0 ? "cheaper" : "dearer"}`;
    return `${pluralName(side)} ${index === 0 ? "became " : ""}${became}`;
  });
  return `${capital(words.join(", "))}${period?.hasPriceBound === true ? ", within your bound" : ""}`;
}

/** Returns the title of the figure of days: `Both stand longer than a month ago`. Days that differ by less than one are the same. */
export function standingTitle(sides: readonly MarketSide[], period: MarketPeriod): string {
  const days = periodDays(period);
  const then =
    days >= 28 && days <= 31 ? "a month ago" : days >= 364 && days <= 366 ? "a year ago" : `${things(days, "day")} ago`;
  const known = sides.flatMap((side) =>
    typeof side.days === "number" && typeof side.daysBefore === "number"
      ? [{ side, word: changeWord(side.days - side.daysBefore) }]
      : [],
  );
  const [first, second] = known;
  if (first === undefined) return "Days on the lot";
  const phrase = (word: string): string => `${word} ${word === "as long" ? "as" : "than"} ${then}`;
  if (second === undefined) return `${capital(pluralName(first.side))} stand ${phrase(first.word)}`;
  if (first.word === second.word) return `Both stand ${phrase(first.word)}`;
  return `${capital(pluralName(first.side))} stand ${phrase(first.word)}, ${pluralName(second.side)} ${second.word}`;
}

const changeWord = (change: number): string =>
  Math.abs(change) < 1 ? "as long" : change > 0 ? "longer" : "for a shorter time";

/** Returns the title of the facts side by side, by the days until the stock is sold: `A RAV4 sells a little slower`. */
export function paceTitle(sides: readonly MarketSide[]): string {
  const [first, second] = sides;
  if (first === undefined) return "";
  if (second === undefined) {
    const days = daysText(first.supplyDays);
    return days === undefined ? capital(pluralName(first)) : `The stock of ${pluralName(first)} is sold in ${days}`;
  }
  if (!some(first.supplyDays) || !some(second.supplyDays))
    return `${capital(pluralName(first))} and ${pluralName(second)} side by side`;
  const ratio = first.supplyDays / second.supplyDays;
  if (Math.max(ratio, 1 / ratio) < 1 + sameSupplyShare) return "Both sell equally fast";
  const degree = Math.max(ratio, 1 / ratio) < 1 + littleShare ? "a little " : "";
  return `${capital(withArticle(first.name))} sells ${degree}${ratio > 1 ? "slower" : "faster"}`;
}

/** Returns the title of depreciation, on one basis for all: `A RAV4 loses 10.8 % a year, a CR-V 12.2 %`. */
export function lossTitle(sides: readonly MarketSide[]): string {
  const known = sides.flatMap((side) => (typeof side.yearLoss === "number" ? [{ side, loss: side.yearLoss }] : []));
  if (known.length === 0) return `Price by age of ${andList(sides.map(pluralName))}`;
  const words = known.map(({ side, loss }, index) => {
    const isOther = index === 0 || loss < 0 !== (known[index - 1]?.loss ?? 0) < 0;
    const verb = isOther ? `${loss < 0 ? "gains" : "loses"} ` : "";
    return `${withArticle(side.name)} ${verb}${inPercent(loss / 100)}${index === 0 ? " a year" : ""}`;
  });
  return capital(words.join(", "));
}

/** What the dots and lines of depreciation are. */
export const lossNote = `Dots: median price by age, with ${medianCarsMin} cars or more. Lines: the curve fitted to each car for sale.`;

export interface TrendInterval {
  /** `day` or `week`. */
  readonly interval: string;
  /** Of the last interval: its first day, its last one, and how many of its days have data. */
  readonly start: string;
  readonly end: string;
  readonly days: number;
}

/** Returns whether an interval has fewer days of data than it is long: its sums are of a part. */
export const isUnfinished = ({ interval, start, end, days }: TrendInterval): boolean =>
  days < Math.max(interval === "week" ? 7 : 1, 1 + epochDay(end) - epochDay(start));

/** Returns how points are spaced: `A point is a week; the last one has 4 of its days.`; undefined for days. */
export function intervalNote(last: TrendInterval): string | undefined {
  if (last.interval === "day") return undefined;
  const rest = isUnfinished(last) ? `; the last one is unfinished, with ${things(last.days, "day")}` : "";
  return `A point is a ${last.interval}${rest}.`;
}

/** Returns the label of a point: `Nov 19`; `Nov 16 to Nov 19?` of an unfinished week. */
export function pointLabel(point: TrendInterval, asOf: string): string {
  const { start, end, interval } = point;
  const first = interval === "day" || start === end ? "" : `${shortDay(start, asOf)} to `;
  return `${first}${shortDay(end, asOf)}${isUnfinished(point) ? "?" : ""}`;
}

/** Returns what the medians of a figure are of, by day or at the end of each week: `Median price of the used and certified cars for sale each day.` */
export function mediansNote(sides: readonly MarketSide[], period: MarketPeriod, last: TrendInterval): string {
  const kind =
    period.condition === "used"
      ? "used and certified cars"
      : period.condition === ""
        ? "cars"
        : `${period.condition} cars`;
  const when = last.interval === "day" ? "each day" : `on the last day of each ${last.interval}`;
  const counted = sides.flatMap((side) => (typeof side.cars === "number" ? [carsOf(side, side.cars)] : []));
  const stock = counted.length === 0 ? "" : ` ${capital(andList(counted))} on ${shortDay(period.asOf, period.asOf)}.`;
  return [`Median price of the ${kind} for sale ${when}${bounded(period)}.${stock}`, intervalNote(last)]
    .filter(Boolean)
    .join(" ");
}

/** Returns the title of a map of states, by the state with the most cars: `Most stand in Texas: 1,203 of 9,961`, said of more than a half; else `Texas has the most`. */
export function mapTitle(cars: number, state?: { readonly name: string; readonly cars: number }): string {
  if (state === undefined || cars === 0) return "Where the cars are";
  const isMost = state.cars > cars / 2;
  return `${isMost ? `Most stand in ${state.name}` : `${state.name} has the most`}: ${count(state.cars)} of ${count(cars)}`;
}

/** Returns the title of the chart of a query's result: the row that stands out, in the words of its columns. `rows` are in the order of the result. */
export function resultTitle(
  column: string,
  rows: readonly { readonly label: string; readonly value: MaybeNumber }[],
  format: (value: number) => string,
): string {
  const known = rows.flatMap(({ label, value }) =>
    typeof value === "number" && Number.isFinite(value) ? [{ label, value }] : [],
  );
  const [first] = known;
  if (first === undefined || known.length < 2) return column;
  const top = known.reduce((one, other) => (other.value > one.value ? other : one));
  const bottom = known.reduce((one, other) => (other.value < one.value ? other : one));
  if (top.value === bottom.value) return `${column} is the same for all ${inWords(known.length)}`;
  const chosen = first.value === bottom.value ? bottom : top;
  return `${chosen.label} has the ${chosen === bottom ? "lowest" : "highest"} ${column}: ${format(chosen.value)}`;
}
