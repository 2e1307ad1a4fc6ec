/** The sheets of a lot: price against age of the dealers around, the cars by age, those to decide on, and the rank. */
import type { JSX } from "preact";
import { Chart } from "../charts/chart.tsx";
import type { Mark } from "../charts/marks.tsx";
import { bandScale, numberScale } from "../charts/scale.ts";
import { carName } from "../components/card.tsx";
import { Figure } from "../components/figure.tsx";
import { type Numbers, sortingOf } from "../components/numbers.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import {
  agingNote,
  agingTitle,
  priceAgeNote,
  priceAgeTitle,
  rankedCarsMin,
  suggestionOf,
  toMarketText,
} from "../sentences/lot.ts";
import { things } from "../sentences/words.ts";
import { amountOf, count, dollars } from "../shell/format.ts";
import {
  type AgeBucket,
  ageBounds,
  carsInSql,
  type Lot,
  type LotChoice,
  lotPath,
  pathOfLot,
  rowsPath,
  typesInSql,
} from "./lot-data.ts";
import { milesText, type RankedDealer, roundedDays } from "./lot-dealers.ts";

/** Charts of fewer dealers are sentences. */
const chartMin = 10;

interface LotProps {
  readonly lot: Lot;
}

/** Returns the page of another dealer, with the same choices. */
const dealerPath = ({ condition, radius }: LotChoice, { id }: RankedDealer): string =>
  `/dealers/${id}?${new URLSearchParams({ condition, radius: String(radius) })}`;

/** The columns of the dealers around. */
const dealerColumns = (choice: LotChoice): Numbers<RankedDealer>["columns"] => [
  { title: "Dealer", sort: "dealer", value: ({ name }) => name, path: (one) => dealerPath(choice, one) },
  { title: "Away", sort: "away", value: ({ miles }) => miles, format: milesText },
  {
    title: "Cars",
    sort: "cars",
    value: ({ cars }) => cars,
    format: count,
    path: ({ id }) => rowsPath(choice, { dealer_id: id }),
  },
  { title: "To market", sort: "to_market", value: ({ toMarket }) => toMarket, format: toMarketText },
  { title: "Days", sort: "days", value: ({ days }) => days, format: roundedDays },
];

/** The radius of the largest circle, and of the smallest one, in pixels. */
const circleMax = 17;
const circleMin = 5.6;

const marketTick = (share: number): string =>
  share === 0 ? "market" : `${share < 0 ? "−" : "+"}${Math.round(Math.abs(share) * 1000) / 10}\u00a0%`;

/** The dealers around by price and age: lower left is cheap and fresh. */
export const PriceAgeFigure = ({ lot: { choice, ranked, said } }: LotProps): JSX.Element => {
  const { condition, radius, query } = choice;
  const title = priceAgeTitle(said);
  const toMarket = ranked.map((one) => one.toMarket);
  const days = ranked.map((one) => one.days);
  return (
    <Figure
      id="price-age"
      title={title}
      of={ranked.length < chartMin ? undefined : priceAgeNote(ranked.length, radius, condition)}
      numbers={{
        columns: dealerColumns(choice),
        rows: ranked,
        sorting: sortingOf("price-age", pathOfLot(choice), query),
      }}
      sql={ranked.length === 0 ? undefined : statementOfDealers(choice, ranked)}
    >
      {ranked.length < chartMin ? (
        <p>{`${things(ranked.length, "dealer")} with ${rankedCarsMin} rated ${condition} cars or more within ${radius} miles: too few for a chart. The table ranks them.`}</p>
      ) : (
        <Chart
          label={`${title}: ${ranked.length} dealers by price to market and typical days on the lot`}
          height={270}
          x={numberScale([0, ...toMarket], { format: marketTick, label: "price to market" })}
          y={numberScale(days, { format: roundedDays, label: "typical days on the lot" })}
          marks={[{ mark: "rule", x: 0, color: "field" }, ...circlesOf(choice, ranked)]}
        />
      )}
    </Figure>
  );
};

/** Returns a circle for each dealer, the largest below, that of the lot above; that one and that of the dearest other dealer have names. */
function circlesOf(choice: LotChoice, ranked: readonly RankedDealer[]): readonly Mark[] {
  const { dealer, isOwn } = choice;
  const largest = Math.max(1, ...ranked.map(({ cars }) => cars));
  const isSubject = ({ id }: RankedDealer): boolean => id === dealer.dealer_id;
  const named = ranked.findLast((one) => !isSubject(one));
  return [...ranked]
    .sort((one, other) => Number(isSubject(one)) - Number(isSubject(other)) || other.cars - one.cars)
    .map((one): Mark => {
      const { name, cars, toMarket, days } = one;
      const isLot = isSubject(one);
      return {
        mark: "dot",
        x: toMarket,
        y: days,
        r: Math.max(circleMin, circleMax * Math.sqrt(cars / largest)),
        color: isLot ? "coral" : "petrol",
        opacity: isLot ? 0.85 : 0.3,
        title: `${name}: ${toMarketText(toMarket)}, ${roundedDays(days)} days, ${amountOf(cars, "car")}`,
        href: isLot ? undefined : dealerPath(choice, one),
        name: isLot && isOwn ? "you" : isLot || one === named ? shortName(name) : "",
      };
    });
}

/** Returns the statement of the medians of dealers. */
function statementOfDealers({ condition }: LotChoice, ranked: readonly RankedDealer[]): string {
  const measures = "median(price_to_value) AS to_market, median(days_on_market) AS days, count(*) AS cars";
  const ids = ranked.map(({ id }) => `'${id}'`).join(", ");
  return `SELECT dealer_name, ${measures}\nFROM active\nWHERE dealer_id IN (${ids})\n  AND inventory_type IN (${typesInSql(condition)})\nGROUP BY ALL\nORDER BY to_market`;
}

/** Returns the first words of a name that fit beside a circle. */
function shortName(name: string): string {
  const [first = "", second = ""] = name.split(" ");
  return first.length + second.length < 14 ? `${first} ${second}`.trim() : first;
}

/** The cars by days on the lot, with their money. Each bar is a link to its cars. */
export const AgingFigure = ({ lot: { choice, aging, said } }: LotProps): JSX.Element => {
  const title = agingTitle(said);
  const isOld = (bucket: AgeBucket): boolean => bucket === aging.at(-1) && bucket.cars > 0;
  const pathOf = ({ filters }: AgeBucket): string => rowsPath(choice, { ...filters, sort: "-days_on_market" });
  const bars = aging.map((bucket) => ({ text: bucket.text, below: dollars(bucket.money), isSubject: isOld(bucket) }));
  const cars = aging.map((bucket) => bucket.cars);
  return (
    <Figure
      id="aging"
      title={title}
      of={agingNote(said)}
      numbers={{
        columns: [
          { title: "Days on the lot", sort: "days", value: ({ text }) => text, path: pathOf },
          { title: "Cars", sort: "cars", value: ({ cars }) => cars, format: count },
          { title: "Money", sort: "money", value: ({ money }) => money, format: dollars },
        ],
        rows: aging,
        sorting: sortingOf("aging", pathOfLot(choice), choice.query),
      }}
      sql={statementOfAges(choice)}
    >
      {said.cars < chartMin ? (
        <p>{aging.map(({ text, cars }) => `${text} days: ${amountOf(cars, "car")}`).join("; ")}.</p>
      ) : (
        <Chart
          label={`${title}: cars by days on the lot`}
          height={220}
          x={bandScale(bars)}
          y={numberScale(cars, { format: count, isFromZero: true })}
          marks={aging.map(
            (bucket, index): Mark => ({
              mark: "bar",
              x: index,
              y: bucket.cars,
              above: count(bucket.cars),
              color: isOld(bucket) ? "coral" : "petrol2",
              href: pathOf(bucket),
              title: `${bucket.text} days: ${amountOf(bucket.cars, "car")}, ${dollars(bucket.money)}`,
            }),
          )}
        />
      )}
    </Figure>
  );
};

/** Returns the statement of the cars by age, with their money. */
function statementOfAges(choice: LotChoice): string {
  const cases = ageBounds.map(([text, , to]) =>
    to === undefined ? `ELSE '${text}'` : `WHEN days_on_market <= ${to} THEN '${text}'`,
  );
  const age = `CASE ${cases.join(" ")} END AS days`;
  return `SELECT ${age},\n  count(*) AS cars, sum(price) AS money\nFROM active\nWHERE ${carsInSql(choice)}\nGROUP BY ALL\nORDER BY min(days_on_market)`;
}

/** The cars to decide on, the oldest first, each with a suggestion. */
export const DecideSheet = ({ lot: { choice, cars, carSort, said } }: LotProps): JSX.Element => (
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
      sorting={{ current: carSort, pathOf: (sort) => lotPath(choice, { sort }, "#decide") }}
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
        { title: "Price", sort: "price", value: (car) => car.price, format: dollars },
        { title: "To market", sort: "value", value: (car) => car.price_to_value, format: toMarketText },
        { title: "Cuts", value: (car) => car.price_drops, format: count },
        { title: "Suggestion", cell: (car) => <span class="nb">{suggestionOf(car)}</span> },
      ]}
    />
  </Sheet>
);

/** The dealers that are shown without the link to all. */
const rowsMin = 7;

/** The rank of the dealer by price among those around; its row is gold. */
export const RankSheet = ({ lot: { choice, ranked } }: LotProps): JSX.Element => {
  const { dealer, isOwn, condition, query } = choice;
  const rowsMax = query.has("all") || ranked.length <= rowsMin + 1 ? undefined : rowsMin;
  return (
    <TableSheet
      id="rank"
      title={isOwn ? "Where you rank by price" : "Where it ranks by price"}
      of={`Median of price against similar cars, ${condition}.`}
      tools={rowsMax && <a href={lotPath(choice, { all: "" }, "#rank")}>{`All ${count(ranked.length)}`}</a>}
      label="Dealers by price"
      rows={ranked}
      rowsMax={rowsMax}
      isMine={({ id }) => id === dealer.dealer_id}
      empty={`No dealer around has ${rankedCarsMin} rated ${condition} cars.`}
      sorts={{ path: pathOfLot(choice), query }}
      first="to_market"
      columns={[{ title: "#", cell: (one) => ranked.indexOf(one) + 1 }, ...dealerColumns(choice)]}
    />
  );
};
