/** How dealers price against the market: their median distances from the estimates, in percent. */
import type { JSX } from "preact";
import { percentText } from "../../charts/axis.ts";
import { ChartFigure } from "../../charts/chart-figure.tsx";
import { count } from "../../shell/format.ts";
import type { MarketDealer } from "./market-dealers.ts";

/** The outermost bars, in percent; they include what lies beyond. */
const lowest = -7;
const highest = 6;
const height = 108;

export const MarketPrices = ({ dealers }: { readonly dealers: readonly MarketDealer[] }): JSX.Element => {
  const rated = dealers.flatMap(({ toValue }) => toValue ?? []);
  const bars = Array.from({ length: highest - lowest + 1 }, (_, index) => {
    const from = lowest + index;
    const isIn = (percent: number): boolean => Math.min(highest, Math.max(lowest, Math.floor(percent))) === from;
    return { from, size: rated.filter((value) => isIn(Math.round(value * 10_000) / 100)).length };
  });
  const under = rated.filter((value) => value < 0);
  const over = rated.filter((value) => value >= 0.03);
  return (
    <ChartFigure
      id="dealer-prices"
      title="Price against the market"
      empty="No dealer has 10 rated cars."
      note={`Median distance of a dealer's prices from their estimates. Of ${count(rated.length)} dealers with 10 rated cars or more, ${count(under.length)} are under the market, ${count(over.length)} over it by 3% or more.`}
      numbers={{
        columns: [
          { name: "from_percent", title: "From %", format: String },
          { name: "dealers", title: "Dealers", format: count },
        ],
        rows: rated.length === 0 ? [] : bars.map(({ from, size }) => [from, size]),
      }}
    >
      <PriceBars bars={bars} />
    </ChartFigure>
  );
};

interface PriceBarsProps {
  readonly bars: readonly { readonly from: number; readonly size: number }[];
}

const PriceBars = ({ bars }: PriceBarsProps): JSX.Element => {
  const largest = Math.max(1, ...bars.map(({ size }) => size));
  const width = 100 / bars.length;
  return (
    <svg class="price-bars" width="100%" height={height + 24} role="img" aria-label="Dealers by price">
      {bars.map(({ from, size }, index) => (
        <rect
          key={from}
          class={from < 0 ? "under" : "over"}
          x={percentText(index * width)}
          width={percentText(width * 0.94)}
          y={height * (1 - size / largest)}
          height={(height * size) / largest}
        >
          <title>{`${from}% to ${from + 1}%: ${count(size)} dealers`}</title>
        </rect>
      ))}
      <line x1="50%" x2="50%" y1="0" y2={height} />
      <text y={height + 18}>{`${-lowest}% under`}</text>
      <text x="50%" y={height + 18} text-anchor="middle">
        market
      </text>
      <text x="100%" y={height + 18} text-anchor="end">{`${highest + 1}% over`}</text>
    </svg>
  );
};
