/** The price of a listing over its days against the median of such cars, the changes as a table, and the price on a past day. */
import type { JSX } from "preact";
import { prices } from "../../../accounts/policy/prices.ts";
import { isDay } from "../../../base/day.ts";
import { ChartFigure } from "../../charts/chart-figure.tsx";
import { type PriceOfDay, PriceSteps } from "../../charts/price-steps.tsx";
import { count, day, dollars, usd } from "../../shell/format.ts";
import { viewPath } from "../../shop/view.ts";
import { type ListingDetail, type SuchCars, suchWords } from "./market.ts";

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
  const first = steps[0]?.day ?? asOf;
  const last = steps.at(-1)?.day ?? asOf;
  const today = last === asOf && such !== undefined ? [{ day: asOf, value: such.price }] : [];
  const others = medians?.filter((median) => median.day >= first && median.day <= last) ?? today;
  return (
    <section class="sheet pad history">
      <ChartFigure
        id="price-history"
        title="Price history"
        empty="No history: this car has been seen on one day."
        note={<Note such={such} medians={medians} mediansPath={mediansPath} />}
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

/** Returns the changes of a price in their order, and the price before them. */
function changesOf({ price_history, price }: ListingDetail) {
  const changes = [...price_history].sort((one, other) => (one.changed_at < other.changed_at ? -1 : 1));
  const [first] = changes;
  return { changes, firstPrice: first === undefined ? price : first.price_before };
}

function priceOn(listing: ListingDetail, date: string): number | null {
  const next = changesOf(listing).changes.find((change) => change.date > date);
  return next === undefined ? listing.price : next.price_before;
}

/** Returns the rows of the table: the first price, and each change. */
function tableOf(listing: ListingDetail, first: string) {
  const { changes, firstPrice } = changesOf(listing);
  return [
    [first, firstPrice, null, changes.length === 0 ? listing.miles : null],
    ...changes.map(({ date, price: after, price_before: before, miles }) => [
      ...[date, after, after === null || before === null ? null : after - before, miles],
    ]),
  ];
}

/** Returns the prices from the first observation to the last one, or to the sale. */
function pricesOf(listing: ListingDetail): readonly PriceOfDay[] {
  const { inventory_date: first, last_checked_at: last, sold_date: sold, price } = listing;
  const { changes, firstPrice } = changesOf(listing);
  const start = { date: first ?? changes[0]?.date ?? last, price: firstPrice };
  const end = { date: sold ?? last, price: price ?? changes.at(-1)?.price ?? null };
  return [start, ...changes, end].map(({ date, price: value }) => ({ day: date.slice(0, 10), value }));
}
