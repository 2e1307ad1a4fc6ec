/** Comparable prices: a histogram with the listing's price, and the quartiles as a table. */
import type { JSX } from "preact";
import { count, dollars, text } from "../shell/format.ts";
import { type Comparables, standingOf } from "./comparables.ts";
import type { CountedRange } from "./facets.ts";
import { viewPath } from "./view.ts";

interface ComparablePricesProps {
  readonly price: number | null;
  readonly comparables: Comparables;
}

export const ComparablePrices = ({ price, comparables }: ComparablePricesProps): JSX.Element => {
  const { filters, total, quartiles, ranges } = comparables;
  const standing = standingOf(price, quartiles);
  return (
    <section>
      <h2>Comparable prices</h2>
      <p>
        {standing === undefined ? null : `${dollars(price)} is ${standing} of `}
        <a href={viewPath(filters)}>{`${count(total)} ${words(filters)} for sale`}</a>
        {standing === undefined ? ": too few to compare, or without prices." : "."}
      </p>
      <PriceBars price={price} ranges={ranges} />
      <dl class="figures">
        {["Lowest quarter up to", "Median", "Highest quarter from"].map((name, index) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{dollars(quartiles[index])}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
};

const words = ({ inventory_type, year, make, model }: Comparables["filters"]): string =>
  [inventory_type, year, make, model].filter((part) => part !== undefined).join(" ");

const [barWidth, gap, height] = [12, 2, 72];

/** The bars of the prices. The one with the listing's price is emphasized. */
const PriceBars = ({ price, ranges }: { readonly price: number | null; readonly ranges: readonly CountedRange[] }) => {
  const most = Math.max(1, ...ranges.map((range) => range.count));
  const holds = ({ min, max }: CountedRange): boolean => price !== null && price >= min && price < max;
  const held = ranges.find(holds);
  if (ranges.length === 0) return null;
  return (
    <svg
      class="histogram prices"
      viewBox={`0 0 ${ranges.length * barWidth} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Prices from ${dollars(ranges[0]?.min)} to ${dollars(ranges.at(-1)?.max)}; this one is ${text(held && `from ${dollars(held.min)} to ${dollars(held.max - 1)}`)}`}
    >
      {ranges.map((range, index) => {
        const size = (range.count / most) * height;
        return (
          <rect
            key={range.min}
            class={holds(range) ? "within" : "outside"}
            x={index * barWidth}
            y={height - size}
            width={barWidth - gap}
            height={size}
          >
            <title>{`${dollars(range.min)} to ${dollars(range.max - 1)}: ${count(range.count)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
};
