/** The card of a car: one markup, tall in a grid, flat on phones. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import { Stage } from "../drawings/car-drawing.tsx";
import { cardSentence, historyParts } from "../sentences/car.ts";
import { amountOf, count, dollars } from "../shell/format.ts";
import { Icon } from "../shell/icons.tsx";
import { Badge, PriceBadge } from "./badge.tsx";

/** A listing as a card shows it: the fields of a search. */
export type CardListing = AnswerOf<"searchListings">["data"][number];

/** The fields that a card and a table show, for the parameter `fields` of a search. */
export const cardFields: readonly string[] = [
  ...["vin", "year", "make", "model", "trim", "body_type", "exterior_color", "base_exterior_color", "features"],
  ...["price", "miles", "inventory_type", "days_on_market", "sold_date", "distance_miles", "city", "state"],
  "photo_urls",
  ...["market_value", "market_value_low", "market_value_high", "value_rating", "keywords", "dealer_id", "dealer_name"],
];

interface CardProps {
  readonly car: CardListing;
  /** The page of the car. */
  readonly path: string;
  /** The address of its photo, if photos are shown. */
  readonly photo?: string | undefined;
}

export const Card = ({ car, path, photo }: CardProps): JSX.Element => (
  <li class="card" id={`car-${car.id}`}>
    <Stage car={car} photo={photo} />
    {car.inventory_type === "certified" ? (
      <span class="flag">
        <Badge look="petrol">Certified</Badge>
      </span>
    ) : null}
    <button
      type="button"
      class="keep js-only"
      aria-pressed="false"
      data-keep={car.id}
      aria-label={`Keep ${carName(car)}`}
    >
      <Icon name="heart" />
    </button>
    <div class="body">
      <h3>
        <a href={path}>{carName(car)}</a>
      </h3>
      <span class="sub">
        {[car.trim, car.miles == null ? "" : count(car.miles, " mi")].filter(Boolean).join(" · ")}
      </span>
      <span class="price">
        <b>{car.price == null ? "No price" : dollars(car.price)}</b>
        <PriceBadge car={car} />
      </span>
      {car.sold_date == null ? <span class="why">{cardSentence(car)}</span> : null}
      <Ruler car={car} />
      <span class="sub2">
        <span>{historyParts(car.keywords).join(" · ")}</span>
        <span>{[ageOf(car), placeOf(car)].filter((part) => part !== "").join(" · ")}</span>
      </span>
    </div>
  </li>
);

/** The part of the ruler on each side of the drawn range, in percent. */
const margin = 10;

/** The ruler of a price: where it lies beside the range in which 8 of 10 similar cars are expected. */
const Ruler = ({ car }: Pick<CardProps, "car">): JSX.Element | null => {
  const { price, market_value_low: low, market_value_high: high } = car;
  if (price == null || low == null || high == null) return null;
  const start = Math.min(price, low);
  const length = Math.max(price, high) - start || 1;
  const percentOf = (dollars: number): string =>
    `${Math.round(margin + ((100 - 2 * margin) * (dollars - start)) / length)}%`;
  return (
    <svg class="ruler no-phone" aria-hidden="true">
      <line x1="0" x2="100%" y1="8" y2="8" />
      <line x1={percentOf(low)} x2={percentOf(high)} y1="8" y2="8" />
      <circle cx={percentOf(price)} cy="8" r="5.5" />
    </svg>
  );
};

/** Returns the year, make and model of a car, or its VIN if none is known. */
export const carName = ({ year, make, model, vin }: CardListing): string =>
  [year, make, model].filter((part) => part != null).join(" ") || vin;

const ageOf = ({ days_on_market: days, sold_date: sold }: CardListing): string =>
  sold != null ? "sold" : days == null ? "" : days === 0 ? "new today" : amountOf(days, "day");

const placeOf = ({ distance_miles: miles, state }: CardListing): string =>
  miles == null ? (state ?? "") : count(Math.round(miles), " mi");
