/** The price of a car among similar ones: each as a dot, within a distance that the reader chooses, and the nearest ones as a table. */
import type { ComponentChildren, JSX } from "preact";
import { ownValue } from "../../base/json.ts";
import { nearness } from "../../valuation/rules.ts";
import { Chart } from "../charts/chart.tsx";
import type { Mark } from "../charts/marks.tsx";
import { numberScale } from "../charts/scale.ts";
import { Badge } from "../components/badge.tsx";
import { Segments } from "../components/chips.tsx";
import { Figure } from "../components/figure.tsx";
import type { ChartTable } from "../components/numbers.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable, type TableColumn } from "../components/table.tsx";
import { countSimilar, expectedWords, nearestNote, nearestTitle, similarNote, similarTitle } from "../sentences/car.ts";
import { things } from "../sentences/words.ts";
import { count, dollars, plainWords, shortDay } from "../shell/format.ts";
import { similarMax, type Valued } from "./car-data.ts";

type SimilarCar = Valued["comparables"][number];

/** The distances in miles that the page offers, besides any. The API compares within at most the last one. */
const radii = [100, 500] as const;

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
  const radius = radii.find((miles) => String(miles) === query.get("within"));
  const isWhole = valued.comparables.length < similarMax;
  const milesOf = ({ distance_miles: miles }: SimilarCar): number => miles ?? Number.POSITIVE_INFINITY;
  const within = (miles: number) => valued.comparables.filter((car) => milesOf(car) <= miles);
  const loaded = radius === undefined || isWhole ? undefined : await load(radius);
  const cars = radius === undefined ? valued.comparables : (loaded?.comparables ?? within(radius));
  const nearest = Math.min(...valued.comparables.map(milesOf));
  return {
    valued,
    cars,
    radius,
    nearest: isWhole && Number.isFinite(nearest) ? nearest : undefined,
    counts: [
      ...radii.map(
        (miles) => [miles, isWhole ? within(miles).length : miles === radius ? cars.length : undefined] as const,
      ),
      [undefined, valued.summary?.sample ?? valued.comparables.length] as const,
    ],
  };
}

interface PageAddress {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Returns the address of the page with a parameter changed or removed. */
export function pathWith(
  { path, query }: PageAddress,
  name: string,
  value: string | undefined,
  anchor: string,
): string {
  const changed = new URLSearchParams(query);
  if (value === undefined) changed.delete(name);
  else changed.set(name, value);
  return `${path}${changed.size === 0 ? "" : `?${changed}`}#${anchor}`;
}

interface SimilarProps {
  readonly similar: Similar;
  readonly address: PageAddress;
}

export const SimilarFigure = ({ similar, address }: SimilarProps): JSX.Element => {
  const { valued, cars } = similar;
  const { subject, valuation } = valued;
  const { price, model } = subject;
  const years = cars.flatMap(({ year }) => year ?? []);
  const prices = cars.map(({ adjusted_price }) => adjusted_price);
  const isBeside = cars.length === 0 || price !== null;
  const title = isBeside ? similarTitle(countSimilar(price ?? 0, prices)) : things(cars.length, "similar car");
  return (
    <Figure
      id="similar"
      title={title}
      of={cars.length === 0 ? undefined : similarNote({ model: model ?? "car", years })}
      numbers={cars.length === 0 ? undefined : numbersOf(cars)}
      sql={sqlOf(valued)}
      controls={<Distances similar={similar} address={address} />}
    >
      {cars.length === 0 ? null : cars.length < drawnMin || valuation.market_value === null ? (
        <FewCars similar={similar} />
      ) : (
        <Dots similar={similar} />
      )}
    </Figure>
  );
};

/** What the drawing would show, in a sentence. */
const FewCars = ({ similar: { valued, cars } }: Pick<SimilarProps, "similar">): JSX.Element => {
  const prices = cars.map(({ adjusted_price }) => adjusted_price);
  const { market_value_low: low, market_value_high: high } = valued.valuation;
  const range = `Made comparable, they cost ${dollars(Math.min(...prices))} to ${dollars(Math.max(...prices))}.`;
  const expected = low === null || high === null ? "" : ` ${sentenceOfBand(valued)}`;
  return <p>{`${cars.length === 1 ? `Made comparable, it costs ${dollars(prices[0])}.` : range}${expected}`}</p>;
};

/** Returns in which range similar cars are expected: `We expect 8 of 10 such cars from $13,829 to $17,600.` */
export function sentenceOfBand({
  valuation: { market_value_low: low, market_value_high: high, coverage },
}: Valued): string {
  if (low === null || high === null || coverage === null) return "";
  return `We expect ${count(Math.round(10 * coverage))} of 10 such cars from ${dollars(low)} to ${dollars(high)}.`;
}

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
const crowdedShare = 0.06;

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

const Distances = ({ similar: { radius, counts, nearest }, address }: SimilarProps): JSX.Element => (
  <div class="line similar-within">
    <small>Similar cars within</small>
    <Segments
      label="Distance of similar cars"
      segments={counts.map(([miles, cars]) => ({
        path: pathWith(address, "within", miles === undefined ? undefined : String(miles), "similar"),
        text: `${miles === undefined ? "any" : `${miles} mi`}${cars === undefined ? "" : `: ${cars}`}`,
        isCurrent: miles === radius,
      }))}
    />
    {radius === undefined ? <small>{nearestNote(nearest, radii[0])}</small> : null}
  </div>
);

const nameOf = ({ year, trim, version, vin }: SimilarCar): string =>
  [year, trim ?? version].filter((part) => part !== null).join(" ") || vin;

/** The names of the columns in CSV are those of the API. */
function numbersOf(cars: readonly SimilarCar[]): ChartTable {
  return {
    columns: [
      { name: "car", title: "Car" },
      { name: "status", title: "State" },
      { name: "miles", title: "Miles", format: count },
      { name: "distance_miles", title: "Distance", format: (miles) => count(miles, " mi") },
      { name: "price", title: "Price", format: dollars },
      { name: "adjustment", title: "Adjustment", format: dollars },
      { name: "adjusted_price", title: "Made comparable", format: dollars },
      { name: "weight", title: "Weight", format: (weight) => weight.toFixed(2) },
      { name: "vin", title: "VIN" },
    ],
    rows: cars.map((car) => [
      { text: nameOf(car), path: `/listings/${car.listing_id}` },
      car.status,
      ...[car.miles, car.distance_miles, car.price, car.adjustment, car.adjusted_price, car.weight],
      car.vin,
    ]),
  };
}

/** Returns a text as SQL. */
export const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Returns the statement of cars for sale of the model, within the years of the similar cars. */
function sqlOf({ subject: { make, model, year } }: Valued): string | undefined {
  if (make === null || model === null) return undefined;
  const years = year === null ? "" : `\n  AND year BETWEEN ${year - yearsMax} AND ${year + yearsMax}`;
  return `SELECT year, trim, miles, price, city, state\nFROM active\nWHERE make = ${sqlText(make)} AND model = ${sqlText(model)}${years}\nORDER BY price`;
}

const yearsMax = nearness.yearsMax;

/** The rows of the table that are shown at first. */
const firstRows = 6;

/** The ways to sort the table, by the names of its columns in the address. */
const orders: Readonly<Record<string, (car: SimilarCar) => number | null>> = {
  year: ({ year }) => year,
  distance: ({ distance_miles }) => distance_miles,
  miles: ({ miles }) => miles,
  price: ({ price }) => price,
  comparable: ({ adjusted_price }) => adjusted_price,
};

/** The nearest similar cars: six, or all. */
export const NearestCars = ({ similar: { cars, valued }, address, asOf }: SimilarProps & { readonly asOf: string }) => {
  const current = address.query.get("similar") ?? "distance";
  const isWhole = address.query.get("rows") === "all";
  const nearest = sortedBy(sortedBy(cars, "distance").slice(0, isWhole ? undefined : firstRows), current);
  const more = cars.length - nearest.length;
  const tools: ComponentChildren[] = [];
  if (more > 0)
    tools.push(
      <a key="more" href={pathWith(address, "rows", "all", "nearest")}>
        {count(more)} more
      </a>,
    );
  tools.push(
    <a key="how" href="/docs/guides/valuation">
      How a price becomes comparable
    </a>,
  );
  if (valued.subject.vin !== null && address.path !== "/value")
    tools.push(
      <a key="value" href={`/value?vin=${valued.subject.vin}`}>
        Value it with other facts
      </a>,
    );
  return (
    <Sheet
      id="nearest"
      title={isWhole ? `All ${things(cars.length, "similar car")}` : nearestTitle(nearest.length)}
      tools={tools}
    >
      <DataTable
        label="Similar cars"
        columns={nearestColumns(asOf)}
        rows={nearest}
        sorting={{ current, pathOf: (sort) => pathWith(address, "similar", sort, "nearest") }}
      />
    </Sheet>
  );
};

function sortedBy(cars: readonly SimilarCar[], sort: string): readonly SimilarCar[] {
  const value = ownValue(orders, sort.replace(/^-/, ""));
  if (value === undefined) return cars;
  const sign = sort.startsWith("-") ? -1 : 1;
  return [...cars].sort((one, other) => {
    const left = value(one);
    const right = value(other);
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * (left - right);
  });
}

const nearestColumns = (asOf: string): readonly TableColumn<SimilarCar>[] => [
  {
    title: "Car",
    sort: "year",
    cell: (car) => (
      <>
        <a href={`/listings/${car.listing_id}`}>{nameOf(car)}</a>
        <br />
        <small>{plainWords(car.city, car.state)}</small>
      </>
    ),
  },
  { title: "Distance", sort: "distance", isNumber: true, cell: (car) => count(car.distance_miles, " mi") },
  { title: "Miles", sort: "miles", isNumber: true, cell: (car) => count(car.miles) },
  { title: "Price", sort: "price", isNumber: true, cell: (car) => dollars(car.price) },
  { title: "Made comparable", sort: "comparable", isNumber: true, cell: (car) => <b>{dollars(car.adjusted_price)}</b> },
  {
    title: "State",
    cell: (car) =>
      car.sold_date === null ? (
        <Badge look="petrol">for sale</Badge>
      ) : (
        <Badge>sold {shortDay(car.sold_date, asOf)}</Badge>
      ),
  },
];
