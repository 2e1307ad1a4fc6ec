/** Kept cars beside each other: the table of cars turned, a column for each car of the address, a row for each attribute. */
import type { ComponentChildren, JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import type { PhotoMode } from "../../http/service/service-state.ts";
import { factsOf } from "../car/car-facts.tsx";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { type CardListing, cardFields, carName } from "../components/card.tsx";
import { Field } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { cellIn, DataTable, type TableColumn } from "../components/table.tsx";
import { Stage } from "../drawings/car-drawing.tsx";
import { keptVerdict } from "../sentences/shop.ts";
import type { PageContent } from "../shell/document.tsx";
import { day, text } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import type { PageVisit, Redirect } from "../shell/pages.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import { valueName } from "./filter-words.ts";
import { photoHostsOf, photoSources } from "./photos.ts";
import { carColumns } from "./results.tsx";
import { viewPath } from "./view.ts";

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
  viewPath(ids.length === 0 ? {} : { ids: ids.join(), view: "table" });

/** The page of the cars in `ids`, each by its id or its VIN. */
export async function keptPage(
  { query, requests }: PageVisit,
  photos: PhotoMode,
  asOf: string,
): Promise<PageContent | Redirect> {
  const given = query
    .getAll("ids")
    .join()
    .split(",")
    .map((word) => word.trim().toLowerCase());
  const words = [...new Set(given)].filter((word) => word !== "");
  if (words.length === 0) return { location: "/shop" };
  const isTooLong = words.length > keptMax;
  const ids = isTooLong ? [] : [...new Set(await Promise.all(words.map((word) => idOf(requests, word))))];
  const cars = await loadCars(requests, ids);
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
    address: keptPath(isTooLong ? words : ids),
    faults: isTooLong ? [`The address names ${words.length} cars: expected at most ${keptMax}.`] : [],
    status: !isTooLong && cars.length === 0 ? 404 : 200,
    top: <Verdict kicker={kicker} judgement={judgement} />,
    body: (
      <>
        {cars.length === 0 ? null : <Comparison cars={cars} photos={photos} asOf={asOf} />}
        <form class="line" action="/shop" method="get">
          <input type="hidden" name="ids" value={ids.join()} />
          <input type="hidden" name="view" value="table" />
          <Field label="Against" name="ids" placeholder="Another car's VIN" required />
          <Button>Compare</Button>
        </form>
      </>
    ),
  };
}

/** Returns the id of the newest listing of a VIN; other words unchanged. */
async function idOf(requests: PageRequests, word: string): Promise<string> {
  if (!/^[a-hj-npr-z0-9]{17}$/.test(word)) return word;
  const vin = word.toUpperCase();
  const found = await requests.loadPart(`car ${vin}`, () => requests.call("getVin", {}, { vin }));
  return found?.data.latest_listing?.id ?? word;
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
      dealer_id: data.dealer.dealer_id,
      dealer_name: data.dealer.name,
    },
  }));
}

interface ComparedRow {
  readonly title: ComponentChildren;
  readonly cell: (kept: KeptCar) => ComponentChildren;
}

/** Returns the rows of what the table of cars has as columns: the lowest price, miles and days are marked. */
const columnRows = (cars: readonly KeptCar[]): readonly ComparedRow[] =>
  carColumns({}).map((column) => ({
    title: column.title,
    cell: (kept) => (
      <>
        {cellIn(kept.car, column)}
        {isLowest(column, kept, cars) ? [" ", <Badge look="gold">lowest</Badge>] : null}
      </>
    ),
  }));

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
      cell: (row: ComparedRow) => row.cell(kept),
    })),
  ];
  return (
    <Sheet title="Side by side" of="The address holds the cars: share it, or keep it.">
      <div class="kept-table">
        <DataTable
          label="Kept cars"
          columns={columns}
          rows={[...columnRows(cars), ...factRows(cars, asOf), equipmentRow(cars)]}
        />
      </div>
    </Sheet>
  );
};

/** Whether a car that can be bought has the lowest number of a column, which not all of them have. */
function isLowest({ value }: TableColumn<CardListing>, kept: KeptCar, cars: readonly KeptCar[]): boolean {
  if (value === undefined || !isForSale(kept)) return false;
  const numbers = cars.filter(isForSale).map(({ car }) => Number(value(car) ?? Number.NaN));
  const lowest = Math.min(...numbers);
  return value(kept.car) === lowest && numbers.some((number) => number !== lowest);
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
