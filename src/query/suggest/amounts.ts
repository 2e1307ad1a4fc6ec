/** Amounts in questions: bounds of prices, miles, years and days, numbers of seats and the like, and the radius around a place. */
import { plusDays } from "../../base/day.ts";
import { listingParameters } from "./merge-filters.ts";
import { connectors, type QuestionText } from "./question.ts";
import type { NotUnderstood, Reading, Understood } from "./reading.ts";

interface Amount {
  readonly length: number;
  readonly value: number;
  /** Whether it has a dollar sign. */
  readonly isMoney: boolean;
  /** Whether it is in thousands. */
  readonly isThousands: boolean;
  /** Whether it can be a model year. */
  readonly isYear: boolean;
  /** Whether it is a number of days, such as a week. */
  readonly isPeriod?: boolean;
}

/** The miles that the radius of a listing search can have. */
const radiusMax = listingParameters.radius?.maximum ?? 0;

const numberPattern = /^(\$?)(\d[\d,]*(?:\.\d+)?)(k?)$/i;

/** A plain number below this is neither dollars nor miles unless its unit is named. */
const plainMin = 1000;

function amountAt(question: QuestionText, at: number): Amount | undefined {
  const text = question.tokens[at]?.text ?? "";
  const next = question.tokens[at + 1]?.key ?? "";
  if (text === "$") {
    const amount = amountAt(question, at + 1);
    return amount && { ...amount, length: amount.length + 1, isMoney: true, isYear: false };
  }
  const [, sign, digits, suffix] = numberPattern.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const isNextThousand = suffix === "" && ["k", "thousand", "grand"].includes(next);
  const isThousands = suffix !== "" || isNextThousand;
  const number = Number(digits.replaceAll(",", ""));
  const value = isThousands ? Math.round(number * 1000) : number;
  const isMoney = sign !== "";
  const isYear = !isMoney && !isThousands && /^(19|20)\d\d$/.test(digits);
  return { length: isNextThousand ? 2 : 1, value, isMoney, isThousands, isYear };
}

const prefixes = ["between", "from", "below", "at_most", "above", "at_least"] as const;
type Comparison = (typeof prefixes)[number] | "or_more" | "or_less" | "is";

/** An amount or a range in a question, with the words that belong to it. */
interface Bounds {
  readonly length: number;
  readonly comparison: Comparison;
  readonly amounts: readonly Amount[];
  /** The name of the number before the amount, and the unit after it: names of bounds without `min_` or `max_`. */
  readonly noun: string | undefined;
  readonly unit: string | undefined;
  /** What the amount is of, if no filter is for it: the value of a phrase. */
  readonly unknown: string | undefined;
  /** Whether it is by dates: `older` is more years, and fewer of model years. */
  readonly isByDate: boolean;
}

/** What the words around bounds, and the data, say about them. */
export interface BoundsContext {
  /** The model years of the lake's listings. */
  readonly years: readonly number[];
  /** The published day. */
  readonly asOf: string;
  /** Whether the words right before it are of falls of a price. */
  readonly isAfterDrop: boolean;
}

/** The days of longer units. */
const daysIn: Readonly<Record<string, number>> = { weeks: 7, months: 30 };

/** After `price dropped`, an amount is how far: at least that of `by 1000` and `more than 1000`. */
const leastComparisons: ReadonlySet<Comparison> = new Set(["is", "above", "at_least", "or_more"]);

/** What days are of: of the words of a question, the sale, the fall of a price, else the time on the market. */
function daysBase(question: QuestionText): string {
  const has = (kind: string): boolean => question.tokens.some((_, at) => question.phraseAt(at, kind) !== undefined);
  if (question.tokens.some(({ key }) => key === "sold")) return "sold_within_days";
  return has("min_price_drops") ? "price_changed_after" : "days_on_market";
}

const reversed: Readonly<Partial<Record<Comparison, Comparison>>> = {
  below: "above",
  above: "below",
  at_least: "at_most",
  at_most: "at_least",
  or_more: "or_less",
  or_less: "or_more",
};

/** Returns the bound or range that begins at a token. Without a bound, a number is no more than a number. */
export function boundsAt(question: QuestionText, at: number, context: BoundsContext): Reading | undefined {
  const bounds = parseBounds(question, at);
  if (bounds === undefined) return undefined;
  const { length, amounts, noun, unit, unknown } = bounds;
  if (unknown !== undefined) return { length, reason: reasonOf(unknown) };
  const isOfDays = noun === "days_on_market" || noun === "sold_within_days";
  if (isOfDays && unit !== "days") return undefined;
  const named = noun ?? (unit === "days" ? daysBase(question) : unit) ?? impliedBase(amounts);
  const canBeDrop = named === "price" || (named === "year" && noun === undefined);
  const isDrop = context.isAfterDrop && canBeDrop && leastComparisons.has(bounds.comparison);
  const base = isDrop ? "price_drop" : named;
  const isOfAge = base === "age" || base === "years" || base === "days_on_market";
  const stated = (bounds.isByDate && isOfAge ? reversed[bounds.comparison] : undefined) ?? bounds.comparison;
  const comparison = isDrop && stated === "is" ? "at_least" : stated;
  const isBare = noun === undefined && unit === undefined;
  if (
    comparison === "from" &&
    isBare &&
    !amounts.some((amount) => amount.isYear || amount.isMoney || amount.isThousands)
  )
    return undefined;
  const areYears = base === "years" && amounts.every(({ isYear }) => isYear);
  if (base === "year" || areYears) return yearsReading(bounds, context.years);
  if (base === "age" || (base === "years" && comparison !== "is"))
    return agesReading({ ...bounds, comparison }, context);
  if (comparison === "is") {
    const isNumberAlone = isBare && !amounts.some((amount) => amount.isMoney || amount.isThousands);
    return isNumberAlone
      ? undefined
      : { length, reason: "An amount without a bound: expected under, over, or a range." };
  }
  if (base === undefined)
    return { length, reason: "A number without a unit: expected dollars, miles or a model year." };
  return base === "price_changed_after"
    ? changedReading(bounds, context)
    : boundsReading({ ...bounds, comparison }, base);
}

const reasonOf = (unknown: string): string => `No filter is for ${unknown}.`;

/** Returns the words for something that no filter is for, with an amount of it after them. Other amounts are of the next words, such as a price. */
export function unknownAt(
  question: QuestionText,
  at: number,
  { years }: Pick<BoundsContext, "years">,
): NotUnderstood | undefined {
  const phrase = question.phraseAt(at, "unknown");
  if (phrase === undefined) return undefined;
  const { length, value } = phrase;
  if (value === "") return { length };
  const bounds = parseBounds(question, at + length);
  const isOfIt =
    bounds?.amounts.every(
      ({ isMoney, isThousands, value: amount }) => !isMoney && !isThousands && !years.includes(amount),
    ) === true;
  const isNumber = bounds?.noun === undefined && (bounds?.unit === undefined || bounds.unit === "mileage");
  const isAmount = isOfIt && isNumber && (leastComparisons.has(bounds.comparison) || isSmall(bounds));
  return { length: length + (isAmount ? bounds.length : 0), reason: reasonOf(value) };
}

const isSmall = ({ amounts }: Bounds): boolean => amounts.every(({ value }) => value < plainMin);

/** Returns what amounts without a unit are: model years, else dollars. */
function impliedBase(amounts: readonly Amount[]): string | undefined {
  if (amounts.every(({ isYear }) => isYear)) return "year";
  const isDollars = amounts.some(({ isMoney, isThousands }) => isMoney || isThousands);
  return isDollars || amounts.every(({ value }) => value >= plainMin) ? "price" : undefined;
}

function parseBounds(question: QuestionText, start: number): Bounds | undefined {
  let at = start;
  const noun = question.phraseAt(at, "noun");
  at += noun?.length ?? 0;
  const prefix = prefixes.find((kind) => question.phraseAt(at, kind) !== undefined);
  const beginning = prefix && question.phraseAt(at, prefix);
  at += beginning?.length ?? 0;
  const first = amountAt(question, at) ?? periodAt(question, at, prefix !== undefined);
  if (first === undefined) return undefined;
  at += first.length;
  const canBeRange = prefix === undefined || prefix === "between" || prefix === "from";
  const second = canBeRange ? rangeEndAt(question, at, prefix !== undefined) : undefined;
  if (prefix === "between" && second === undefined) return undefined;
  at += second?.length ?? 0;
  const isPeriod = first.isPeriod === true;
  let unit = unitAt(question, at, isPeriod);
  at += unit?.length ?? 0;
  const suffix = prefix === undefined && second === undefined ? suffixAt(question, at) : undefined;
  at += suffix?.length ?? 0;
  if (unit === undefined) {
    unit = unitAt(question, at, isPeriod);
    at += unit?.length ?? 0;
  }
  const days = daysIn[unit?.value ?? ""] ?? 1;
  const isOfDays = isPeriod || days > 1;
  return {
    length: at - start,
    comparison: second === undefined ? (suffix?.kind ?? prefix ?? (isPeriod ? "at_most" : "is")) : "between",
    amounts: (second === undefined ? [first] : withSharedScale(first, second)).map((amount) =>
      isOfDays ? { ...amount, value: amount.value * days, isYear: false } : amount,
    ),
    noun: noun?.value,
    unit: isOfDays ? "days" : unit?.value,
    unknown: unit?.isUnknown === true ? unit.value : undefined,
    isByDate: (suffix ?? beginning)?.value === "date",
  };
}

/** Returns the unit of an amount: one of a filter, or words for what no filter is for. */
function unitAt(question: QuestionText, at: number, isPeriod = false) {
  const unknown = question.phraseAt(at, "unknown");
  if (unknown !== undefined && unknown.value !== "") return { ...unknown, isUnknown: true };
  const unit = isPeriod ? undefined : question.phraseAt(at, "unit");
  return unit && { ...unit, isUnknown: false };
}

/** Returns the bound after an amount. Where it can also be before one, it is of the amount that follows: 2018 max 30k miles. */
function suffixAt(question: QuestionText, at: number) {
  for (const kind of ["or_more", "or_less"] as const) {
    const phrase = question.phraseAt(at, kind);
    const first = connectors.has(question.tokens[at]?.key ?? "") ? at + 1 : at;
    const isPrefix = prefixes.some((other) => question.phraseAt(first, other) !== undefined);
    if (phrase !== undefined && !(isPrefix && amountAt(question, at + phrase.length) !== undefined))
      return { ...phrase, kind };
  }
  return undefined;
}

/** Returns a period such as `last week`; a word such as `week` is one after `in the last`. */
function periodAt(question: QuestionText, at: number, isAfterPrefix: boolean): Amount | undefined {
  const period = question.phraseAt(at, "period") ?? (isAfterPrefix ? question.phraseAt(at, "one_period") : undefined);
  if (period === undefined) return undefined;
  const { length, value } = period;
  return { length, value: Number(value), isMoney: false, isThousands: false, isYear: false, isPeriod: true };
}

/** Returns the second amount of a range, with the tokens between the two. */
function rangeEndAt(question: QuestionText, at: number, canBeAnd: boolean): Amount | undefined {
  const isAnd = canBeAnd && question.tokens[at]?.key === "and";
  const between = question.isAfterDash(at) ? 0 : isAnd ? 1 : question.phraseAt(at, "to")?.length;
  if (between === undefined) return undefined;
  const amount = amountAt(question, at + between);
  return amount && { ...amount, length: amount.length + between };
}

/** Reads 20-30k as 20k-30k. */
const withSharedScale = (first: Amount, second: Amount): readonly Amount[] =>
  second.isThousands && !first.isThousands && first.value < plainMin
    ? [{ ...first, value: first.value * 1000, isThousands: true, isYear: false }, second]
    : [first, second];

/** The least and the greatest value; undefined without a bound. */
interface Limits {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Returns the limits of bounds. Words such as `before` and `over` exclude the amount itself: it is a step away from the limit. */
function limitsOf({ comparison, amounts }: Bounds, step: number): Limits {
  const values = amounts.map(({ value }) => value);
  const min = Math.min(...values);
  const max = Math.max(...values);
  switch (comparison) {
    case "below":
      return { max: max - step };
    case "at_most":
    case "or_less":
      return { max };
    case "above":
      return { min: min + step };
    case "from":
    case "at_least":
    case "or_more":
      return { min };
    default:
      return { min, max };
  }
}

function boundsReading(bounds: Bounds, base: string): Reading {
  const { length } = bounds;
  const { min, max } = limitsOf(bounds, 0);
  if (base === "sold_within_days") {
    if (max === undefined || min !== undefined)
      return { length, reason: "Sales are searched by the days since then at most: expected sold within 30 days." };
    return { length, attribute: base, value: String(max), filters: { [base]: String(max) } };
  }
  return {
    length,
    attribute: base === "mileage" ? "miles" : base,
    value: rangeText({ min, max }),
    isRange: true,
    filters: {
      ...(min === undefined ? {} : { [`min_${base}`]: String(min) }),
      ...(max === undefined ? {} : { [`max_${base}`]: String(max) }),
    },
  };
}

/** More days lead to no date. */
const changedDaysMax = 36_500;

/** Returns the listings whose price fell, and last changed within some days: both have a filter of listing search. */
function changedReading(bounds: Bounds, { asOf }: BoundsContext): Reading {
  const { length } = bounds;
  const { min, max } = limitsOf(bounds, 0);
  if (max === undefined || min !== undefined || max > changedDaysMax)
    return { length, reason: "Changed prices are searched by the days since then at most: expected within 7 days." };
  const value = plusDays(asOf, -max);
  return {
    length,
    attribute: "price_changed_after",
    value,
    filters: { price_changed_after: value, min_price_drops: "1" },
  };
}

/** Returns the model years of cars of an age in years. */
function agesReading(bounds: Bounds, { years, asOf }: BoundsContext): Reading {
  const { length } = bounds;
  const { min, max } = limitsOf(bounds, 1);
  const now = Number(asOf.slice(0, "YYYY".length));
  const found = years.filter((year) => now - year >= (min ?? -Infinity) && now - year <= (max ?? Infinity));
  const yearOf = (age: number | undefined): number | undefined => (age === undefined ? undefined : now - age);
  const value = rangeText({ min: yearOf(max), max: yearOf(min) });
  if (found.length === 0) return { length, reason: "No listing has such an age." };
  return { length, attribute: "year", value, isRange: true, filters: { year: found.join() } };
}

function rangeText({ min, max }: Limits): string {
  if (min === undefined) return `at most ${max}`;
  if (max === undefined) return `at least ${min}`;
  return min === max ? String(min) : `${min} to ${max}`;
}

/** Returns the known years within bounds; the bound itself if there is none. */
function yearsReading(bounds: Bounds, known: readonly number[]): Reading {
  const { length, comparison } = bounds;
  if (!bounds.amounts.every(({ isYear }) => isYear)) return { length, reason: "A model year has four digits." };
  const { min, max } = limitsOf(bounds, 1);
  const years = known.filter((year) => year >= (min ?? year) && year <= (max ?? year));
  const isExact = comparison === "is";
  return {
    length,
    attribute: "year",
    value: rangeText({ min, max }),
    isRange: !isExact,
    filters: { year: isExact || years.length === 0 ? String(min ?? max) : years.join() },
  };
}

/** Returns a number of seats, doors or cylinders: 7 seats, or seating for 7. */
export function countAt(question: QuestionText, at: number): Understood | undefined {
  const before = question.phraseAt(at, "count_of");
  const first = at + (before?.length ?? 0);
  const value = question.phraseAt(first, "number")?.value ?? question.tokens[first]?.key ?? "";
  const after = question.phraseAt(first + 1, "count");
  const unit = before === undefined ? after : after === undefined || after.value === before.value ? before : undefined;
  if (unit === undefined || !/^\d{1,2}$/.test(value)) return undefined;
  const count = String(Number(value));
  const length = first + 1 + (after?.length ?? 0) - at;
  return { length, attribute: unit.value, value: count, filters: { [unit.value]: count } };
}

/** Returns a radius: a distance with `within` before or `of` after it. After `under`, more miles than a radius can have are those of the car. */
export function radiusAt(question: QuestionText, start: number): Understood | undefined {
  const within = question.phraseAt(start, "within");
  const before = within ?? question.phraseAt(start, "below") ?? question.phraseAt(start, "at_most");
  const amountIndex = start + (before?.length ?? 0);
  const amount = amountAt(question, amountIndex);
  if (amount === undefined || amount.isMoney) return undefined;
  const unitIndex = amountIndex + amount.length;
  const unit = unitAt(question, unitIndex);
  if (unit?.value !== "mileage") return undefined;
  const away = question.phraseAt(unitIndex + unit.length, "away");
  if (within === undefined && (away === undefined || amount.value > radiusMax)) return undefined;
  const value = String(amount.value);
  const length = unitIndex + unit.length + (away?.length ?? 0) - start;
  return { length, attribute: "radius", value, filters: { radius: value } };
}
