/** The page of a car, to judge it: picture and price, its price among similar cars and over time, its dealer, its facts, and other cars. */
import type { JSX } from "preact";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Card, Cars } from "../components/card.tsx";
import { Note } from "../components/sheet.tsx";
import { alternativesTitle, carVerdict, noRatingOf } from "../sentences/car.ts";
import { count } from "../shell/format.ts";
import { MissingParts } from "../shell/missing-parts.tsx";
import type { PageHandler, PageVisit } from "../shell/pages.tsx";
import { Kicker } from "../shell/verdict.tsx";
import { spokenSearch } from "../shop/filter-words.ts";
import { photoHostsOf, photoSources } from "../shop/photos.tsx";
import { listingPath, readView, type ViewParameters, viewPath, withParameters } from "../shop/view.ts";
import { type CarParts, type ListingDetail, loadParts, loadSimilar, ofModel, type ShownView } from "./car-data.ts";
import { CarEvidence } from "./car-evidence.tsx";
import { CarFacts, DealerSheet, FeatureSheet, OtherListings, PriceParts, WhyNoRating } from "./car-facts.tsx";
import { CarHero, fullName } from "./car-hero.tsx";
import { PastDay, PriceOverTime } from "./price-over-time.tsx";
import { NearestCars, SimilarFigure, similarWithin } from "./similar-cars.tsx";

/** The parameters of the address that are the page's, not of the search that led to it. */
const ownNames = ["within", "similar", "rows", "numbers"];

/** Returns the handler of `/listings/:listing_id`. */
export const carPage =
  ({ current, photos }: Pick<SiteServices, "current" | "photos">): PageHandler =>
  async (visit) => {
    const { params, requests, query } = visit;
    const { data: listing, meta } = await requests.call("getListing", { include: "price_history,options" }, params);
    const asOf = await current.use(async ({ manifest: { as_of } }) => as_of);
    const ofSearch = new URLSearchParams([...query].filter(([name]) => !ownNames.includes(name)));
    const shown = { view: readView(ofSearch, asOf), asOf };
    const parts = await loadParts(listing, requests, shown);
    const sources = photoSources(listing.photo_urls, photos);
    return {
      title: fullName(listing),
      door: "shop",
      imageHosts: photoHostsOf(photos),
      sql: sqlOf(listing),
      top: (
        <CarHero
          listing={listing}
          parts={parts}
          judgement={judgementOf(listing, parts, asOf)}
          asOf={asOf}
          photos={sources}
          kicker={<Whereabouts listing={listing} parts={parts} shown={shown} />}
        />
      ),
      body: (
        <>
          <MissingParts missing={requests.missing} />
          <Superseded by={meta.superseded_by} />
          <PastDay listing={listing} date={shown.view.snapshot_date} asOf={asOf} />
          {await bodyOf(visit, { listing, parts, asOf, hasPhoto: sources.length > 0 })}
          <Others parts={parts} shown={shown} model={listing.vehicle.build.model} />
          {parts.evidence === undefined ? null : (
            <CarEvidence evidence={parts.evidence} listing={listing} valued={parts.valued} asOf={asOf} />
          )}
        </>
      ),
    };
  };

const sqlOf = ({ vin }: ListingDetail): string => `SELECT *\nFROM active\nWHERE vin = '${vin}'`;

/** Returns what is known of a car's price: of its valuation, or else of its listing. */
const pricedCar = (listing: ListingDetail, { valued, own }: Pick<CarParts, "valued" | "own">) => ({
  ...(valued?.valuation ?? listing),
  price: listing.price,
  keywords: own?.keywords,
});

function judgementOf(listing: ListingDetail, parts: CarParts, asOf: string) {
  const { own, evidence, typicalDays } = parts;
  const isMissing = listing.vehicle.status === "missing";
  const change = listing.price_change_total ?? 0;
  return carVerdict({
    ...pricedCar(listing, parts),
    days: own?.days_on_market,
    typicalDays,
    cuts: listing.price_drops,
    cutBy: change < 0 ? -change : undefined,
    soldOn: listing.sold_date,
    missingSince: isMissing
      ? (evidence?.steps.findLast(({ event }) => event === "missing")?.day ?? listing.last_checked_at.slice(0, 10))
      : undefined,
    asOf,
    hrefs: { similar: "#similar", history: "#price", evidence: "#facts" },
  });
}

/** Returns the days on the lot; undefined for a car that was sold on the day it was listed. */
const daysOf = ({ sold_date: sold }: ListingDetail, { own }: Pick<CarParts, "own">): number | null | undefined =>
  sold === null ? own?.days_on_market : own?.days_on_market || undefined;

interface BodyProps {
  readonly listing: ListingDetail;
  readonly parts: CarParts;
  readonly asOf: string;
  readonly hasPhoto: boolean;
}

/** Returns the sheets of a car: the comparison, if there is one; else why not. */
async function bodyOf(visit: PageVisit, props: BodyProps): Promise<JSX.Element> {
  const { listing, parts, asOf } = props;
  const { own, listings, stock, valued } = parts;
  const address = { path: `/listings/${listing.id}`, query: visit.query };
  const reason = listing.sold_date === null ? noRatingOf(pricedCar(listing, parts)) : undefined;
  const similar = reason === "branded" ? undefined : await similarOf(visit, valued, listing.id);
  const why = reason === undefined ? null : <WhyNoRating reason={reason} />;
  const price = (
    <PriceOverTime
      listing={listing}
      days={daysOf(listing, parts)}
      supplyDays={valued?.supply?.days_supply}
      path={address.path}
      query={address.query}
    />
  );
  const facts = <CarFacts listing={listing} parts={parts} asOf={asOf} hasPhoto={props.hasPhoto} />;
  const features = (own?.features ?? []).length === 0 ? null : <FeatureSheet features={own?.features ?? []} />;
  const dealer = <DealerSheet dealer={listing.dealer} stock={stock} />;
  return (
    <>
      {similar === undefined ? (
        <>
          <Wide start={facts} end={[why, price]} />
          <Wide start={features} end={[dealer]} />
        </>
      ) : (
        <>
          <Wide start={<SimilarFigure similar={similar} address={address} />} end={[why, price, dealer]} />
          <Wide start={facts} end={[features]} />
        </>
      )}
      <PriceParts pricing={listing.pricing} />
      {similar === undefined || similar.cars.length === 0 ? null : (
        <NearestCars similar={similar} address={address} asOf={asOf} />
      )}
      <OtherListings cars={listings.filter(({ id }) => id !== listing.id)} asOf={asOf} />
    </>
  );
}

/** Returns the similar cars that the address chooses; undefined if there are none at all. */
async function similarOf({ requests, query }: PageVisit, valued: CarParts["valued"], id: string) {
  if (valued === undefined || valued.comparables.length === 0) return undefined;
  return similarWithin(valued, query, (radius) =>
    requests.loadPart("similar cars", () => loadSimilar(requests, id, radius)),
  );
}

interface WideProps {
  readonly start: JSX.Element | null;
  readonly end: readonly (JSX.Element | null)[];
}

/** A wide sheet, and narrower ones beside it; one alone fills its column. */
const Wide = ({ start, end }: WideProps): JSX.Element => {
  const beside = end.filter((sheet) => sheet !== null);
  return (
    <div class="wide2">
      {start}
      {beside.length > 1 ? <div class="stack">{beside}</div> : beside}
    </div>
  );
};

const Superseded = ({ by }: { readonly by: string | undefined }): JSX.Element | null =>
  by === undefined ? null : (
    <Note end={<a href={`/listings/${by}`}>The listing that replaced it</a>}>This listing ended without a sale.</Note>
  );

interface WhereaboutsProps {
  readonly listing: ListingDetail;
  readonly parts: CarParts;
  readonly shown: ShownView;
}

/** Where the car is found: in the search that led here, with the cars beside it; else in its make and model. */
const Whereabouts = ({ listing, parts: { others }, shown: { view } }: WhereaboutsProps): JSX.Element => {
  const { make, model } = listing.vehicle.build;
  if (others?.from === "search") {
    const { position } = others;
    const here = position === undefined ? undefined : `${count(position.number)} of ${count(position.total)}`;
    return (
      <>
        <span>
          <Kicker above={[[viewPath(view), spokenSearch(view) ?? "Shop"]]} here={here} />
        </span>
        {position === undefined ? null : (
          <span class="beside">
            <Beside id={position.previous} view={view} rel="prev" />
            <Beside id={position.next} view={view} rel="next" />
          </span>
        )}
      </>
    );
  }
  return (
    <span>
      <Kicker
        above={[
          ["/shop", "Shop"],
          ...(make === null ? [] : [[viewPath({ make: ofModel(make, "").make }), make] as const]),
          ...(make === null || model === null ? [] : [[viewPath(ofModel(make, model)), model] as const]),
        ]}
      />
    </span>
  );
};

interface BesideProps {
  readonly id: string | undefined;
  readonly view: ViewParameters;
  readonly rel: "prev" | "next";
}

/** A link to the car before or after this one in its search. */
const Beside = ({ id, view, rel }: BesideProps): JSX.Element | null =>
  id === undefined ? null : (
    <a href={listingPath(id, view)} rel={rel}>
      {rel === "prev" ? "Previous" : "Next"}
      <span class="vh"> car</span>
    </a>
  );

interface OthersProps {
  readonly parts: CarParts;
  readonly shown: ShownView;
  readonly model: string | null;
}

/** Other cars: of the search, or of the model. */
const Others = ({ parts: { others }, shown: { view }, model }: OthersProps): JSX.Element | null => {
  if (others === undefined || others.cars.length === 0) return null;
  const isOfSearch = others.from === "search";
  const total = others.position?.total;
  return (
    <section id="others">
      <div class="head">
        <h2>{alternativesTitle(model ?? "car", others.from)}</h2>
        {isOfSearch ? <a href={viewPath(view)}>Back to all{total === undefined ? "" : ` ${count(total)}`}</a> : null}
      </div>
      <Cars isFit={others.cars.length > 2}>
        {others.cars.map((car) => (
          <Card key={car.id} car={car} path={listingPath(car.id, isOfSearch ? withParameters(view, {}) : {})} />
        ))}
      </Cars>
    </section>
  );
};
