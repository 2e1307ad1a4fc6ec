/** The cards of the results: each car in its frame, its price against its estimate, and facts in fixed lines, so that columns scan. */
import type { JSX } from "preact";
import type { PhotoMode } from "../../../http/service/service-state.ts";
import { amountOf, count, day, dollars, plainWords, text } from "../../shell/format.ts";
import { Icon } from "../../shell/icons.tsx";
import { conditions } from "../attributes.ts";
import { keepAttributes, paintClass } from "../car-drawing.tsx";
import { nameOf, type ShownListing } from "../listing-fields.tsx";
import { Frame } from "../photo-frame.tsx";
import { beside, PriceRuler, RatingBadge } from "../value.tsx";
import { inventoryOf, listingPath, type ViewParameters } from "../view.ts";

interface CardProps {
  readonly view: ViewParameters;
  readonly listing: ShownListing;
  readonly photos: PhotoMode;
}

export const Card = ({ view, listing, photos }: CardProps): JSX.Element => {
  const { id, trim, exterior_color: color, inventory_type: condition } = listing;
  const isRated = inventoryOf(view) === "active";
  return (
    <li class={`car ${paintClass(listing.base_exterior_color)}`} id={`car-${id}`}>
      <Frame listing={listing} photos={photos}>
        {typeof condition === "string" ? <span class="cond">{conditions.get(condition) ?? condition}</span> : null}
      </Frame>
      <div class="txt">
        <h2>
          <a href={listingPath(id, view)}>{nameOf(listing)}</a>
        </h2>
        <p class="trim">{text([trim, color].filter(Boolean).join(" · "))}</p>
        <p class="row">
          <strong class="price">{dollars(listing.price)}</strong>
          {isRated ? <RatingBadge rating={listing.value_rating} /> : null}
        </p>
        {isRated ? <PriceRuler valued={listing} /> : null}
        <p class="why">{isRated ? beside(listing) : besideMsrp(listing)}</p>
        <p class="facts">{factsOf(listing)}</p>
        <p class="time">{timeOf(listing)}</p>
        <p class="place">
          <span>{text(listing.dealer_name)}</span>
          <span>{placeOf(listing)}</span>
        </p>
      </div>
      <KeepButton listing={listing} />
    </li>
  );
};

/** Adds the car to the shortlist, which the browser keeps. */
export const KeepButton = ({ listing }: Pick<CardProps, "listing">): JSX.Element => (
  <button
    type="button"
    class="keep js-only"
    aria-pressed="false"
    {...keepAttributes(listing, nameOf(listing))}
    aria-label={`Shortlist ${nameOf(listing)}`}
  >
    <Icon name="heart" />
    <Icon name="check" />
  </button>
);

function besideMsrp({ discount_from_msrp: discount }: ShownListing): string {
  if (discount === null || discount === undefined) return "–";
  return discount === 0
    ? "at MSRP"
    : `${(Math.abs(discount) * 100).toFixed(1)}% ${discount < 0 ? "below" : "above"} MSRP`;
}

/** Returns the known facts of a listing in one line. */
const factsOf = ({ miles, drivetrain, fuel_type }: ShownListing): string =>
  text([typeof miles === "number" ? count(miles, " mi") : null, drivetrain, fuel_type].filter(Boolean).join(" · "));

/** Returns how long a car has been on the market, and how its price has changed. */
function timeOf({ sold_date: sold, days_on_market: days, ...prices }: ShownListing): string {
  if (typeof sold === "string") return `Sold ${day(sold)}`;
  const age = days === 0 ? "Listed today" : amountOf(days, "day");
  const { price, price_at_listing: first, price_drops: drops } = prices;
  if (typeof price !== "number" || typeof first !== "number" || price === first) return age;
  const change = `${price < first ? "−" : "+"}${dollars(Math.abs(price - first))}`;
  return `${age} · ${change}${typeof drops === "number" && drops > 1 ? ` in ${drops} drops` : ""}`;
}

const placeOf = ({ distance_miles: miles, city, state }: ShownListing): string =>
  typeof miles === "number" ? count(miles, " mi") : plainWords(city, state);
