/** The price of a car over its days, and what the page of a past day says. */
import type { JSX } from "preact";
import { isDay } from "../../base/day.ts";
import { Chart } from "../charts/chart.tsx";
import { dayScale, numberScale, valueOfDay } from "../charts/scale.ts";
import { Figure } from "../components/figure.tsx";
import { sortingOf } from "../components/numbers.tsx";
import { Note } from "../components/sheet.tsx";
import { paceNote, priceTimeTitle } from "../sentences/car.ts";
import { count, day, dollars, shortDay } from "../shell/format.ts";
import { viewPath } from "../shop/view.ts";
import type { ListingDetail } from "./car-data.ts";
import { sqlText } from "./similar-cars.tsx";

interface PriceProps {
  readonly listing: ListingDetail;
  readonly days: number | null | undefined;
  /** Days until similar cars are sold at today's pace. */
  readonly supplyDays: number | null | undefined;
  readonly path: string;
  readonly query: URLSearchParams;
}

export const PriceOverTime = ({ listing, days, supplyDays, path, query }: PriceProps): JSX.Element => {
  const { price_drops: cuts, price_change_total: change, sold_date: sold, id } = listing;
  const changes = { days, cuts, change, supplyDays: sold === null ? supplyDays : undefined };
  const steps = stepsOf(listing);
  const first = steps[0]?.day ?? "";
  const last = steps.at(-1)?.day ?? "";
  return (
    <Figure
      id="price"
      title={priceTimeTitle(changes)}
      of={paceNote(changes)}
      numbers={{
        columns: [
          { name: "day", title: "Day" },
          { name: "price", title: "Price", format: dollars },
          { name: "change", title: "Change", format: dollars },
          { name: "miles", title: "Miles", format: count },
        ],
        rows: rowsOf(listing, first),
        sorting: sortingOf("price", path, query),
      }}
      sql={`SELECT date, price_before, price, miles\nFROM price_changes\nWHERE listing_id = ${sqlText(id)}\nORDER BY changed_at`}
    >
      {first === last || steps.every(({ price }) => price === null) ? (
        <p class="mute">Seen on one day: there is no line to draw.</p>
      ) : (
        <PriceLine steps={steps} />
      )}
    </Figure>
  );
};

interface Step {
  readonly day: string;
  readonly price: number | null;
}

const PriceLine = ({ steps }: { readonly steps: readonly Step[] }): JSX.Element => {
  const prices = steps.flatMap(({ price }) => price ?? []);
  const start = prices[0];
  const end = prices.at(-1);
  const label = prices.every((price) => price === end)
    ? `The price stayed at ${dollars(end)}`
    : `The price went from ${dollars(start)} to ${dollars(end)}`;
  return (
    <Chart
      label={label}
      width={420}
      height={118}
      x={dayScale(steps.map((step) => step.day))}
      y={numberScale(prices, { format: dollars })}
      marks={[
        {
          mark: "line",
          color: "coral",
          isStepped: true,
          name: dollars(end),
          points: steps.map((step) => [valueOfDay(step.day), step.price]),
        },
      ]}
    />
  );
};

/** Returns the changes of a price in their order, and the price before them. */
function changesOf({ price_history, price }: ListingDetail) {
  const changes = [...price_history].sort((one, other) => (one.changed_at < other.changed_at ? -1 : 1));
  const [first] = changes;
  return { changes, firstPrice: first === undefined ? price : first.price_before };
}

/** Returns the prices from the first day to the last one, or to the sale. */
function stepsOf(listing: ListingDetail): readonly Step[] {
  const { inventory_date: first, last_checked_at: last, sold_date: sold, price } = listing;
  const { changes, firstPrice } = changesOf(listing);
  const start = { day: first ?? changes[0]?.date ?? last, price: firstPrice };
  const end = { day: sold ?? last, price: price ?? changes.at(-1)?.price ?? null };
  const between = changes.map((change) => ({ day: change.date, price: change.price }));
  return [start, ...between, end].map((step) => ({ day: step.day.slice(0, 10), price: step.price }));
}

/** Returns the rows of the table: the first price, and each change. */
function rowsOf(listing: ListingDetail, first: string) {
  const { changes, firstPrice } = changesOf(listing);
  return [
    [first, firstPrice, null, changes.length === 0 ? listing.miles : null],
    ...changes.map(({ date, price: after, price_before: before, miles }) => [
      ...[date, after, after === null || before === null ? null : after - before, miles],
    ]),
  ];
}

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
    <Note end={<a href={viewPath({ snapshot_date: date })}>The cars of that day</a>}>
      {`This page is of ${day(asOf)}. On ${shortDay(date, asOf)}, ${stateOn(listing, date)}`}
    </Note>
  );
};

/** Describes the state of a listing on a day: not seen yet, sold, or its price. */
function stateOn(listing: ListingDetail, date: string): string {
  const { inventory_date: first, sold_date: sold } = listing;
  if (first !== null && date < first.slice(0, 10)) return "it was not listed yet.";
  if (sold !== null && date >= sold) return "it was sold.";
  return `it cost ${dollars(priceOn(listing, date))}.`;
}

function priceOn(listing: ListingDetail, date: string): number | null {
  const next = changesOf(listing).changes.find((change) => change.date > date);
  return next === undefined ? listing.price : next.price_before;
}
