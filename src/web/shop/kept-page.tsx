/** Kept cars beside each other: the table of cars turned, a column for each car of the address, a row for each attribute. */
import type { ComponentChildren, JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import type { PhotoMode } from "../../http/service/service-state.ts";
import { factsOf } from "../car/car-facts.tsx";
import { Badge, PriceBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { type CardListing, cardFields, carName } from "../components/card.tsx";
import { Field } from "../components/field.tsx";
import { Note, Sheet } from "../components/sheet.tsx";
import { DataTable, type TableColumn } from "../components/table.tsx";
import { Stage } from "../drawings/car-drawing.tsx";
import { cardSentence, historyParts } from "../sentences/car.ts";
import { keptVerdict } from "../sentences/shop.ts";
import type { PageContent } from "../shell/document.tsx";
import { count, day, dollars, plainWords, text } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import type { PageVisit, Redirect } from "../shell/pages.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import { valueName } from "./filter-words.ts";
import { photoHostsOf, photoSources } from "./photos.ts";

/** The most cars beside each other, which is also the most that a browser keeps. */
const keptMax = 12;

interface KeptCar {
  readonly listing: AnswerOf<"getListing">["data"];
  /** The listing that replaced this one, which ended without a sale. */
  readonly supersededBy: string | undefined;
  /** What searches know, such as the equipment; of a listing in no search, what its details say. */
  readonly car: CardListing;
}

/** Returns the address that shows some cars beside each other. */
const keptPath = (ids: readonly string[]): string =>
  ids.length === 0 ? "/shop" : `/shop?ids=${ids.join()}&view=table`;

/** The page of the cars in `ids`; `add` adds one by its VIN, its id or its address. */
export async function keptPage(
  { query, requests }: PageVisit,
  photos: PhotoMode,
  asOf: string,
): Promise<PageContent | Redirect> {
  const given = query.getAll("ids").join().toLowerCase().split(",");
  const words = (query.get("add") ?? "").trim();
  const added = words === "" ? undefined : await addedId(requests, words);
  const ids = [...new Set([...given.map((id) => id.trim()), added ?? ""])].filter((id) => id !== "");
  if (ids.length === 0 && words === "") return { location: "/shop" };
  const isTooLong = ids.length > keptMax;
  const cars = isTooLong ? [] : await loadCars(requests, ids);
  const judgement = keptVerdict(cars.map(({ car }) => ({ ...car, name: carName(car) })));
  const kicker = (
    <Kicker
      above={[
        ["/", "Home"],
        ["/shop", "Shop"],
      ]}
      here="Kept cars"
    />
  );
  return {
    title: "Kept cars",
    door: "shop",
    imageHosts: photoHostsOf(photos),
    ...(words === "" && query.getAll("ids").length < 2 ? {} : { address: keptPath(ids) }),
    faults: isTooLong ? [`The address names ${ids.length} cars: expected at most ${keptMax}.`] : [],
    status: !isTooLong && ids.length > 0 && cars.length === 0 ? 404 : 200,
    top: <Verdict kicker={kicker} judgement={judgement} />,
    body: (
      <>
        {words !== "" && added === undefined ? (
          <Note>
            {`“${words}” is neither the VIN of a car nor the id of one. `}
            <a href={`/find?${new URLSearchParams({ q: words })}`}>Find it by its words</a>, and keep it.
          </Note>
        ) : null}
        {cars.length === 0 ? null : <Comparison cars={cars} photos={photos} asOf={asOf} />}
        <form class="line" action="/shop" method="get">
          <input type="hidden" name="ids" value={isTooLong ? "" : ids.join()} />
          <input type="hidden" name="view" value="table" />
          <Field label="Against" name="add" placeholder="Another car's VIN" required />
          <Button>Compare</Button>
        </form>
      </>
    ),
  };
}

/** Returns the id of the listing that words name by its id, its address or its VIN; undefined if they name none. */
async function addedId(requests: PageRequests, words: string): Promise<string | undefined> {
  const [id] = /\b[0-9a-f]{32}\b/i.exec(words) ?? [];
  if (id !== undefined) return id.toLowerCase();
  if (!/^[a-hj-npr-z0-9]{17}$/i.test(words)) return undefined;
  const found = await requests.loadPart("car to add", () => requests.call("getVin", {}, { vin: words.toUpperCase() }));
  return found?.data.latest_listing?.id;
}

/** Returns the listings with some ids, in their order. Those that do not exist are parts that the page misses. */
async function loadCars(requests: PageRequests, ids: readonly string[]): Promise<readonly KeptCar[]> {
  const answers = await Promise.all(
    ids.map((id) => requests.loadPart(`car ${id}`, () => requests.call("getListing", {}, { listing_id: id }))),
  );
  const listings = answers.filter((answer) => answer !== undefined);
  const searches = (["active", "sold"] as const).map(async (inventory_status) => {
    const vins = listings.filter(({ data }) => data.status === inventory_status).map(({ data }) => data.vin);
    if (vins.length === 0) return [];
    const query = { inventory_status, vin_pattern: [...new Set(vins)].join(), fields: cardFields.join(), limit: "100" };
    return (await requests.loadPart("equipment and days", () => requests.call("searchListings", query)))?.data ?? [];
  });
  const found = new Map((await Promise.all(searches)).flat().map((car) => [car.id, car]));
  return listings.map(({ data, meta }) => ({
    listing: data,
    supersededBy: meta.superseded_by,
    car: found.get(data.id) ?? {
      ...data.vehicle.build,
      id: data.id,
      vin: data.vin,
      price: data.price,
      miles: data.miles,
    },
  }));
}

interface ComparedRow {
  readonly title: string;
  readonly cell: (kept: KeptCar) => ComponentChildren;
  /** A number of which the lowest is marked, by this word. */
  readonly best?: readonly [word: string, (kept: KeptCar) => number | null | undefined];
}

const rows: readonly ComparedRow[] = [
  {
    title: "Price",
    cell: ({ listing }) => <b>{dollars(listing.price)}</b>,
    best: ["lowest", ({ listing }) => listing.price],
  },
  { title: "Price judged", cell: ({ car }) => <PriceBadge car={car} /> },
  { title: "Beside similar cars", cell: ({ car, listing }) => (listing.status === "active" ? cardSentence(car) : "–") },
  {
    title: "We expect 8 of 10 such cars from",
    cell: ({ listing: { market_value_low: low, market_value_high: high } }) =>
      low === null || high === null ? "–" : `${dollars(low)} to ${dollars(high)}`,
  },
  {
    title: "Year",
    cell: ({ car }) => text(car.year),
    best: ["newest", ({ car }) => (car.year == null ? null : -car.year)],
  },
  { title: "Miles", cell: ({ listing }) => count(listing.miles), best: ["lowest", ({ listing }) => listing.miles] },
  { title: "Condition", cell: ({ listing }) => valueName("inventory_type", text(listing.inventory_type)) },
  { title: "History", cell: ({ car }) => historyParts(car.keywords).join(" · ") },
  { title: "Days on the lot", cell: ({ car }) => count(car.days_on_market) },
  { title: "First price", cell: ({ listing }) => dollars(listing.price_at_listing) },
  { title: "Cuts", cell: ({ listing }) => count(listing.price_drops) },
  {
    title: "Dealer",
    cell: ({ listing: { dealer } }) => <a href={`/dealers/${dealer.dealer_id}`}>{dealer.name}</a>,
  },
  { title: "Place", cell: ({ listing: { dealer } }) => text(plainWords(dealer.city, dealer.state)) },
];

/** Returns the rows of the facts that the pages of cars have. */
function factRows(cars: readonly KeptCar[], asOf: string): readonly ComparedRow[] {
  const facts = new Map(cars.map((kept) => [kept, new Map(factsOf({ listing: kept.listing, own: kept.car, asOf }))]));
  const titles = new Set([...facts.values()].flatMap((one) => [...one.keys()]).filter((title) => title !== "Miles"));
  return [...titles].map((title) => ({ title, cell: (kept) => facts.get(kept)?.get(title) ?? "–" }));
}

/** Returns the row of the equipment that not all cars have. */
function equipmentRow(cars: readonly KeptCar[]): ComparedRow {
  const known = cars.flatMap(({ car }) => (car.features == null ? [] : [car.features]));
  const isCommon = (feature: string): boolean => known.every((features) => features.includes(feature));
  return {
    title: "Equipment that others lack",
    cell: ({ car: { features } }) => {
      if (features == null) return "unknown";
      const own = features.filter((feature) => !isCommon(feature)).map((feature) => valueName("features", feature));
      return text(own.sort().join(", "));
    },
  };
}

interface ComparisonProps {
  readonly cars: readonly KeptCar[];
  readonly photos: PhotoMode;
  readonly asOf: string;
}

const Comparison = ({ cars, photos, asOf }: ComparisonProps): JSX.Element => {
  const columns: readonly TableColumn<ComparedRow>[] = [
    { title: "", cell: ({ title }) => title },
    ...cars.map((kept) => ({
      title: <CarHead kept={kept} cars={cars} photos={photos} />,
      cell: (row: ComparedRow) => (
        <>
          {row.cell(kept)}
          {isBest(row, kept, cars) ? [" ", <Badge look="gold">{row.best?.[0]}</Badge>] : null}
        </>
      ),
    })),
  ];
  const all = [...rows, ...factRows(cars, asOf), equipmentRow(cars)];
  return (
    <Sheet title="Side by side" of="The address holds the cars: share it, or keep it.">
      <div class="kept-table">
        <DataTable
          label="Kept cars"
          columns={columns}
          rows={all.filter(({ cell }) => cars.some((kept) => cell(kept) !== "–"))}
        />
      </div>
    </Sheet>
  );
};

/** Whether a car that can be bought has the best number of a row, which not all of them have. */
function isBest({ best }: ComparedRow, kept: KeptCar, cars: readonly KeptCar[]): boolean {
  if (best === undefined || !isForSale(kept)) return false;
  const [, numberOf] = best;
  const numbers = cars.filter(isForSale).map((car) => numberOf(car) ?? Number.NaN);
  const lowest = Math.min(...numbers);
  return numberOf(kept) === lowest && numbers.some((number) => number !== lowest);
}

const isForSale = ({ listing, supersededBy }: KeptCar): boolean =>
  listing.vehicle.status === "active" && listing.status === "active" && supersededBy === undefined;

const CarHead = ({ kept, cars, photos }: Omit<ComparisonProps, "asOf"> & { readonly kept: KeptCar }): JSX.Element => {
  const { car, listing, supersededBy } = kept;
  const others = cars.map((other) => other.listing.id).filter((id) => id !== listing.id);
  const isMissing = listing.status !== "sold" && listing.vehicle.status === "missing";
  return (
    <span class="head-car">
      <Stage car={car} photo={photoSources(listing.photo_urls, photos)[0]} />
      <a href={`/listings/${listing.id}`}>{carName(car)}</a>
      <span class="mute">{text(car.trim)}</span>
      {supersededBy === undefined ? null : (
        <a href={keptPath([...others, supersededBy])}>This listing ended: show its successor</a>
      )}
      {listing.status === "sold" ? <Badge>{`Sold ${day(listing.sold_date)}`}</Badge> : null}
      {isMissing ? <Badge look="high">Missing from its feed</Badge> : null}
      <a class="remove" href={keptPath(others)} data-drop={listing.id} aria-label={`Remove ${carName(car)}`}>
        Remove
      </a>
    </span>
  );
};
