/** The page of a car, to judge it: picture and price, its price among similar cars and over time, its dealer, its facts, and other cars. */
import type { JSX } from "preact";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Note } from "../components/sheet.tsx";
import { alternativesTitle, carVerdict, noRatingOf } from "../sentences/car.ts";
import { count } from "../shell/format.ts";
import type { PageHandler, PageVisit } from "../shell/pages.tsx";
import { Kicker } from "../shell/verdict.tsx";
import { spokenSearch } from "../shop/filter-words.ts";
import { photoHostsOf, photoSources } from "../shop/photos.ts";
import { CardList } from "../shop/results.tsx";
import { readView, viewPath } from "../shop/view.ts";
import { loadCar, loadSimilar, ofModel, type ShownCar } from "./car-data.ts";
import { CarEvidence } from "./car-evidence.tsx";
import { CarFacts, DealerSheet, FeatureSheet } from "./car-facts.tsx";
import { CarHero, fullName } from "./car-hero.tsx";
import { PriceOverTime } from "./price-over-time.tsx";
import { NearestCars, SimilarFigure, similarWithin } from "./similar-cars.tsx";

/** The parameters of the address that are the page's, not of the search that led to it. */
const ownNames = ["within", "numbers"];

/** Returns the handler of `/listings/:listing_id`. */
export const carPage =
  ({ current, photos }: Pick<SiteServices, "current" | "photos">): PageHandler =>
  async (visit) => {
    const { params, requests, query } = visit;
    const { data: listing, meta } = await requests.call("getListing", { include: "price_history,options" }, params);
    const asOf = await current.use(async ({ manifest: { as_of } }) => as_of);
    const ofSearch = new URLSearchParams([...query].filter(([name]) => !ownNames.includes(name)));
    const car = await loadCar(requests, { listing, view: readView(ofSearch), asOf, photos });
    const sources = photoSources(listing.photo_urls, photos);
    return {
      title: fullName(listing),
      door: "shop",
      imageHosts: photoHostsOf(photos),
      sql: `SELECT *\nFROM ${listing.vehicle.status}\nWHERE vin = '${listing.vin}'`,
      top: <CarHero car={car} judgement={judgementOf(car)} photos={sources} kicker={<Whereabouts car={car} />} />,
      body: (
        <>
          {meta.superseded_by === undefined ? null : (
            <Note end={<a href={`/listings/${meta.superseded_by}`}>The listing that replaced it</a>}>
              This listing ended without a sale.
            </Note>
          )}
          {await sheetsOf(visit, car, sources.length > 0)}
          <Others car={car} />
          <CarEvidence car={car} />
        </>
      ),
    };
  };

/** Returns what is known of a car's price: of its valuation, or else of its listing. */
const pricedCar = ({ listing, valued, own }: ShownCar) => ({
  ...(valued?.valuation ?? listing),
  price: listing.price,
  keywords: own?.keywords,
});

function judgementOf(car: ShownCar) {
  const { listing, own, evidence, asOf } = car;
  const change = listing.price_change_total ?? 0;
  const missing = evidence?.steps.findLast(({ event }) => event === "missing")?.day;
  return carVerdict({
    ...pricedCar(car),
    days: own?.days_on_market,
    cuts: listing.price_drops,
    cutBy: change < 0 ? -change : undefined,
    soldOn: listing.sold_date,
    missingSince: listing.vehicle.status === "missing" ? (missing ?? listing.last_checked_at.slice(0, 10)) : undefined,
    asOf,
    hrefs: { similar: "#similar", history: "#price", evidence: "#facts" },
  });
}

/** Returns the sheets of a car: the comparison, if there is one; else why not. */
async function sheetsOf({ requests, query }: PageVisit, car: ShownCar, hasPhoto: boolean): Promise<JSX.Element> {
  const { listing, own, valued } = car;
  const address = { path: `/listings/${listing.id}`, query };
  const reason = listing.sold_date === null ? noRatingOf(pricedCar(car)) : undefined;
  const isCompared = valued !== undefined && valued.comparables.length > 0 && reason !== "branded_title";
  const price = <PriceOverTime key="price" car={car} address={address} />;
  const facts = <CarFacts car={car} hasPhoto={hasPhoto} />;
  const features =
    (own?.features ?? []).length === 0 ? [] : [<FeatureSheet key="has" features={own?.features ?? []} />];
  const dealer = <DealerSheet key="dealer" car={car} />;
  if (!isCompared)
    return (
      <Wide
        sheets={[
          <div key="facts" class="stack">
            {facts}
            {features}
          </div>,
          ...(reason === "branded_title" ? [<BrandedSheet key="why" />] : []),
          price,
          dealer,
        ]}
      />
    );
  const load = (radius: number) => requests.loadPart("similar cars", () => loadSimilar(requests, listing.id, radius));
  const compared = { similar: await similarWithin(valued, query, load), address, asOf: car.asOf };
  return (
    <>
      <Wide sheets={[<SimilarFigure key="similar" {...compared} />, price, dealer]} />
      <Wide sheets={[facts, ...features]} />
      <NearestCars {...compared} />
    </>
  );
}

const BrandedSheet = (): JSX.Element => (
  <section class="fig tint rose">
    <h2>Why there is no rating</h2>
    <p>
      Similar cars have clean titles. A branded one sells for less by an amount that depends on the damage, which no
      dealer states. So this page shows the price and no comparison.
    </p>
  </section>
);

/** A wide sheet, and narrower ones beside it; one alone fills its column. */
const Wide = ({ sheets: [first, ...beside] }: { readonly sheets: readonly JSX.Element[] }): JSX.Element => (
  <div class="wide2">
    {first}
    {beside.length > 1 ? <div class="stack">{beside}</div> : beside}
  </div>
);

/** Where the car is found: in the search that led here, else in its make and model. */
const Whereabouts = ({ car: { listing, others, view, place } }: { readonly car: ShownCar }): JSX.Element => {
  const { make, model } = listing.vehicle.build;
  const { position } = others ?? {};
  if (others?.from === "search") {
    const here = position === undefined ? undefined : `${count(position.number)} of ${count(position.total)}`;
    return <Kicker above={[[viewPath(view), spokenSearch(view, { place }) ?? "Shop"]]} here={here} />;
  }
  const ofMake = make === null ? [] : [[viewPath({ make: ofModel(make, "").make }), make] as const];
  const own = make === null || model === null ? [] : [[viewPath(ofModel(make, model)), model] as const];
  return <Kicker above={[["/shop", "Shop"], ...ofMake, ...own]} />;
};

/** Other cars: of the search, or of the model. */
const Others = ({ car: { listing, others, view, photos } }: { readonly car: ShownCar }): JSX.Element | null => {
  if (others === undefined || others.cars.length === 0) return null;
  const { cars, from, position } = others;
  return (
    <section id="others">
      <div class="head">
        <h2>{alternativesTitle(listing.vehicle.build.model ?? "car", from)}</h2>
        {from === "search" ? (
          <a href={viewPath(view)}>Back to all{position === undefined ? "" : ` ${count(position.total)}`}</a>
        ) : null}
      </div>
      <CardList view={from === "search" ? view : {}} cars={cars} photos={photos} isFit={cars.length > 2} />
    </section>
  );
};
