/** Where a price stands: its comparables as a strip of adjusted prices, and as a table of adjustments and weights. */
import { Fragment, type JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { ChartFiles } from "../../charts/chart-figure.tsx";
import { PriceStrip } from "../../charts/price-strip.tsx";
import { DataTable } from "../../shell/blocks.tsx";
import { amountOf, count, day, dollars } from "../../shell/format.ts";

type Valued = AnswerOf<"getListingComparables">["data"];
type Comparable = Valued["comparables"][number];

/** The rows of the table that are shown at first. */
const firstRows = 5;

/** A distance from the dealer within which comparables are shown, empty for all, and the page that shows them. */
interface Distance {
  readonly miles: string;
  readonly path: string;
  readonly isChosen: boolean;
}

interface StandingProps extends Valued {
  readonly distances: readonly Distance[];
}

export const PriceStanding = ({ subject, valuation, comparables, distances }: StandingProps): JSX.Element => {
  const { market_value: value, market_value_low: low, market_value_high: high } = valuation;
  const more = comparables.slice(firstRows);
  return (
    <section class="sheet pad">
      <figure>
        <div class="head">
          <h2>Where the price stands</h2>
          {comparables.length === 0 ? null : (
            <ChartFiles id="comparables" title="comparables" numbers={numbersOf(comparables)} />
          )}
        </div>
        <p class="sub">
          {describe(comparables, valuation.null_reason)} <a href="/docs/guides/valuation">How it is computed</a>
        </p>
        <p class="sub">
          Comparables{" "}
          {distances.map(({ miles, path, isChosen }) => (
            <Fragment key={miles}>
              <a href={path} aria-current={isChosen ? "true" : undefined}>
                {miles === "" ? "anywhere" : `within ${miles} miles`}
              </a>{" "}
            </Fragment>
          ))}
        </p>
        {comparables.length === 0 || value === null || low === null || high === null ? null : (
          <PriceStrip
            price={subject.price}
            value={value}
            low={low}
            high={high}
            dots={comparables.map((one) => ({
              price: one.adjusted_price,
              isSold: one.status === "sold",
              title: `${nameOf(one)}: ${dollars(one.adjusted_price)} adjusted, ${stateOf(one)}`,
            }))}
          />
        )}
      </figure>
      {comparables.length === 0 ? null : <ComparableTable comparables={comparables.slice(0, firstRows)} />}
      {more.length === 0 ? null : (
        <details class="more">
          <summary>{count(more.length)} more</summary>
          <ComparableTable comparables={more} />
        </details>
      )}
    </section>
  );
};

const reasons: Readonly<Record<NonNullable<Valued["valuation"]["null_reason"]>, string>> = {
  insufficient_sample: "Too few listings are like this car to value it.",
  branded_title: "Cars with a branded title are not valued.",
  unknown_attributes: "The make, model, year, miles or condition of this car is unknown, so that it has no estimate.",
  out_of_range: "The model year, miles, MSRP or value of this car is beyond those of the listings of its model.",
  not_found: "This listing is not valued.",
  no_data: "No prices are fitted to this version of the data.",
};

function describe(comparables: readonly Comparable[], reason: Valued["valuation"]["null_reason"]): string {
  if (reason !== null) return reasons[reason];
  if (comparables.length === 0) return "No listing is like this car.";
  const farthest = Math.ceil(Math.max(0, ...comparables.map(({ distance_miles: miles }) => miles ?? 0)));
  const within = farthest === 0 ? "" : ` within ${amountOf(farthest, "mile")}`;
  return `${count(comparables.length)} comparables${within}, adjusted to this car's year, miles, trim and options. Filled: for sale. Open: sold.`;
}

const nameOf = ({ year, trim, version, vin }: Comparable): string =>
  [year, trim ?? version].filter((part) => part !== null).join(" ") || vin;

const stateOf = ({ status, sold_date: sold }: Comparable): string =>
  status === "sold" ? `sold ${day(sold)}` : "for sale";

const signed = (change: number): string => `${change > 0 ? "+" : ""}${dollars(change)}`;

const ComparableTable = ({ comparables }: Pick<Valued, "comparables">): JSX.Element => (
  <DataTable
    label="Comparables"
    look="small comparables"
    columns={["Comparable", "#Miles", "#~Distance", "#Price", "#~Adjustment", "#Adjusted", "#~Weight", "~Status"]}
    rows={comparables.map((one) => [
      <a key={one.listing_id} href={`/listings/${one.listing_id}`}>
        {nameOf(one)}
      </a>,
      count(one.miles),
      count(one.distance_miles, " mi"),
      dollars(one.price),
      signed(one.adjustment),
      <b key="adjusted">{dollars(one.adjusted_price)}</b>,
      one.weight.toFixed(2),
      <span key="status" class={one.status === "sold" ? "tag" : "tag info"}>
        {stateOf(one)}
      </span>,
    ])}
  />
);

const columns = [
  ...(["listing_id", "vin", "status", "sold_date", "year", "trim", "version", "miles", "distance_miles"] as const),
  ...(["price", "adjustment", "adjusted_price", "weight", "dealer_name", "city", "state"] as const),
];

const numbersOf = (comparables: readonly Comparable[]) => ({
  columns: columns.map((name) => ({ name, title: name })),
  rows: comparables.map((one) => columns.map((name) => one[name] ?? null)),
});
