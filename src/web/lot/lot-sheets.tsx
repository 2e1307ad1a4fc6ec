/** The sheets of a lot: price against age of the dealers around, the cars by age, those to decide on, and the rank. */
import type { JSX } from "preact";
import { Chart } from "../charts/chart.tsx";
import type { Mark } from "../charts/marks.tsx";
import { bandScale, numberScale } from "../charts/scale.ts";
import { carName } from "../components/card.tsx";
import { Figure } from "../components/figure.tsx";
import { sortingOf } from "../components/numbers.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import {
  agingNote,
  agingTitle,
  priceAgeNote,
  priceAgeTitle,
  rankedCarsMin,
  rankTitle,
  suggestionOf,
  toMarketText,
} from "../sentences/lot.ts";
import { things } from "../sentences/words.ts";
import { amountOf, count, dollars } from "../shell/format.ts";
import { type AgeBucket, type AgedCar, type Lot, type LotChoice, rowsPath } from "./lot-data.ts";
import type { RankedDealer } from "./lot-dealers.ts";

/** Charts of fewer dealers are sentences. */
const chartMin = 10;

export interface LotProps {
  readonly lot: Lot;
  readonly query: URLSearchParams;
}

export const lotPath = ({ dealer }: LotChoice): string => `/dealers/${dealer.dealer_id}`;

/** Returns the address of a page of a lot with some parameters changed; undefined removes one. */
export function changedPath(
  choice: LotChoice,
  query: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) changed.delete(name);
    else changed.set(name, value);
  }
  return changed.size === 0 ? lotPath(choice) : `${lotPath(choice)}?${changed}`;
}

/** Returns the page of another dealer, with the same choices. */
const dealerPath = ({ condition, radius }: LotChoice, { id }: RankedDealer): string =>
  `/dealers/${id}?${new URLSearchParams({ condition, radius: String(radius) })}`;

/** The radius of the largest circle, and of the smallest one, in pixels. */
const circleMax = 17;
const circleMin = 5.6;

const marketTick = (share: number): string =>
  share === 0 ? "market" : `${share < 0 ? "−" : "+"}${Math.round(Math.abs(share) * 1000) / 10}\u00a0%`;

const daysText = (days: number): string => String(Math.round(days * 10) / 10);

/** The dealers around by price and age: lower left is cheap and fresh. */
export const PriceAgeFigure = ({ lot: { choice, ranked, said }, query }: LotProps): JSX.Element => {
  const { dealer, condition, radius, isOwn } = choice;
  const title = priceAgeTitle(said);
  const largest = Math.max(1, ...ranked.map(({ cars }) => cars));
  const isSubject = ({ id }: RankedDealer): boolean => id === dealer.dealer_id;
  const bySize = [...ranked].sort((one, other) => other.cars - one.cars);
  const named = ranked.findLast((one) => !isSubject(one));
  const marks = bySize.map((one): Mark => {
    const { name, cars, toMarket, days } = one;
    const title = `${name}: ${toMarketText(toMarket)}, ${daysText(days)} days, ${amountOf(cars, "car")}`;
    const dot = { x: toMarket, y: days, r: Math.max(circleMin, circleMax * Math.sqrt(cars / largest)), title } as const;
    if (isSubject(one))
      return { ...dot, mark: "dot", look: "bubble", color: "coral", name: isOwn ? "you" : shortName(name) };
    const words = one === named ? { name: shortName(name) } : {};
    return { ...dot, ...words, mark: "dot", look: "bubble", color: "petrol", href: dealerPath(choice, one) };
  });
  return (
    <Figure
      id="price-age"
      title={title}
      of={priceAgeNote(ranked.length, radius, condition)}
      numbers={{
        columns: [
          { name: "dealer", title: "Dealer" },
          { name: "to_market", title: "To market", format: toMarketText },
          { name: "days", title: "Days", format: daysText },
          { name: "cars", title: "Cars", format: count },
        ],
        rows: ranked.map((one) => [
          { text: one.name, path: dealerPath(choice, one) },
          one.toMarket,
          one.days,
          one.cars,
        ]),
        sorting: sortingOf("price-age", lotPath(choice), query),
      }}
    >
      {ranked.length < chartMin ? (
        <p>{`${things(ranked.length, "dealer")} with ${rankedCarsMin} rated ${condition} cars or more within ${radius} miles: too few for a chart. The table ranks them.`}</p>
      ) : (
        <Chart
          label={`${title}: ${ranked.length} dealers by price to market and typical days on the lot`}
          height={270}
          x={numberScale([0, ...ranked.map(({ toMarket }) => toMarket)], {
            format: marketTick,
            label: "price to market",
          })}
          y={numberScale(
            ranked.map(({ days }) => days),
            { format: daysText, label: "typical days on the lot" },
          )}
          marks={[{ mark: "rule", x: 0, color: "field", isDashed: true }, ...marks]}
        />
      )}
    </Figure>
  );
};

/** Returns the first words of a name that fit beside a circle. */
function shortName(name: string): string {
  const [first = "", second = ""] = name.split(" ");
  return first.length + second.length < 10 ? `${first} ${second}`.trim() : first;
}

/** The cars by days on the lot, with their money. Each bar is a link to its cars. */
export const AgingFigure = ({ lot: { choice, aging, said }, query }: LotProps): JSX.Element => {
  const title = agingTitle(said);
  const isOld = (index: number): boolean => index === aging.length - 1 && (aging[index]?.cars ?? 0) > 0;
  const pathOf = ({ filters }: AgeBucket): string => rowsPath(choice, { ...filters, sort: "-days_on_market" });
  return (
    <Figure
      id="aging"
      title={title}
      of={agingNote(said)}
      numbers={{
        columns: [
          { name: "days", title: "Days on the lot" },
          { name: "cars", title: "Cars", format: count },
          { name: "money", title: "Money", format: dollars },
        ],
        rows: aging.map((bucket) => [{ text: bucket.text, path: pathOf(bucket) }, bucket.cars, bucket.money]),
        sorting: sortingOf("aging", lotPath(choice), query),
      }}
    >
      {said.cars < chartMin ? (
        <p>{aging.map(({ text, cars }) => `${text} days: ${amountOf(cars, "car")}`).join("; ")}.</p>
      ) : (
        <Chart
          label={`${title}: cars by days on the lot`}
          height={220}
          x={bandScale(
            aging.map(({ text, money }, index) => ({ text, below: dollars(money), isSubject: isOld(index) })),
          )}
          y={numberScale(
            aging.map(({ cars }) => cars),
            { format: count, isFromZero: true },
          )}
          marks={aging.map(
            (bucket, index): Mark => ({
              mark: "bar",
              x: index,
              y: bucket.cars,
              above: count(bucket.cars),
              color: isOld(index) ? "coral" : "petrol2",
              href: pathOf(bucket),
              title: `${bucket.text} days: ${amountOf(bucket.cars, "car")}, ${dollars(bucket.money)}`,
            }),
          )}
        />
      )}
    </Figure>
  );
};

/** The cars to decide on, the oldest first, each with a suggestion. */
export const DecideSheet = ({ lot: { choice, cars, carSort, said }, query }: LotProps): JSX.Element => (
  <Sheet
    id="decide"
    title="Decide on these first"
    of={`${carSort === "-days_on_market" ? "Oldest first. " : ""}Price to market is the price against similar cars.`}
    end={<a href={rowsPath(choice, { sort: "-days_on_market" })}>All {count(said.cars)}</a>}
  >
    <DataTable
      label="Cars to decide on"
      rows={cars}
      hasPictures
      empty="No car is for sale."
      sorting={{ current: carSort, pathOf: (sort) => `${changedPath(choice, query, { sort })}#decide` }}
      columns={[
        { title: "", cell: (car) => <CarDrawing car={car} look="mini" /> },
        {
          title: "Car",
          cell: (car) => (
            <>
              <a href={`/listings/${car.id}`}>{carName(car)}</a> <small>{car.trim}</small>
            </>
          ),
        },
        { title: "Days", sort: "days_on_market", isNumber: true, cell: (car) => <b>{count(car.days_on_market)}</b> },
        { title: "Price", sort: "price", isNumber: true, cell: (car) => dollars(car.price) },
        { title: "To market", sort: "value", isNumber: true, cell: (car) => toMarketText(car.price_to_value) || "–" },
        { title: "Cuts", isNumber: true, cell: (car) => count(car.price_drops) },
        {
          title: "Suggestion",
          cell: (car: AgedCar) => <span class="nb">{suggestionOf({ ...car, price: car.price })}</span>,
        },
      ]}
    />
  </Sheet>
);

/** The dealers that are shown without the link to all. */
const rowsMin = 7;

const rankOrders: ReadonlyMap<string, (dealer: RankedDealer) => number | null> = new Map([
  ["away", ({ miles = null }: RankedDealer) => miles],
  ["cars", ({ cars }: RankedDealer) => cars],
  ["market", ({ toMarket }: RankedDealer) => toMarket],
  ["days", ({ days }: RankedDealer) => days],
]);

/** Returns dealers in an order of the address; unknown distances are last. */
function inOrder(dealers: readonly RankedDealer[], order: string): readonly RankedDealer[] {
  const orderBy = rankOrders.get(order.replace(/^-/, ""));
  const sign = order.startsWith("-") ? -1 : 1;
  const keyOf = (dealer: RankedDealer): number => orderBy?.(dealer) ?? sign * Number.MAX_VALUE;
  return orderBy === undefined ? dealers : [...dealers].sort((one, other) => sign * (keyOf(one) - keyOf(other)));
}

/** The rank of the dealer by price among those around; its row is gold. */
export const RankSheet = ({ lot: { choice, ranked }, query }: LotProps): JSX.Element => {
  const { dealer, isOwn, condition } = choice;
  const places = new Map(ranked.map((one, index) => [one.id, index + 1]));
  const order = query.get("rank") ?? "market";
  const sorted = inOrder(ranked, order);
  const isAll = query.has("all") || ranked.length <= rowsMin + 1;
  const isSubject = ({ id }: RankedDealer): boolean => id === dealer.dealer_id;
  const rows = isAll ? sorted : sorted.filter((one, index) => index < rowsMin || isSubject(one));
  return (
    <Sheet
      id="rank"
      title={rankTitle(isOwn)}
      of={`Median of price against similar cars, ${condition}.`}
      tools={
        <>
          {isAll ? null : (
            <a href={`${changedPath(choice, query, { all: "" })}#rank`}>{`All ${count(ranked.length)}`}</a>
          )}
          {dealer.postal_code === null ? null : (
            <a href={`/dealers?${new URLSearchParams({ q: dealer.postal_code, radius: String(choice.radius) })}`}>
              All dealers around
            </a>
          )}
        </>
      }
    >
      <DataTable
        label="Dealers by price"
        rows={rows}
        isMine={isSubject}
        empty={`No dealer around has ${rankedCarsMin} rated ${condition} cars.`}
        sorting={{ current: order, pathOf: (rank) => `${changedPath(choice, query, { rank })}#rank` }}
        columns={[
          { title: "#", cell: ({ id }) => places.get(id) },
          {
            title: "Dealer",
            cell: (one) => (isSubject(one) ? <b>{one.name}</b> : <a href={dealerPath(choice, one)}>{one.name}</a>),
          },
          {
            title: "Away",
            sort: "away",
            isNumber: true,
            cell: ({ miles }) => (miles == null ? "–" : `${Math.round(miles)}\u00a0mi`),
          },
          {
            title: "Cars",
            sort: "cars",
            isNumber: true,
            cell: ({ id, cars }) => <a href={rowsPath(choice, { dealer_id: id })}>{count(cars)}</a>,
          },
          { title: "To market", sort: "market", isNumber: true, cell: ({ toMarket }) => toMarketText(toMarket) },
          { title: "Days", sort: "days", isNumber: true, cell: ({ days }) => daysText(days) },
        ]}
      />
    </Sheet>
  );
};
