/** The choice of the market: what is for sale on a day, or what was sold. */
import type { JSX } from "preact";
import { plusDays } from "../../../base/day.ts";
import { inventoryOf, type ViewParameters, viewPath, withParameters } from "../view.ts";

export interface SnapshotDays {
  readonly first: string;
  readonly last: string;
}

interface MarketControlProps {
  readonly view: ViewParameters;
  readonly days: SnapshotDays;
}

const noMarket = { inventory_status: undefined, sold_within_days: undefined, snapshot_date: undefined };

/** For sale or sold, and the day that the page shows. */
export const MarketControl = ({ view, days }: MarketControlProps): JSX.Element => {
  const isSold = inventoryOf(view) === "sold";
  const choice = (text: string, isCurrent: boolean, changes: Readonly<Record<string, string | undefined>>) => (
    <a href={viewPath(withParameters(view, { ...noMarket, ...changes }))} aria-current={isCurrent ? "true" : undefined}>
      {text}
    </a>
  );
  return (
    <div class="group">
      <nav class="seg fill" aria-label="Market">
        {choice("For sale", !isSold, {})}
        {choice("Sold", isSold, { inventory_status: "sold" })}
      </nav>
      {isSold ? <SoldFields view={view} /> : <DayField view={view} days={days} />}
    </div>
  );
};

/** The time machine: a day is typed, or stepped to. The last day is the present one. */
const DayField = ({ view, days: { first, last } }: MarketControlProps): JSX.Element => {
  const shown = view.snapshot_date ?? last;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(shown) && !Number.isNaN(Date.parse(shown));
  const step = (days: number, [text, sign, key]: readonly [text: string, sign: string, key: string]) => {
    const date = isDay ? plusDays(shown, days) : "";
    return date < first || date > last ? null : (
      <a
        class="btn s"
        href={viewPath(withParameters(view, { snapshot_date: date === last ? undefined : date }))}
        aria-label={text}
        data-key={key}
      >
        {sign}
      </a>
    );
  };
  return (
    <div class="asof">
      <label for="snapshot_date">As of</label>
      <input
        type="text"
        id="snapshot_date"
        name="snapshot_date"
        inputMode="numeric"
        autocomplete="off"
        maxLength={10}
        value={shown}
        data-default={last}
        title={`A day from ${first} to ${last}, for example ${last}`}
      />
      {step(-1, ["Day before", "‹", "["])}
      {step(1, ["Day after", "›", "]"])}
      {shown === last ? null : <a href={viewPath(withParameters(view, { snapshot_date: undefined }))}>latest</a>}
    </div>
  );
};

const windows: readonly (readonly [days: string, text: string])[] = [
  ["", "at any time"],
  ["1", "newly, in the last day"],
  ["7", "in the last 7 days"],
  ["30", "in the last 30 days"],
  ["90", "in the last 90 days"],
];

const SoldFields = ({ view }: Pick<MarketControlProps, "view">): JSX.Element => {
  const chosen = view.sold_within_days ?? "";
  const known = windows.some(([days]) => days === chosen);
  return (
    <div class="asof">
      <input type="hidden" name="inventory_status" value="sold" />
      <label for="sold_within_days">Sold</label>
      <select id="sold_within_days" name="sold_within_days">
        {(known ? windows : [...windows, [chosen, `in the last ${chosen} days`] as const]).map(([days, text]) => (
          <option key={days} value={days} selected={days === chosen}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
};
