/** The price of a listing over its days: a chart of steps, and the changes as a table. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import { ChartFigure } from "../charts/chart-figure.tsx";
import { LinePlot, type LinePoint } from "../charts/line-plot.tsx";
import { count, day, dollars, shortDollars } from "../shell/format.ts";

type Details = AnswerOf<"getListing">["data"];

export const PriceHistory = ({ listing }: { readonly listing: Details }): JSX.Element => {
  const { price_history: changes } = listing;
  if (changes.length === 0)
    return (
      <section>
        <h2>Price history</h2>
        <p class="muted">The price has not changed.</p>
      </section>
    );
  return (
    <ChartFigure
      id="price-history"
      title="Price history"
      note="US dollars, from the first to the last observation. The table has the changes."
      isOpen
      numbers={{
        columns: [
          { name: "day", title: "Day" },
          { name: "before", title: "Before", format: dollars },
          { name: "after", title: "After", format: dollars },
          { name: "change", title: "Change", format: dollars },
          { name: "miles", title: "Miles", format: count },
        ],
        rows: changes.map(({ date, price, price_before: before, miles }) => [
          ...[date, before, price, price === null || before === null ? null : price - before, miles],
        ]),
      }}
    >
      <LinePlot
        title="Price history"
        lines={[{ name: "", points: pricePoints(listing) }]}
        format={shortDollars}
        isStepped
      />
    </ChartFigure>
  );
};

/** Returns the prices from the first observation to the last one, or to the sale. */
function pricePoints(listing: Details): readonly LinePoint[] {
  const { price_history: changes, inventory_date: first, last_checked_at: last, sold_date: sold, price } = listing;
  const ordered = [...changes].sort((one, other) => (one.changed_at < other.changed_at ? -1 : 1));
  const start = { date: first ?? ordered[0]?.date ?? last.slice(0, 10), price: ordered[0]?.price_before ?? null };
  const end = { date: sold ?? last.slice(0, 10), price: price ?? ordered.at(-1)?.price ?? null };
  return [start, ...ordered, end].map(({ date, price: value }) => ({
    ...{ day: date.slice(0, 10), value, title: `${day(date)}: ${dollars(value)}` },
  }));
}
