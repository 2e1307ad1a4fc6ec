/** The price of a listing over its days against the median of such cars, the changes as a table, and the price on a past day. */
import type { JSX } from "preact";
import { prices } from "../../../accounts/policy/prices.ts";
import { isDay } from "../../../base/day.ts";
import { ChartFigure } from "../../charts/chart-figure.tsx";
import { type PriceOfDay, PriceSteps } from "../../charts/price-steps.tsx";
import { count, day, dollars, usd } from "../../shell/format.ts";
import { viewPath } from "../view.ts";
import type { ListingDetail } from "./market.ts";
import { type SuchCars, suchWords } from "./market.ts";

interface PriceHistoryProps {
  readonly listing: ListingDetail;
  readonly such: SuchCars | undefined;
  /** The median of such cars by day; undefined if it has not been loaded. */
  readonly medians: readonly PriceOfDay[] | undefined;
  readonly asOf: string;
  /** The path of the page with the medians; undefined if pages are free. */
  readonly mediansPath: string | undefined;
}

export const PriceHistory = ({ listing, such, medians, asOf, mediansPath }: PriceHistoryProps): JSX.Element => {
  const steps = pricesOf(listing);
  const [first = asOf, last = asOf] = [steps[0]?.day, steps.at(-1)?.day];
  const today = last === asOf && such !== undefined ? [{ day: asOf, value: such.price }] : [];
  const others = medians?.filter((median) => median.day >= first && median.day <= last) ?? today;
  return (
    <section class="sheet pad history">
      <ChartFigure
        id="price-history"
        title="Price history"
        empty="No history: this car has been seen on one day."
        note={<Note {...{ such, medians, mediansPath }} />}
        numbers={{
          columns: [
            { name: "day", title: "Day" },
            { name: "price", title: "Price", format: dollars },
            { name: "change", title: "Change", format: dollars },
            { name: "miles", title: "Miles", format: count },
          ],
          rows: first === last ? [] : tableOf(listing, first),
        }}
      >
        <PriceSteps title="Price of this car" steps={steps} others={others} otherName="such cars" />
      </ChartFigure>
    </section>
  );
};

const Note = ({ such, medians, mediansPath }: Omit<PriceHistoryProps, "asOf" | "listing">): JSX.Element => {
  if (such === undefined) return <>This car.</>;
  const cars = <a href={viewPath(such.filters)}>{suchWords(such.filters)}</a>;
  if (medians !== undefined) return <>This car, against the median of {cars}.</>;
  return (
    <>
      This car, against today's median of {cars}.
      {mediansPath === undefined ? null : (
        <>
          {" "}
          <a href={mediansPath}>Median of each day</a> ({usd(prices.trend_series)})
        </>
      )}
    </>
  );
};

interface PastDayProps {
  readonly listing: ListingDetail;
  /** The day of the view that led here. */
  readonly date: string | undefined;
  readonly asOf: string;
}

/** Notes that a page describes the present, with the price on the past day of the view that led to it; nothing without such a day. */
export const PastDay = ({ listing, date, asOf }: PastDayProps): JSX.Element | null => {
  if (date === undefined || !isDay(date) || date >= asOf) return null;
  return (
    <p class="note">
      {`This page is as of ${day(asOf)}. On ${day(date)}, ${stateOn(listing, date)} `}
      <a href={viewPath({ snapshot_date: date })}>The market of that day</a>
    </p>
  );
};

/** Describes the state of a listing on a day: not observed yet, sold, or its price. */
function stateOn(listing: ListingDetail, date: string): string {
  const { inventory_date: first, sold_date: sold } = listing;
  if (first !== null && date < first.slice(0, 10)) return "it had not been listed.";
  if (sold !== null && date >= sold) return "it had been sold.";
  return `its price was ${dollars(priceOn(listing, date))}.`;
}

function priceOn({ price_history: changes, price }: ListingDetail, date: string): number | null {
  const [next] = changes.filter((change) => change.date > date).sort(byTime);
  return next === undefined ? price : next.price_before;
}

type PriceChange = ListingDetail["price_history"][number];

const byTime = (one: PriceChange, other: PriceChange): number => (one.changed_at < other.changed_at ? -1 : 1);

/** Returns the rows of the table: the first price, and each change. */
const tableOf = ({ price_history: changes, price, miles }: ListingDetail, first: string) => {
  const ordered = [...changes].sort(byTime);
  return [
    [first, ordered[0] === undefined ? price : ordered[0].price_before, null, ordered[0] === undefined ? miles : null],
    ...ordered.map(({ date, price: after, price_before: before, miles: at }) => [
      ...[date, after, after === null || before === null ? null : after - before, at],
    ]),
  ];
};

/** Returns the prices from the first observation to the last one, or to the sale. */
function pricesOf(listing: ListingDetail): readonly PriceOfDay[] {
  const { price_history: changes, inventory_date: first, last_checked_at: last, sold_date: sold, price } = listing;
  const ordered = [...changes].sort(byTime);
  const start = {
    date: first ?? ordered[0]?.date ?? last,
    price: ordered[0] === undefined ? price : ordered[0].price_before,
  };
  const end = { date: sold ?? last, price: price ?? ordered.at(-1)?.price ?? null };
  return [start, ...ordered, end].map(({ date, price: value }) => ({ day: date.slice(0, 10), value }));
}
