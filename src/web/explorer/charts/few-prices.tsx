/** The prices of a search with few listings: a dot for each, and no median, which needs 10. */
import type { JSX } from "preact";
import { percentText, roundAxis } from "../../charts/axis.ts";
import { ChartFigure } from "../../charts/chart-figure.tsx";
import { PlotArea, ValueText } from "../../charts/plot-area.tsx";
import { count, dollars, shortPrice } from "../../shell/format.ts";
import { nameOf } from "../../shop/columns.tsx";
import { listingPath, type ViewParameters } from "../../shop/view.ts";
import type { ListingSample } from "./vin-sample.ts";

/** Fewer listings than these are drawn one by one. */
export const manyMin = 10;

interface FewPricesProps {
  readonly view: ViewParameters;
  readonly listings: ListingSample["listings"];
}

export const FewPrices = ({ view, listings }: FewPricesProps): JSX.Element => {
  const priced = listings
    .flatMap(({ price, ...listing }) =>
      typeof price === "number" ? [{ text: nameOf(listing), path: listingPath(listing.id, view), price }] : [],
    )
    .sort((one, other) => one.price - other.price);
  const unpriced = listings.length - priced.length;
  const x = roundAxis([priced[0]?.price ?? 0, priced.at(-1)?.price ?? 0], shortPrice, 4);
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
      <PlotArea
        label="A dot for each price in US dollars"
        x={x}
        y={{ at: () => 50, ticks: [] }}
        height={40}
        interaction={{}}
      >
        {priced.map(({ text, path, price }) => (
          <a class="slot" key={path} href={path} aria-label={`${text}: ${dollars(price)}`}>
            <circle class="mark" cx={percentText(x.at(price))} cy="50%" r="6" />
            <ValueText text={`${text}: ${dollars(price)}`} at={[x.at(price), 65]} />
          </a>
        ))}
      </PlotArea>
    </ChartFigure>
  );
};
