/** The top of a car's page: the picture on its stage, and the panel with the price, its judgement, and what to do next. */
import type { ComponentChildren, JSX } from "preact";
import { Badge, hasBrandedTitle, PriceBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { CarDrawing, type DrawnCar, Photo, Wash } from "../drawings/car-drawing.tsx";
import { historyParts } from "../sentences/car.ts";
import type { Judgement } from "../sentences/sentence.ts";
import { joined, pluralOf } from "../sentences/words.ts";
import { count, dollars, plainWords, shortDay, webUrl } from "../shell/format.ts";
import { Icon } from "../shell/icons.tsx";
import { Words } from "../shell/verdict.tsx";
import { valueName } from "../shop/filter-words.ts";
import type { ListingDetail, ShownCar } from "./car-data.ts";

interface HeroProps {
  readonly car: ShownCar;
  readonly judgement: Judgement;
  /** The addresses of the shown photos. */
  readonly photos: readonly string[];
  readonly kicker: ComponentChildren;
}

export const CarHero = ({ car, judgement, photos, kicker }: HeroProps): JSX.Element => {
  const { listing } = car;
  return (
    <section class="carhero">
      <Wash car={drawnCar(car)} />
      <div class="frame">
        <Picture car={drawnCar(car)} photos={photos} />
        <div class="panel">
          <div class="kicker">{kicker}</div>
          <div>
            <h1>{fullName(listing)}</h1>
            <p class="mute">{summaryOf(car)}</p>
          </div>
          <div class="p">
            <b>{listing.price === null ? "No price" : dollars(listing.price)}</b>
            <Badges car={car} />
          </div>
          <p class="say">
            <Words sentence={joined([judgement.sentence, judgement.context])} />
          </p>
          <Actions car={car} />
        </div>
      </div>
    </section>
  );
};

/** Returns the facts that a car is drawn by. */
export const drawnCar = ({ listing: { vin, vehicle }, own }: ShownCar): DrawnCar => ({
  ...vehicle.build,
  vin,
  features: own?.features,
});

/** The drawing; photos over it, of which the address names one, and below them links to each. */
const Picture = ({ car, photos }: { readonly car: DrawnCar; readonly photos: readonly string[] }): JSX.Element => (
  <div>
    <div class={photos.length === 0 ? undefined : "photos"}>
      <CarDrawing car={car} />
      {photos.map((source, index) => (
        <Photo key={source} source={source} id={`photo-${index + 1}`} alt={`Photo ${index + 1} by the dealer`} />
      ))}
    </div>
    {photos.length < 2 ? null : (
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

/** Returns the year, make, model and trim; the VIN if none is known. */
export const fullName = ({ vin, vehicle: { build } }: ListingDetail): string =>
  [build.year, build.make, build.model, build.trim].filter((part) => part !== null).join(" ") || vin;

function summaryOf({ listing, others }: ShownCar): string {
  const { miles, dealer, vehicle } = listing;
  const { drivetrain, seating_capacity: seats } = vehicle.build;
  const away = others?.miles;
  const parts = [
    miles === null ? "" : count(miles, " mi"),
    drivetrain,
    seats === null ? "" : `${seats} seats`,
    plainWords(dealer.name, away == null ? dealer.state : count(away, " mi away")),
  ];
  return parts.filter((part) => part !== null && part !== "").join(" · ");
}

/** The rating of the price, or the branded title in its place, or when it was sold; the condition unless it is used; and the history. */
const Badges = ({ car: { listing, own, asOf } }: { readonly car: ShownCar }): JSX.Element => {
  const judged = { ...listing, keywords: own?.keywords };
  const isBranded = hasBrandedTitle(judged);
  const condition = listing.inventory_type ?? "used";
  const history = isBranded || (own?.keywords ?? []).length === 0 ? [] : historyParts(own?.keywords);
  return (
    <>
      {listing.sold_date !== null ? (
        <Badge>Sold by {shortDay(listing.sold_date, asOf)}</Badge>
      ) : isBranded || listing.value_rating !== null ? (
        <PriceBadge car={judged} />
      ) : (
        <Badge>No rating</Badge>
      )}
      {condition === "used" ? null : <Badge look="petrol">{valueName("inventory_type", condition)}</Badge>}
      {history.map((word) => (
        <Badge key={word}>{word}</Badge>
      ))}
    </>
  );
};

/** To call the dealer, to keep the car, and to hear of a lower price; of a branded car, similar ones. Sold cars have other ones only. */
const Actions = ({ car: { listing, others, own } }: { readonly car: ShownCar }): JSX.Element => {
  const { id, vin, sold_date: sold } = listing;
  const { model } = listing.vehicle.build;
  const isWatched = sold === null && !(own !== undefined && hasBrandedTitle(own));
  const watch = new URLSearchParams({ query: `vin_pattern=${vin}`, name: fullName(listing).slice(0, 80) });
  return (
    <div class="line">
      {sold === null ? <Call listing={listing} /> : null}
      <button type="button" class="btn js-only" aria-pressed="false" data-keep={id}>
        <Icon name="heart" />
        Keep
      </button>
      {isWatched ? (
        <Button look="quiet" href={`/account?${watch}#save`}>
          Tell me if it gets cheaper
        </Button>
      ) : model === null || (others?.cars.length ?? 0) === 0 ? null : (
        <Button look="quiet" href="#others">
          {sold === null ? `${pluralOf(model)} with a clean title` : `Other ${pluralOf(model)}`}
        </Button>
      )}
    </div>
  );
};

/** The main action: the phone of the dealer, or else its page of the car. */
const Call = ({ listing: { dealer, vdp_url: url } }: Pick<ShownCar, "listing">): JSX.Element | null => {
  const { phone } = dealer;
  const digits = phone?.replaceAll(/\D/g, "") ?? "";
  if (phone !== null && digits.length >= 7) {
    const country = digits.length === 10 ? "+1" : phone.startsWith("+") ? "+" : "";
    return (
      <Button look="main" href={`tel:${country}${digits}`}>
        Call {phone}
      </Button>
    );
  }
  const href = webUrl(url);
  return href === undefined ? null : (
    <a class="btn main" href={href} rel="noopener noreferrer nofollow">
      See it at the dealer
    </a>
  );
};
