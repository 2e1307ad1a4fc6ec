/** The price of a car over its days. */
import type { JSX } from "preact";
import { Chart } from "../charts/chart.tsx";
import { dayScale, numberScale, valueOfDay } from "../charts/scale.ts";
import { Figure } from "../components/figure.tsx";
import { sortingOf } from "../components/numbers.tsx";
import { paceNote, priceTimeTitle } from "../sentences/car.ts";
import { count, dollars } from "../shell/format.ts";
import { sqlText } from "../shop/equivalent-sql.ts";
import type { ListingDetail, ShownCar } from "./car-data.ts";
import type { PageAddress } from "./similar-cars.tsx";

export const PriceOverTime = ({ car, address }: { readonly car: ShownCar; readonly address: PageAddress }) => {
  const { listing, own, valued } = car;
  const { price_drops: cuts, price_change_total: change, sold_date: sold, id } = listing;
  // A car that was sold on the day it was listed has no days.
  const days = sold === null ? own?.days_on_market : own?.days_on_market || undefined;
  const said = { days, cuts, change, supplyDays: sold === null ? valued?.supply?.days_supply : undefined };
  const rows = pricesOf(listing);
  const end = {
    date: (sold ?? listing.last_checked_at).slice(0, 10),
    price: listing.price ?? rows.at(-1)?.price ?? null,
  };
  const steps = [...rows, end];
  return (
    <Figure
      id="price"
      title={priceTimeTitle(said)}
      of={paceNote(said)}
      numbers={{
        columns: [
          { title: "Day", sort: "day", value: ({ date }) => date },
          { title: "Price", sort: "price", value: ({ price }) => price, format: dollars },
          { title: "Change", sort: "change", value: changeOf, format: dollars },
          { title: "Miles", sort: "miles", value: ({ miles }) => miles, format: count },
        ],
        rows,
        sorting: sortingOf("price", address.path, address.query),
      }}
      sql={`SELECT date, price_before, price, miles\nFROM price_changes\nWHERE listing_id = ${sqlText(id)}\nORDER BY changed_at`}
    >
      {steps[0]?.date === end.date || steps.every(({ price }) => price === null) ? (
        <p class="mute">Seen on one day: there is no line to draw.</p>
      ) : (
        <PriceLine steps={steps} />
      )}
    </Figure>
  );
};

type PricePoint = Pick<ListingDetail["price_history"][number], "date" | "price" | "price_before" | "miles">;

const changeOf = ({ price, price_before: before }: PricePoint): number | null =>
  price === null || before === null ? null : price - before;

/** Returns the first price of a car, and each change, in their order. */
function pricesOf(listing: ListingDetail): readonly PricePoint[] {
  const changes = [...listing.price_history].sort((one, other) => (one.changed_at < other.changed_at ? -1 : 1));
  const { price, miles, inventory_date: listed, last_checked_at: last } = listing;
  const [first] = changes;
  const date = (listed ?? first?.date ?? last).slice(0, 10);
  const start = first === undefined ? { price, miles } : { price: first.price_before, miles: null };
  return [{ ...start, date, price_before: null }, ...changes];
}

const PriceLine = ({ steps }: { readonly steps: readonly Pick<PricePoint, "date" | "price">[] }): JSX.Element => {
  const prices = steps.flatMap(({ price }) => price ?? []);
  const [start] = prices;
  const end = prices.at(-1);
  const isSame = prices.every((price) => price === end);
  return (
    <Chart
      label={
        isSame ? `The price stayed at ${dollars(end)}` : `The price went from ${dollars(start)} to ${dollars(end)}`
      }
      width={420}
      height={118}
      x={dayScale(steps.map(({ date }) => date))}
      y={numberScale(prices, { format: dollars })}
      marks={[
        {
          mark: "line",
          color: "coral",
          isStepped: true,
          name: dollars(end),
          points: steps.map(({ date, price }) => [valueOfDay(date), price]),
        },
      ]}
    />
  );
};
