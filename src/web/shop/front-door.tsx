/** The front door: the question box, today's best prices parked in a row, four numbers of the market, and the five doors. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import { type CardListing, cardFields, carName } from "../components/card.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import type { PageContent } from "../shell/document.tsx";
import { type DoorLink, doorsOf, tints } from "../shell/doors.ts";
import { FindBox } from "../shell/find-box.tsx";
import { amountOf, count, dollars, plainWords } from "../shell/format.ts";
import { Icon } from "../shell/icons.tsx";
import type { PageHandler, PageVisit, Redirect } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";

/** The cars that are parked in the row. */
const parkedMax = 6;

const examples = ["used AWD SUV under 25k near 98402", "three-row, one owner, CarPlay", "RAV4 against CR-V prices"];

type Facets = AnswerOf<"getFacets">["data"];

/** What the front door shows; undefined where a request failed. */
interface Market {
  readonly all: Facets | undefined;
  readonly used: Facets | undefined;
  readonly cars: readonly CardListing[];
}

/** Returns the front door. An address with filters is one of the former explorer. */
export const frontDoor: PageHandler = async (visit): Promise<PageContent | Redirect> => {
  if (visit.query.size > 0) return { location: `/shop?${visit.query}` };
  const market = await marketOf(visit);
  return {
    title: "Know what a car is worth",
    look: "home",
    top: <Hero market={market} />,
    body: (
      <>
        <Numbers market={market} />
        <Gates market={market} visitor={visit.visitor} />
      </>
    ),
  };
};

async function marketOf({ requests }: PageVisit): Promise<Market> {
  const fields = [...cardFields, "price_to_value"].join();
  const facets = "inventory_type,value_rating,price,days_on_market";
  const [all, used, found] = await Promise.all([
    requests.loadPart("numbers of the market", () => requests.call("getFacets", { facets })),
    requests.loadPart("numbers of used cars", () =>
      requests.call("getFacets", { facets: "price", inventory_type: "used,certified" }),
    ),
    requests.loadPart("best prices", () =>
      requests.call("searchListings", {
        ...{ sort: "value", value_rating: "great", inventory_type: "used,certified", fields },
        limit: String(parkedMax),
      }),
    ),
  ]);
  return { all: all?.data, used: used?.data, cars: found?.data ?? [] };
}

const countOf = (facets: Facets | undefined, facet: string, ...values: readonly string[]): number | undefined =>
  facets?.facets[facet]
    ?.filter(({ value }) => values.includes(String(value)))
    .reduce((sum, bucket) => sum + bucket.count, 0);

const Hero = ({ market: { all, cars } }: { readonly market: Market }): JSX.Element => (
  <section class="hero">
    <div class="frame top">
      <h1>
        Know what a car <em>is worth.</em>
      </h1>
      <p class="lede">
        {all === undefined ? "Cars" : `${count(all.total)} cars`}, each judged against similar ones. Ask in your own
        words.
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
    {cars.length === 0 ? null : <Street cars={cars} great={countOf(all, "value_rating", "great")} />}
  </section>
);

interface StreetProps {
  readonly cars: readonly CardListing[];
  readonly great: number | undefined;
}

/** The best prices, parked in a row. */
const Street = ({ cars, great }: StreetProps): JSX.Element => (
  <div class="street">
    <div class="frame">
      <div class="head">
        <h2>Today's best prices</h2>
        <a href="/shop?value_rating=great&sort=value">All {count(great)} great prices</a>
      </div>
      <ul class="lane">
        {cars.map((car) => (
          <li key={car.id}>
            <a href={`/listings/${car.id}`}>
              <CarDrawing car={car} />
              <span class="tag">
                <b>{dollars(car.price)}</b>
                <Saving car={car} />
              </span>
              <span class="nm">{carName(car)}</span>
              <span class="wh">{[count(car.miles, " mi"), plainWords(car.city, car.state)].join(" · ")}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  </div>
);

const Saving = ({ car: { price, market_value: value } }: { readonly car: CardListing }): JSX.Element | null =>
  price == null || value == null || price >= value ? null : <span class="save">{dollars(value - price)} less</span>;

/** Four numbers of the market, each a link to its rows. */
const Numbers = ({ market: { all, used } }: { readonly market: Market }): JSX.Element => {
  const numbers = [
    ["/shop?inventory_type=used,certified", dollars(used?.stats.price?.median), "half of the used cars cost less"],
    ["/shop?value_rating=great&sort=value", count(countOf(all, "value_rating", "great")), "great prices today"],
    ["/shop?min_price_drops=1", count(all?.total), "cars for sale"],
    ["/market", amountOf(all?.stats.days_on_market?.median, "day"), "typical time on the lot"],
  ] as const;
  return (
    <div class="four">
      {numbers.map(([path, value, words]) => (
        <a key={words} href={path}>
          <b>{value}</b>
          <span>{words}</span>
        </a>
      ))}
    </div>
  );
};

const Gates = ({ market, visitor }: { readonly market: Market; readonly visitor: Visitor }): JSX.Element => (
  <div class="gates">
    {doorsOf(visitor).map((link) => (
      <a key={link.path} class={`gate ${tints[link.door]}`} href={link.path}>
        <Icon name={link.icon} />
        <b>{link.text}</b>
        <span>{wordsOf(link, market.all)}</span>
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
  account: "Credit, keys and saved searches",
};

function wordsOf({ door }: DoorLink, facets: Facets | undefined): string {
  const used = countOf(facets, "inventory_type", "used", "certified");
  const fresh = countOf(facets, "inventory_type", "new");
  if (door !== "shop" || used === undefined || fresh === undefined) return gateWords[door];
  return `${count(used)} used and ${count(fresh)} new cars, the best prices first`;
}
