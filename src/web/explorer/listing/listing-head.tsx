/** The beginning of a listing's page: the way back, the frame with its photos, the price and what it means, and what to do next. */
import type { ComponentChildren, JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import type { PhotoMode } from "../../../http/service/service-state.ts";
import { Figures } from "../../shell/blocks.tsx";
import { amountOf, count, day, dollars, plainWords, text, webUrl } from "../../shell/format.ts";
import { Icon } from "../../shell/icons.tsx";
import { conditions } from "../../shop/attributes.ts";
import { nameOf, type ShownListing } from "../../shop/columns.tsx";
import { Photo, photoSources } from "../../shop/photos.tsx";
import { CarDrawing, keepAttributes, paintClass } from "../car-drawing.tsx";
import { beside, RatingBadge, type ValuedPrice } from "../value.tsx";
import type { ListingDetail, SuchCars } from "./market.ts";

interface GalleryProps {
  readonly listing: ListingDetail;
  readonly photos: PhotoMode;
}

/** The frame: the drawn car, and photos over it, of which the address names one; below it, the photos to choose from. */
export const Gallery = ({ listing, photos }: GalleryProps): JSX.Element => {
  const { base_exterior_color: color, body_type: body } = listing.vehicle.build;
  const sources = photoSources(listing.photo_urls, photos);
  return (
    <div class={`gallery ${paintClass(color)}`}>
      <div class="frame">
        <CarDrawing bodyType={body} />
        {sources.map((source, index) => (
          <Photo key={source} source={source} id={`photo-${index + 1}`} alt={`Photo ${index + 1} by the dealer`} />
        ))}
      </div>
      {sources.length < 2 ? null : (
        <div class="thumbs">
          {sources.map((source, index) => (
            <a key={source} href={`#photo-${index + 1}`} aria-label={`Photo ${index + 1}`}>
              <CarDrawing bodyType={body} />
              <Photo source={source} />
            </a>
          ))}
        </div>
      )}
    </div>
  );
};

interface ListingHeadProps {
  readonly listing: ListingDetail;
  /** The listing in a search; undefined if it is neither for sale nor sold. */
  readonly own: ShownListing | undefined;
  readonly valued: AnswerOf<"getListingComparables">["data"] | undefined;
  readonly such: SuchCars | undefined;
  /** Whether photos are shown beside. */
  readonly hasPhotos: boolean;
  readonly supersededBy: string | undefined;
}

export const ListingHead = ({ listing, valued, supersededBy, ...props }: ListingHeadProps): JSX.Element => {
  const { price, vehicle, inventory_type: condition } = listing;
  const value: ValuedPrice = { ...(valued?.valuation ?? listing), price };
  return (
    <header class="buy stack">
      <div>
        <h1>{nameOf({ ...listing, ...vehicle.build })}</h1>
        <p class="soft">
          {[
            vehicle.build.trim,
            conditions.get(condition ?? ""),
            count(listing.miles, " miles"),
            vehicle.build.drivetrain,
          ]
            .filter((part) => part !== null && part !== undefined)
            .join(" · ")}
        </p>
      </div>
      <div>
        <p class="asked">
          <strong>{dollars(price)}</strong>
          <RatingBadge rating={value.value_rating} isLong />
          <State listing={listing} />
        </p>
        <p class="sub">{`${sentence(beside(value))} ${allIn(listing)}`}</p>
      </div>
      <Facts listing={listing} value={value} valued={valued} {...props} />
      <Actions listing={listing} hasPhotos={props.hasPhotos} />
      {supersededBy === undefined ? null : (
        <p class="note warn">
          This listing ended without a sale. <a href={`/listings/${supersededBy}`}>The listing that replaced it</a>
        </p>
      )}
    </header>
  );
};

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

const allIn = ({ all_in_price: total, seller_fees: fees }: ListingDetail): string =>
  total === null || fees === null
    ? "The dealer states no fees; taxes unknown."
    : `${dollars(total)} all in, with the ${dollars(fees)} of fees that the dealer states; taxes unknown.`;

const State = ({ listing: { sold_date: sold, vehicle } }: Pick<ListingHeadProps, "listing">): JSX.Element => {
  if (sold !== null) return <span class="tag">{`Sold ${day(sold)}`}</span>;
  if (vehicle.status === "missing") return <span class="tag warn">Missing from its dealer's feed</span>;
  return <span class="tag info">For sale</span>;
};

type FactsProps = Omit<ListingHeadProps, "supersededBy" | "hasPhotos"> & { readonly value: ValuedPrice };

/** The four numbers that a price is judged by. */
const Facts = ({ listing, own, value, valued, such }: FactsProps): JSX.Element => {
  const { market_value: estimate, market_value_low: low, market_value_high: high } = value;
  const { percentile, sample } = valued?.summary ?? {};
  const { price_change_total: change, price_drops: drops, price_changed_at: changedAt } = listing;
  const age = own?.days_on_market;
  const dropWords = drops === null || drops === 0 ? "changed" : `${amountOf(drops, "drop")}, last`;
  return (
    <Figures
      look="four"
      figures={[
        [
          "Estimate",
          dollars(estimate),
          low === null ? "too few comparables" : `80%: ${dollars(low)} to ${dollars(high)}`,
        ],
        ["Percentile", ordinal(percentile), sample === undefined ? "too few comparables" : `of ${sample} comparables`],
        [
          "On the market",
          amountOf(age, "day"),
          such?.days == null ? "too few such cars to compare" : `such cars: ${count(such.days)} in the median`,
        ],
        [
          "Since listing",
          <span key="change" class={toneOf(change)}>{`${(change ?? 0) > 0 ? "+" : ""}${dollars(change)}`}</span>,
          changedAt === null ? "no change" : `${dropWords} on ${day(changedAt)}`,
        ],
      ]}
    />
  );
};

const toneOf = (change: number | null): string | undefined =>
  change === null || change === 0 ? undefined : change < 0 ? "down" : "up";

const endings: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd", other: "th" };
const ordinals = new Intl.PluralRules("en-US", { type: "ordinal" });

/** Returns a rank such as `11th`. */
function ordinal(rank: number | null | undefined): string {
  if (rank === null || rank === undefined) return text(null);
  const whole = Math.round(rank);
  return `${whole}${endings[ordinals.select(whole)] ?? "th"}`;
}

const Actions = ({ listing, hasPhotos }: Pick<ListingHeadProps, "listing" | "hasPhotos">): JSX.Element => {
  const { id, vin, price, vehicle } = listing;
  const kept = { ...vehicle.build, id, vin, price };
  return (
    <>
      <div class="acts">
        <button type="button" class="btn js-only" aria-pressed="false" {...keepAttributes(kept, nameOf(kept))}>
          <Icon name="heart" />
          <Icon name="check" />
          Shortlist
        </button>
        <a class="btn" href={`/compare?ids=${id}`}>
          Compare
        </a>
        <ExternalLink url={listing.vdp_url} className="btn">
          Dealer's page
        </ExternalLink>
      </div>
      <Contacts listing={listing} hasPhotos={hasPhotos} />
    </>
  );
};

/** The dealer, the VIN, and what other hosts have of the car. */
const Contacts = ({ listing, hasPhotos }: Pick<ListingHeadProps, "listing" | "hasPhotos">): JSX.Element => {
  const { vin, dealer, photo_urls: photos } = listing;
  return (
    <dl class="kv left small">
      <dt>Dealer</dt>
      <dd>
        <a href={`/dealers/${dealer.dealer_id}`}>{text(dealer.name)}</a>
        {`, ${plainWords(dealer.city, dealer.state)}`}
      </dd>
      <dt>VIN</dt>
      <dd>
        <output class="mono">{vin}</output>{" "}
        <button type="button" class="plain js-only" data-copy>
          copy
        </button>
      </dd>
      {webUrl(listing.vhr_url) === undefined && (hasPhotos || photos.length === 0) ? null : (
        <>
          <dt>Elsewhere</dt>
          <dd class="links">
            <ExternalLink url={listing.vhr_url}>Vehicle history report</ExternalLink>
            {(hasPhotos ? [] : photos).map((url, index) => (
              <ExternalLink key={url} url={url}>
                Photo {index + 1}
              </ExternalLink>
            ))}
          </dd>
        </>
      )}
    </dl>
  );
};

interface ExternalLinkProps {
  /** A URL of a feed. */
  readonly url: string | null;
  readonly className?: string;
  readonly children: ComponentChildren;
}

/** A link to another host; nothing if the URL is not one of the web. */
export const ExternalLink = ({ url, className, children }: ExternalLinkProps): JSX.Element | null => {
  const href = webUrl(url);
  return href === undefined ? null : (
    <a class={className} href={href} rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
};
