/** The price of a listing over its days: a chart of steps, the changes as a table, and the price on a past day. */
import type { JSX } from "preact";
import { isDay } from "../../../base/day.ts";
import type { AnswerOf } from "../../../contract/types.ts";
import { ChartFigure } from "../../charts/chart-figure.tsx";
import { LinePlot, type LinePoint } from "../../charts/line-plot.tsx";
import { count, day, dollars, shortDollars } from "../../shell/format.ts";
import { viewPath } from "../view.ts";

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

interface PastDayProps {
  readonly listing: Details;
  /** The day of the view that led here. */
  readonly date: string | null;
  readonly asOf: string;
}

/** Notes that a page describes the present, with the price on the past day of the view that led to it; nothing without such a day. */
export const PastDay = ({ listing, date, asOf }: PastDayProps): JSX.Element | null => {
  if (date === null || !isDay(date) || date >= asOf) return null;
  return (
    <p class="notice">
      {`This page is as of ${day(asOf)}. On ${day(date)}, ${stateOn(listing, date)} `}
      <a href={viewPath({ snapshot_date: date })}>The market of that day</a>
    </p>
  );
};

/** Describes the state of a listing on a day: not observed yet, sold, or its price. */
function stateOn(listing: Details, date: string): string {
  const { inventory_date: first, sold_date: sold } = listing;
  if (first !== null && date < first.slice(0, 10)) return "it had not been listed.";
  if (sold !== null && date >= sold) return "it had been sold.";
  return `its price was ${dollars(priceOn(listing, date))}.`;
}

function priceOn({ price_history: changes, price }: Details, date: string): number | null {
  const [next] = changes.filter((change) => change.date > date).sort(byTime);
  return next === undefined ? price : next.price_before;
}

type PriceChange = Details["price_history"][number];

const byTime = (one: PriceChange, other: PriceChange): number => (one.changed_at < other.changed_at ? -1 : 1);

/** Returns the prices from the first observation to the last one, or to the sale. */
function pricePoints(listing: Details): readonly LinePoint[] {
  const { price_history: changes, inventory_date: first, last_checked_at: last, sold_date: sold, price } = listing;
  const ordered = [...changes].sort(byTime);
  const start = { date: first ?? ordered[0]?.date ?? last.slice(0, 10), price: ordered[0]?.price_before ?? null };
  const end = { date: sold ?? last.slice(0, 10), price: price ?? ordered.at(-1)?.price ?? null };
  return [start, ...ordered, end].map(({ date, price: value }) => ({
    ...{ day: date.slice(0, 10), value, title: `${day(date)}: ${dollars(value)}` },
  }));
}
