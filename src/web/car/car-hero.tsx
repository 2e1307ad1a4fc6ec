/** The top of a car's page: the picture on its stage, and the panel with the price, its judgement, and what to do next. */
import type { ComponentChildren, JSX } from "preact";
import { Badge, hasBrandedTitle, PriceBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { CarDrawing, type DrawnCar, Wash } from "../drawings/car-drawing.tsx";
import { historyParts } from "../sentences/car.ts";
import type { Judgement } from "../sentences/sentence.ts";
import { pluralOf } from "../sentences/words.ts";
import { count, dollars, plainWords, shortDay, webUrl } from "../shell/format.ts";
import { Icon } from "../shell/icons.tsx";
import { Words } from "../shell/verdict.tsx";
import { Photo } from "../shop/photos.tsx";
import type { CarParts, ListingDetail } from "./car-data.ts";

interface HeroProps {
  readonly listing: ListingDetail;
  readonly parts: Pick<CarParts, "own" | "others">;
  readonly judgement: Judgement;
  readonly asOf: string;
  /** The addresses of the shown photos. */
  readonly photos: readonly string[];
  readonly kicker: ComponentChildren;
}

export const CarHero = ({ photos, kicker, ...props }: HeroProps): JSX.Element => (
  <section class="carhero">
    <Wash car={drawnCar(props.listing, props.parts)} />
    <div class="frame">
      <Picture car={drawnCar(props.listing, props.parts)} photos={photos} />
      <div class="panel">
        <div class="kicker">{kicker}</div>
        <Panel {...props} />
      </div>
    </div>
  </section>
);

/** Returns the facts that a car is drawn by. */
export const drawnCar = (
  { vin, vehicle: { build } }: Pick<ListingDetail, "vin" | "vehicle">,
  { own }: Pick<CarParts, "own">,
): DrawnCar => ({ ...build, vin, features: own?.features });

/** The drawing; photos over it, of which the address names one, and below them links to each. */
const Picture = ({ car, photos }: { readonly car: DrawnCar; readonly photos: readonly string[] }): JSX.Element =>
  photos.length === 0 ? (
    <div>
      <CarDrawing car={car} />
    </div>
  ) : (
    <div>
      <div class="photos">
        <CarDrawing car={car} />
        {photos.map((source, index) => (
          <Photo key={source} source={source} id={`photo-${index + 1}`} alt={`Photo ${index + 1} by the dealer`} />
        ))}
      </div>
      {photos.length === 1 ? null : (
        <nav class="strip" aria-label="Photos">
          {photos.map((source, index) => (
            <a key={source} href={`#photo-${index + 1}`} aria-label={`Photo ${index + 1}`}>
              <Photo source={source} />
            </a>
          ))}
        </nav>
      )}
    </div>
  );

const Panel = ({ listing, parts, judgement, asOf }: Omit<HeroProps, "photos" | "kicker">): JSX.Element => {
  const { price } = listing;
  return (
    <>
      <div>
        <h1>{fullName(listing)}</h1>
        <p class="mute">{summaryOf(listing, parts)}</p>
      </div>
      <div class="p">
        <b>{price === null ? "No price" : dollars(price)}</b>
        <StateBadge listing={listing} parts={parts} asOf={asOf} />
        <Badges listing={listing} parts={parts} />
      </div>
      <p class="say">
        <Words sentence={judgement.sentence} />
        {judgement.context === undefined ? null : (
          <>
            {" "}
            <Words sentence={judgement.context} />
          </>
        )}
      </p>
      <Actions listing={listing} parts={parts} />
    </>
  );
};

/** The badge of the price: its rating or the branded title; of a sold car, when it was sold. */
const StateBadge = ({ listing, parts: { own }, asOf }: Pick<HeroProps, "listing" | "parts" | "asOf">): JSX.Element => {
  const car = { ...listing, keywords: own?.keywords };
  if (listing.sold_date !== null) return <Badge>Sold by {shortDay(listing.sold_date, asOf)}</Badge>;
  return hasBrandedTitle(car) || car.value_rating !== null ? <PriceBadge car={car} /> : <Badge>No rating</Badge>;
};

/** Returns the year, make, model and trim; the VIN if none is known. */
export const fullName = ({ vin, vehicle: { build } }: ListingDetail): string =>
  [build.year, build.make, build.model, build.trim].filter((part) => part !== null).join(" ") || vin;

function summaryOf(listing: ListingDetail, { others }: HeroProps["parts"]): string {
  const { miles, dealer, vehicle } = listing;
  const { drivetrain, seating_capacity: seats } = vehicle.build;
  const away = others?.miles;
  const place = away == null ? dealer.state : count(Math.round(away), " mi away");
  const parts = [
    miles === null ? "" : count(miles, " mi"),
    drivetrain,
    seats === null ? "" : `${seats} seats`,
    plainWords(dealer.name, place),
  ];
  return parts.filter((part) => part !== null && part !== "").join(" · ");
}

/** The condition of a new or certified car, and its history. A branded title is the badge of the price. */
const Badges = ({ listing, parts: { own } }: Pick<HeroProps, "listing" | "parts">): JSX.Element => {
  const { inventory_type: condition } = listing;
  const history =
    own === undefined || hasBrandedTitle(own) || own.keywords?.length === 0 ? [] : historyParts(own.keywords);
  return (
    <>
      {condition === "certified" ? <Badge look="petrol">Certified</Badge> : null}
      {condition === "new" ? <Badge look="petrol">New</Badge> : null}
      {history.map((word) => (
        <Badge key={word}>{word}</Badge>
      ))}
    </>
  );
};

/** To call the dealer, to keep the car, and to hear of a lower price; of a branded car, similar ones. Sold cars have other ones only. */
const Actions = ({ listing, parts }: Pick<HeroProps, "listing" | "parts">): JSX.Element => {
  const { id, vin, sold_date: sold, vehicle } = listing;
  const { others, own } = parts;
  const { model } = vehicle.build;
  const hasOthers = model !== null && (others?.cars.length ?? 0) > 0;
  const watch = new URLSearchParams({ query: `vin_pattern=${vin}`, name: fullName(listing).slice(0, 80) });
  return (
    <div class="line">
      {sold === null ? <Call listing={listing} /> : null}
      <button type="button" class="btn js-only" aria-pressed="false" data-keep={id}>
        <Icon name="heart" />
        Keep
      </button>
      {sold !== null || (own !== undefined && hasBrandedTitle(own)) ? (
        hasOthers ? (
          <Button look="quiet" href="#others">
            {sold === null ? `${pluralOf(model)} with a clean title` : `Other ${pluralOf(model)}`}
          </Button>
        ) : null
      ) : (
        <Button look="quiet" href={`/account?${watch}#save`}>
          Tell me if it gets cheaper
        </Button>
      )}
    </div>
  );
};

/** The main action: the phone of the dealer, or else its page of the car. */
const Call = ({ listing: { dealer, vdp_url: url } }: Pick<HeroProps, "listing">): JSX.Element | null => {
  const digits = dealer.phone?.replaceAll(/\D/g, "") ?? "";
  if (dealer.phone !== null && digits.length >= 7)
    return (
      <Button
        look="main"
        href={`tel:${digits.length === 10 ? "+1" : dealer.phone.startsWith("+") ? "+" : ""}${digits}`}
      >
        Call {dealer.phone}
      </Button>
    );
  const href = webUrl(url);
  return href === undefined ? null : (
    <a class="btn main" href={href} rel="noopener noreferrer nofollow">
      See it at the dealer
    </a>
  );
};
