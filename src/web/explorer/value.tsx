/** How the price of a listing stands to its estimate: a rating in words and pips, a ruler, and the difference in dollars. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import { dollars } from "../shell/format.ts";

/** The fields of a listing that say what it is worth. */
export const valueFields = ["price", "market_value", "market_value_low", "market_value_high", "value_rating"] as const;

type Summary = AnswerOf<"searchListings">["data"][number];

export type ValuedPrice = Pick<Summary, (typeof valueFields)[number]>;

type Rating = NonNullable<Summary["value_rating"]>;

/** The pips, the word and the noun of each rating, the best first. */
export const ratingLooks: Readonly<Record<Rating, readonly [pips: number, word: string, noun: string]>> = {
  great: [4, "Great", "value"],
  good: [3, "Good", "value"],
  fair: [2, "Fair", "value"],
  high: [1, "High", "price"],
};

const pipsMax = 4;

interface RatingBadgeProps {
  readonly rating: Rating | null | undefined;
  /** Whether it says what is rated. */
  readonly isLong?: boolean;
}

export const RatingBadge = ({ rating, isLong = false }: RatingBadgeProps): JSX.Element => {
  if (rating === null || rating === undefined) return <span class="rate none">No rating</span>;
  const [pips, word, noun] = ratingLooks[rating];
  return (
    <span class={`rate ${rating}`}>
      <i aria-hidden="true">
        {Array.from({ length: pipsMax }, (_, index) => (
          <b key={index} class={index < pips ? "f" : undefined} />
        ))}
      </i>
      {isLong ? `${word} ${noun}` : word}
    </span>
  );
};

/** The part of the ruler on each side of the interval, as a share of the interval. */
const margin = 0.7;

/** The interval of 80 % of prices as a band, the estimate as a tick, the listing as a dot. Only the line without an estimate. */
export const PriceRuler = ({ valued }: { readonly valued: ValuedPrice }): JSX.Element => {
  const { price, market_value: value, market_value_low: low, market_value_high: high } = valued;
  const hasValue = typeof value === "number" && typeof low === "number" && typeof high === "number" && high > low;
  const percentOf = (dollarsAt: number): number => {
    const share = hasValue ? (dollarsAt - low + margin * (high - low)) / ((1 + 2 * margin) * (high - low)) : 0;
    return Math.round(Math.min(0.985, Math.max(0.015, share)) * 1000) / 10;
  };
  return (
    <svg class="ruler" aria-hidden="true">
      <line class="line" x1="0" x2="100%" y1="7" y2="7" />
      {hasValue ? (
        <>
          <rect class="band" x={`${percentOf(low)}%`} width={`${percentOf(high) - percentOf(low)}%`} y="4" height="5" />
          <rect class="est" x={`${percentOf(value)}%`} width="1.5" y="1" height="11" />
          {typeof price === "number" ? <circle class="at" cx={`${percentOf(price)}%`} cy="7" r="5" /> : null}
        </>
      ) : null}
    </svg>
  );
};

/** Returns how far a price is from its estimate, in words. */
export function beside({ price, market_value: value }: ValuedPrice): string {
  if (typeof value !== "number") return "too few comparables to rate";
  if (typeof price !== "number") return `estimate ${dollars(value)}`;
  const difference = price - value;
  if (price < value / 2) return `less than half of the estimate of ${dollars(value)}`;
  if (Math.abs(difference) < value / 100) return `at the estimate of ${dollars(value)}`;
  return `${dollars(Math.abs(difference))} ${difference < 0 ? "under" : "over"} the estimate of ${dollars(value)}`;
}
