/** Comparable prices: a histogram with the listing's price, and the quartiles as a table. */
import type { JSX } from "preact";
import { HistogramPlot } from "../../charts/histogram-plot.tsx";
import { count, dollars, shortDollars } from "../../shell/format.ts";
import { viewPath } from "../view.ts";
import { type Comparables, standingOf } from "./comparables.ts";

interface ComparablePricesProps {
  readonly price: number | null;
  readonly comparables: Comparables;
}

export const ComparablePrices = ({ price, comparables }: ComparablePricesProps): JSX.Element => {
  const { filters, total, quartiles, ranges, interval } = comparables;
  const standing = standingOf(price, quartiles);
  return (
    <section>
      <h2>Comparable prices</h2>
      <p>
        {standing === undefined ? null : `${dollars(price)} is ${standing} of `}
        <a href={viewPath(filters)}>{`${count(total)} ${words(filters)} for sale`}</a>
        {standing === undefined ? ": too few to compare, or without prices." : "."}
      </p>
      {standing === undefined ? null : (
        <HistogramPlot
          title={`Comparable prices; this one is ${dollars(price)}`}
          histograms={[{ name: "", buckets: ranges, interval }]}
          format={dollars}
          tickFormat={shortDollars}
          marked={price}
        />
      )}
      {standing === undefined ? null : <Quartiles quartiles={quartiles} />}
    </section>
  );
};

const words = ({ inventory_type, year, make, model }: Comparables["filters"]): string =>
  [inventory_type, year, make, model].filter((part) => part !== undefined).join(" ");

const Quartiles = ({ quartiles }: Pick<Comparables, "quartiles">): JSX.Element => (
  <dl class="figures">
    {["Lowest quarter up to", "Median", "Highest quarter from"].map((name, index) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{dollars(quartiles[index])}</dd>
      </div>
    ))}
  </dl>
);
