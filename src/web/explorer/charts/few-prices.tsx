/** The prices of a search with few listings: a dot for each, and no median, which needs 10. */
import type { JSX } from "preact";
import { percentText, roundAxis } from "../../charts/axis.ts";
import { ChartFigure } from "../../charts/chart-figure.tsx";
import { PlotArea, ValueText } from "../../charts/plot-area.tsx";
import { count, dollars, shortDollars } from "../../shell/format.ts";
import { nameOf } from "../listing-fields.tsx";
import { listingPath, type ViewParameters } from "../view.ts";
import type { ListingSample } from "./vin-sample.ts";

/** Fewer listings than these are drawn one by one. */
export const manyMin = 10;

interface FewPricesProps {
  readonly view: ViewParameters;
  readonly listings: ListingSample["listings"];
}

export const FewPrices = ({ view, listings }: FewPricesProps): JSX.Element => {
  const priced = listings
    .flatMap(({ id, price, ...listing }) =>
      typeof price === "number"
        ? [{ text: nameOf({ id, price, ...listing }), path: listingPath(id, view), price }]
        : [],
    )
    .sort((one, other) => one.price - other.price);
  const unpriced = listings.length - priced.length;
  return (
    <ChartFigure
      id="prices"
      title="Prices"
      note={`${count(listings.length)} listings: under ${manyMin}, each is a dot, and no median is shown. ${unpriced === 0 ? "" : `${unpriced} without a price. `}Remove a filter to widen the search.`}
      isWide
      isOpen
      numbers={{
        columns: [
          { name: "listing", title: "Listing" },
          { name: "price", title: "Price", format: dollars },
        ],
        rows: priced.map(({ price, ...cell }) => [cell, price]),
      }}
    >
      <PriceDots priced={priced} />
    </ChartFigure>
  );
};

interface PriceDotsProps {
  readonly priced: readonly { readonly text: string; readonly path: string; readonly price: number }[];
}

/** The dots on one line; each is a link to its listing. */
const PriceDots = ({ priced }: PriceDotsProps): JSX.Element => {
  const prices = priced.map(({ price }) => price);
  const x = roundAxis([Math.min(...prices), Math.max(...prices)], shortDollars, 4);
  const y = { at: () => 50, ticks: [] };
  return (
    <PlotArea label="A dot for each price in US dollars" x={x} y={y} height={40} interaction={{}}>
      {priced.map(({ text, path, price }) => (
        <a class="slot" key={path} href={path} aria-label={`${text}: ${dollars(price)}`}>
          <circle class="mark" cx={percentText(x.at(price))} cy="50%" r="6" />
          <ValueText text={`${text}: ${dollars(price)}`} at={[x.at(price), 65]} />
        </a>
      ))}
    </PlotArea>
  );
};
