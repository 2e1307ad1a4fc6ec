/** The front door: the question box, today's best prices parked in a row, four numbers of the market, and the five doors. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { ratingWords } from "../components/badge.tsx";
import { type CardListing, cardFields, carName } from "../components/card.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import { cardDifference } from "../sentences/car.ts";
import {
  allGreatPrices,
  bestPricesTitle,
  frontFacts,
  frontLine,
  isOldDay,
  type MarketToday,
} from "../sentences/shop.ts";
import type { PageContent } from "../shell/document.tsx";
import { type DoorLink, doorsOf, tints } from "../shell/doors.ts";
import { FindBox } from "../shell/find-box.tsx";
import { count, dollars, plainWords } from "../shell/format.ts";
import { Icon } from "../shell/icons.tsx";
import type { PageHandler, PageVisit, Redirect } from "../shell/pages.tsx";
import { Words } from "../shell/verdict.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { countIn } from "./facets.ts";
import { zipPlace } from "./search.ts";
import { nearCookie } from "./shop-page.tsx";
import { readView, type ViewParameters, viewPath } from "./view.ts";

/** The cars that are parked in the row. */
const parkedMax = 6;

/** How far from a ZIP code the best prices are looked for, in miles. */
const nearMiles = 150;

const examples = [
  "used AWD SUV under 25k near 98402",
  "third row seats, one owner, Apple CarPlay",
  "RAV4 against CR-V prices",
];

/** What the front door shows; undefined where a request failed. */
interface Front {
  readonly today: MarketToday;
  readonly best: AnswerOf<"searchListings"> | undefined;
  /** The filters of the best prices: near the place of the last search, if it has any. */
  readonly near: ViewParameters;
  readonly place: string | undefined;
}

/** Returns the handler of the front door. An address with filters is one of the former explorer. */
export const frontDoor =
  ({ current, accounts }: Pick<SiteServices, "current" | "accounts">): PageHandler =>
  async (visit): Promise<PageContent | Redirect> => {
    if (visit.query.size > 0) return { location: formerView(visit.query) };
    const asOf = await current.use(async ({ manifest }) => manifest.as_of);
    const front = await frontOf(visit, asOf, isOldDay(asOf, accounts.administration.nowMs));
    return {
      title: "Know what a car is worth",
      look: "home",
      top: <Hero {...front} />,
      body: (
        <>
          <Numbers today={front.today} />
          <Gates visitor={visit.visitor} />
        </>
      ),
    };
  };

/** Returns the address of a view of the former explorer, whose charts and map are the market's. */
function formerView(query: URLSearchParams): string {
  const { layout = "cards", chart, period, by: _, shade: __, change: ___, unrated: ____, ...filters } = readView(query);
  // The shop refuses other layouts.
  if (layout !== "charts") return viewPath({ ...filters, ...(layout === "cards" ? {} : { view: layout }) });
  const days = period === undefined ? {} : { days: period === "90" ? "60" : period };
  return viewPath({ ...filters, ...(chart === "map" ? { view: chart } : {}), ...days }, "/market");
}

/** Returns the filters of cars whose price changed on a day or later. A filter for cuts alone does not exist. */
const repricedSince = (day: string): ViewParameters => ({ price_changed_after: day });

async function frontOf({ context, requests }: PageVisit, asOf: string, isOld: boolean): Promise<Front> {
  const zip = context.cookies.get(nearCookie) ?? "";
  const near: ViewParameters = /^\d{5}$/.test(zip) ? { postal_code: zip, radius: String(nearMiles) } : {};
  const fields = cardFields.join();
  const search = (filters: ViewParameters, query: ViewParameters) => () =>
    requests.call("searchListings", { ...filters, ...query });
  // The first request decides whether the account may see the page.
  const { data: all } = await requests.call("getFacets", { facets: "value_rating" });
  const ratings = all.facets.value_rating ?? [];
  const great = countIn(ratings, "great");
  const ofBest = { ...near, value_rating: "great" };
  const [used, dealers, repriced, best, place] = await Promise.all([
    requests.loadPart("numbers of used cars", () =>
      requests.call("getFacets", { facets: "price,days_on_market", inventory_type: "used,certified" }),
    ),
    requests.loadPart("number of dealers", () => requests.call("searchDealers", { limit: "1" })),
    requests.loadPart("cars with a new price", search(repricedSince(asOf), { fields: "id", limit: "1" })),
    great > 0
      ? requests.loadPart("best prices", search(ofBest, { sort: "value", fields, limit: String(parkedMax) }))
      : undefined,
    zipPlace(requests, near),
  ]);
  const today: MarketToday = {
    cars: all.total,
    dealers: dealers?.pagination.total,
    rated: countIn(ratings, ...Object.keys(ratingWords)),
    usedMedian: used?.data.stats.price?.median,
    great,
    repriced: repriced?.pagination.total,
    medianDays: used?.data.stats.days_on_market?.median,
    day: asOf,
    isOld,
    hrefs: {
      usedMedian: viewPath({ inventory_type: "used,certified" }),
      great: viewPath({ value_rating: "great" }),
      medianDays: "/market",
      repriced: viewPath(repricedSince(asOf)),
    },
  };
  return { today, best, near, place: place ?? (near.postal_code && `ZIP code ${near.postal_code}`) };
}

const Hero = (front: Front): JSX.Element => (
  <section class="hero">
    <div class="frame top">
      <h1>
        Know what a car <em>is worth.</em>
      </h1>
      <p class="lede">
        <Words sentence={frontLine(front.today)} />
      </p>
      <FindBox look="hero" placeholder="used awd suv under 25k near 98402" />
      <p class="tries">
        <span>Try</span>
        {examples.map((words) => (
          <a key={words} href={`/find?${new URLSearchParams({ q: words })}`}>
            {words}
          </a>
        ))}
      </p>
    </div>
    <Street {...front} />
  </section>
);

/** The best prices, parked in a row. */
const Street = ({ today, best, near, place }: Front): JSX.Element | null =>
  best === undefined || best.data.length === 0 ? null : (
    <div class="street">
      <div class="frame">
        <div class="head">
          <h2>{bestPricesTitle(today, place)}</h2>
          <a href={viewPath({ ...near, value_rating: "great" })}>
            {allGreatPrices(best.pagination.total, near.postal_code === undefined ? undefined : nearMiles)}
          </a>
        </div>
        <ul class="lane">
          {best.data.map((car) => (
            <li key={car.id}>
              <a href={`/listings/${car.id}`}>
                <CarDrawing car={car} />
                <span class="tag">
                  <b>{dollars(car.price)}</b>
                  {cardDifference(car) === undefined ? null : <span class="save">{cardDifference(car)}</span>}
                </span>
                <span class="nm">{carName(car)}</span>
                <span class="wh">{[count(car.miles, " mi"), whereOf(car)].join(" · ")}</span>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );

const whereOf = ({ city, state, distance_miles: miles }: CardListing): string =>
  miles == null ? plainWords(city, state) : plainWords(city, count(Math.round(miles), " mi"));

/** Four numbers of the market, each a link to its rows. */
const Numbers = ({ today }: Pick<Front, "today">): JSX.Element => (
  <div class="four">
    {frontFacts(today).map(({ value: [part], label }) =>
      part === undefined || typeof part === "string" ? null : (
        <a key={part.text} href={part.href ?? "/shop"}>
          <b>{part.text}</b>
          <span>
            <Words sentence={label} />
          </span>
        </a>
      ),
    )}
  </div>
);

const Gates = ({ visitor }: { readonly visitor: Visitor }): JSX.Element => (
  <div class="gates">
    {doorsOf(visitor).map((link) => (
      <a key={link.path} class={`gate ${tints[link.door]}`} href={link.path}>
        <Icon name={link.icon} />
        <b>{link.text}</b>
        <span>{gateWords[link.door]}</span>
      </a>
    ))}
  </div>
);

const gateWords: Readonly<Record<DoorLink["door"], string>> = {
  shop: "Cars for sale, the best prices first",
  lot: "My cars against competitors near me, what ages, what to buy",
  market: "Prices over time, two searches side by side, depreciation",
  build: "A key, a first request, SQL in the browser",
  operate: "What came this morning, revenue, accounts",
};
