/** The price of a car among similar ones: each as a dot, within a distance that the reader chooses, and the nearest ones as a table. */
import type { JSX } from "preact";
import { nearness } from "../../valuation/rules.ts";
import { Chart } from "../charts/chart.tsx";
import type { Mark } from "../charts/marks.tsx";
import { numberScale } from "../charts/scale.ts";
import { Badge } from "../components/badge.tsx";
import { Segments } from "../components/chips.tsx";
import { Figure } from "../components/figure.tsx";
import { type Numbers, sortingOf } from "../components/numbers.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import {
  countSimilar,
  expectedWords,
  fewCarsNote,
  nearestNote,
  nearestTitle,
  similarNote,
  similarTitle,
} from "../sentences/car.ts";
import { things } from "../sentences/words.ts";
import { changedPath } from "../shell/address.ts";
import { count, dollars, plainWords, shortDay } from "../shell/format.ts";
import { pageParameters } from "../shell/page-parameters.ts";
import { sqlText } from "../shop/equivalent-sql.ts";
import { similarMax, type Valued } from "./car-data.ts";

type SimilarCar = Valued["comparables"][number];

/** The distances in miles that the page offers, besides any. The API compares within at most the last one. */
const radii = pageParameters["/listings/:listing_id"].within.map(Number);

/** Fewer cars are not drawn. */
const drawnMin = 10;

/** The similar cars that a page shows. */
export interface Similar {
  readonly valued: Valued;
  readonly cars: readonly SimilarCar[];
  /** The chosen distance in miles; undefined for any. */
  readonly radius: number | undefined;
  /** How many cars are within each distance; undefined where an answer does not say. */
  readonly counts: readonly (readonly [radius: number | undefined, cars: number | undefined])[];
  /** The distance of the nearest one; undefined unless all are known. */
  readonly nearest: number | undefined;
}

/** Returns the similar cars within the distance that an address chooses. `load` answers those within a radius if `valued` has not all of them. */
export async function similarWithin(
  valued: Valued,
  query: URLSearchParams,
  load: (radius: number) => Promise<Valued | undefined>,
): Promise<Similar> {
  const radius = query.has("within") ? Number(query.get("within")) : undefined;
  const all = valued.comparables;
  const isWhole = all.length < similarMax;
  const milesOf = ({ distance_miles: miles }: SimilarCar): number => miles ?? Number.POSITIVE_INFINITY;
  const within = (miles: number) => all.filter((car) => milesOf(car) <= miles);
  const loaded = radius === undefined || isWhole ? undefined : await load(radius);
  const cars = radius === undefined ? all : (loaded?.comparables ?? within(radius));
  const nearest = Math.min(...all.map(milesOf));
  const countIn = (miles: number) => (isWhole ? within(miles).length : miles === radius ? cars.length : undefined);
  return {
    valued,
    cars,
    radius,
    nearest: isWhole && Number.isFinite(nearest) ? nearest : undefined,
    counts: [
      ...radii.map((miles) => [miles, countIn(miles)] as const),
      [undefined, valued.summary?.sample ?? all.length],
    ],
  };
}

export interface PageAddress {
  readonly path: string;
  readonly query: URLSearchParams;
}

interface SimilarProps {
  readonly similar: Similar;
  readonly address: PageAddress;
  readonly asOf: string;
}

/** Returns how the table of the figure is sorted: it has all similar cars. */
const sortingOfAll = ({ path, query }: PageAddress) => sortingOf("similar", path, query);

export const SimilarFigure = (props: SimilarProps): JSX.Element => {
  const { similar, address, asOf } = props;
  const { valued, cars } = similar;
  const { price, model } = valued.subject;
  const prices = cars.map(({ adjusted_price }) => adjusted_price);
  const hasCars = cars.length > 0;
  const isDrawn = cars.length >= drawnMin && valued.valuation.market_value !== null;
  const years = cars.flatMap(({ year }) => year ?? []);
  return (
    <Figure
      id="similar"
      title={
        hasCars && price === null ? things(cars.length, "similar car") : similarTitle(countSimilar(price ?? 0, prices))
      }
      of={isDrawn ? similarNote({ model: model ?? "car", years }) : undefined}
      numbers={hasCars ? { rows: cars, columns: columnsOf(asOf), sorting: sortingOfAll(address) } : undefined}
      sql={sqlOf(valued)}
      controls={<Distances {...props} />}
    >
      {isDrawn ? <Dots similar={similar} /> : <p>{fewCarsNote(prices, valued.valuation)}</p>}
    </Figure>
  );
};

const Dots = ({ similar: { valued, cars } }: Pick<SimilarProps, "similar">): JSX.Element => {
  const { price } = valued.subject;
  const { market_value: value, market_value_low: low, market_value_high: high, coverage } = valued.valuation;
  const prices = cars.map(({ adjusted_price }) => adjusted_price);
  const extent = [...prices, price, value, low, high].filter((one) => one !== null);
  const marks: Mark[] = [];
  if (low !== null && high !== null)
    marks.push({ mark: "span", from: low, to: high, ...(coverage === null ? {} : { text: expectedWords(coverage) }) });
  marks.push({ mark: "stack", color: "petrol", dots: cars.map(dotOf) });
  if (value !== null) marks.push({ mark: "rule", x: value, color: "petrol", text: `similar cars ${dollars(value)}` });
  if (price !== null) marks.push(...subjectMarks(price, value ?? price, extent, prices));
  const own = price === null ? "" : `; this one costs ${dollars(price)}`;
  const label = `${things(cars.length, "similar car")} from ${dollars(Math.min(...prices))} to ${dollars(Math.max(...prices))}${own}`;
  return <Chart label={label} x={numberScale(extent, { format: dollars })} marks={marks} width={760} height={186} />;
};

/** The part of the drawing beside the subject in which dots would lie below its name. */
const crowdedShare = 0.12;

/** Returns the subject: its name stands above it, or beside a line where dots are in the way. */
function subjectMarks(
  price: number,
  value: number,
  extent: readonly number[],
  prices: readonly number[],
): readonly Mark[] {
  const reach = crowdedShare * (Math.max(...extent) - Math.min(...extent));
  const isCrowded = prices.some((other) => Math.abs(other - price) < reach);
  const dot = { mark: "dot", x: price, y: 0, r: 8, color: "coral" } as const;
  if (!isCrowded) return [{ ...dot, above: ["this car", dollars(price)] }];
  const text = `this car ${dollars(price)}`;
  return [{ mark: "rule", x: price, color: "coral", text, side: price < value ? "end" : "start" }, dot];
}

const dotOf = (car: SimilarCar) => ({
  x: car.adjusted_price,
  isOpen: car.status === "sold",
  href: `/listings/${car.listing_id}`,
  title: `${nameOf(car)}: ${dollars(car.adjusted_price)} made comparable, ${car.status === "sold" ? "sold" : "for sale"}`,
});

const Distances = ({ similar: { radius, counts, nearest }, address: { path, query } }: SimilarProps): JSX.Element => (
  <div class="line similar-within">
    <small>Similar cars within</small>
    <Segments
      label="Distance of similar cars"
      segments={counts.map(([miles, cars]) => ({
        path: `${changedPath(path, query, { within: miles?.toString() })}#similar`,
        text: `${miles === undefined ? "any" : `${miles} mi`}${cars === undefined ? "" : `: ${cars}`}`,
        isCurrent: miles === radius,
      }))}
    />
    {radius === undefined ? <small>{nearestNote(nearest, Math.min(...radii))}</small> : null}
  </div>
);

const nameOf = ({ year, trim, version, vin }: SimilarCar): string =>
  [year, trim ?? version].filter((part) => part !== null).join(" ") || vin;

/** The columns of similar cars: the first ones are those of the nearest. Their names in addresses and CSV are those of the API. */
const columnsOf = (asOf: string): Numbers<SimilarCar>["columns"] => [
  {
    title: "Car",
    sort: "car",
    value: nameOf,
    cell: (car) => (
      <>
        <a href={`/listings/${car.listing_id}`}>{nameOf(car)}</a>
        <br />
        <small>{plainWords(car.city, car.state)}</small>
      </>
    ),
  },
  { title: "Distance", sort: "distance_miles", value: (car) => car.distance_miles, format: milesText },
  { title: "Miles", sort: "miles", value: (car) => car.miles, format: count },
  { title: "Price", sort: "price", value: (car) => car.price, format: dollars },
  { title: "Made comparable", sort: "adjusted_price", value: (car) => car.adjusted_price, format: dollars },
  {
    title: "State",
    sort: "status",
    value: (car) => car.status,
    cell: ({ sold_date: sold }) =>
      sold === null ? <Badge look="petrol">for sale</Badge> : <Badge>sold {shortDay(sold, asOf)}</Badge>,
  },
  { title: "Adjustment", sort: "adjustment", value: (car) => car.adjustment, format: dollars },
  { title: "Weight", sort: "weight", value: (car) => car.weight, format: (weight) => weight.toFixed(2) },
  { title: "VIN", sort: "vin", value: (car) => car.vin },
];

const nearestColumns = 6;

const milesText = (miles: number): string => count(miles, " mi");

/** Returns the statement of cars for sale of the model, within the years of the similar cars. */
function sqlOf({ subject: { make, model, year } }: Valued): string | undefined {
  if (make === null || model === null) return undefined;
  const { yearsMax } = nearness;
  const years = year === null ? "" : `\n  AND year BETWEEN ${year - yearsMax} AND ${year + yearsMax}`;
  return `SELECT year, trim, miles, price, city, state\nFROM active\nWHERE make = ${sqlText(make)} AND model = ${sqlText(model)}${years}\nORDER BY price`;
}

/** The nearest similar cars, of which the table of the figure has all. */
const nearestRows = 6;

export const NearestCars = ({ similar: { cars }, address, asOf }: SimilarProps): JSX.Element | null =>
  cars.length === 0 ? null : (
    <TableSheet
      id="nearest"
      title={nearestTitle(Math.min(nearestRows, cars.length))}
      tools={
        <>
          {cars.length <= nearestRows ? null : (
            <a href={sortingOfAll(address).pathOf("distance_miles")}>{count(cars.length - nearestRows)} more</a>
          )}
          <a href="/docs/guides/valuation">How a price becomes comparable</a>
        </>
      }
      label="Similar cars"
      columns={columnsOf(asOf).slice(0, nearestColumns)}
      rows={cars}
      rowsMax={nearestRows}
      sorts={address}
      first="distance_miles"
    />
  );
