/** Badges: the rating of a price in a word, the condition and the title of a car. A branded title is the only solid red of a page. */
import type { ComponentChildren, JSX } from "preact";
import type { Rating } from "../../valuation/rules.ts";

interface BadgeProps {
  /** The color: that of a rating, `branded` (solid red), `petrol`, `gold`, or gray without one. */
  readonly look?: Rating | "branded" | "petrol" | "gold" | "plain";
  readonly children: ComponentChildren;
}

export const Badge = ({ look, children }: BadgeProps): JSX.Element => (
  <span class={look === undefined ? "badge" : `badge ${look}`}>{children}</span>
);

/** The words of each rating, the best first. */
export const ratingWords: Readonly<Record<Rating, string>> = {
  great: "Great price",
  good: "Good price",
  fair: "Fair price",
  high: "High price",
};

interface JudgedCar {
  readonly value_rating?: Rating | null | undefined;
  readonly keywords?: readonly string[] | null | undefined;
}

export const hasBrandedTitle = ({ keywords }: JudgedCar): boolean => keywords?.includes("branded") === true;

/** The badge of a price: its rating; the branded title in its place; nothing without a rating. */
export const PriceBadge = ({ car }: { readonly car: JudgedCar }): JSX.Element | null => {
  if (hasBrandedTitle(car)) return <Badge look="branded">Branded title</Badge>;
  const { value_rating: rating } = car;
  return rating == null ? null : <Badge look={rating}>{ratingWords[rating]}</Badge>;
};
