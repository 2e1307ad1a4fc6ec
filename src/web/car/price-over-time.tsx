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
  const { changes, firstPrice } = changesOf(listing);
  // A car that was sold on the day it was listed has no days.
  const days = sold === null ? own?.days_on_market : own?.days_on_market || undefined;
  const said = { days, cuts, change, supplyDays: sold === null ? valued?.supply?.days_supply : undefined };
  const steps = stepsOf(listing);
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
        rows: [
          {
            date: steps[0]?.day ?? "",
            price: firstPrice,
            price_before: null,
            miles: changes.length === 0 ? listing.miles : null,
          },
          ...changes,
        ],
        sorting: sortingOf("price", address.path, address.query),
      }}
      sql={`SELECT date, price_before, price, miles\nFROM price_changes\nWHERE listing_id = ${sqlText(id)}\nORDER BY changed_at`}
    >
      {steps[0]?.day === steps.at(-1)?.day || steps.every(({ price }) => price === null) ? (
        <p class="mute">Seen on one day: there is no line to draw.</p>
      ) : (
        <PriceLine steps={steps} />
      )}
    </Figure>
  );
};

const changeOf = ({
  price,
  price_before: before,
}: Pick<ListingDetail["price_history"][number], "price" | "price_before">) =>
  price === null || before === null ? null : price - before;

interface Step {
  readonly day: string;
  readonly price: number | null;
}

const PriceLine = ({ steps }: { readonly steps: readonly Step[] }): JSX.Element => {
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
  return [
    { day: first ?? changes[0]?.date ?? last, price: firstPrice },
    ...changes.map((change) => ({ day: change.date, price: change.price })),
    { day: sold ?? last, price: price ?? changes.at(-1)?.price ?? null },
  ].map((step) => ({ day: step.day.slice(0, 10), price: step.price }));
}
