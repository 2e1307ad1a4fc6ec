/** The choice of the inventory: active listings, those of a past day, or sold ones. */
import type { JSX } from "preact";
import { plusDays } from "../../../base/day.ts";
import { day } from "../../shell/format.ts";
import { type InventoryView, inventoryOf, type ViewParameters, viewPath, withParameters } from "../view.ts";

export interface SnapshotDays {
  readonly first: string;
  readonly last: string;
}

interface InventoryBarProps {
  readonly view: ViewParameters;
  readonly days: SnapshotDays;
}

const noInventory = { inventory_status: undefined, sold_within_days: undefined, snapshot_date: undefined };

export const InventoryBar = ({ view, days }: InventoryBarProps): JSX.Element => {
  const current = inventoryOf(view);
  const tab = (inventory: InventoryView, text: string, changes: Readonly<Record<string, string | undefined>>) => (
    <a
      href={viewPath(withParameters(view, { ...noInventory, ...changes }))}
      aria-current={current === inventory ? "true" : undefined}
    >
      {text}
    </a>
  );
  return (
    <nav class="inventory" aria-label="Inventory">
      {tab("active", "For sale", {})}
      {tab("past", "Past day", { snapshot_date: view.snapshot_date ?? dayBefore(days) })}
      {tab("sold", "Sold", { inventory_status: "sold" })}
      {current === "sold" ? <SoldFields view={view} /> : <DayField view={view} days={days} />}
    </nav>
  );
};

/** The last day before the present one. */
const dayBefore = ({ first, last }: SnapshotDays): string => (last === first ? first : plusDays(last, -1));

/** The time machine: the day that the page shows. The last day is the present one. */
const DayField = ({ view, days: { first, last } }: InventoryBarProps): JSX.Element => {
  const shown = view.snapshot_date ?? last;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(shown) && !Number.isNaN(Date.parse(shown));
  const step = (days: number, text: string) => {
    const date = isDay ? plusDays(shown, days) : "";
    return date < first || date > last ? null : (
      <a href={viewPath(withParameters(view, { snapshot_date: date === last ? undefined : date }))}>{text}</a>
    );
  };
  return (
    <span class="day">
      <label>
        <span class="vh">Day</span>
        <input
          type="date"
          id="snapshot_date"
          name="snapshot_date"
          form="view"
          min={first}
          max={last}
          value={shown}
          data-default={last}
        />
      </label>
      {step(-1, "Day before")}
      {step(1, "Day after")}
      <span class="muted">{`Days from ${day(first)}`}</span>
    </span>
  );
};

const windows: readonly (readonly [days: string, text: string])[] = [
  ["", "at any time"],
  ["1", "newly, in the last day"],
  ["7", "in the last 7 days"],
  ["30", "in the last 30 days"],
  ["90", "in the last 90 days"],
];

const SoldFields = ({ view }: Pick<InventoryBarProps, "view">): JSX.Element => {
  const chosen = view.sold_within_days ?? "";
  const known = windows.some(([days]) => days === chosen);
  return (
    <span class="day">
      <input type="hidden" name="inventory_status" form="view" value="sold" />
      <label>
        <span class="vh">Sold</span>
        <select id="sold_within_days" name="sold_within_days" form="view">
          {(known ? windows : [...windows, [chosen, `in the last ${chosen} days`] as const]).map(([days, text]) => (
            <option key={days} value={days} selected={days === chosen}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </span>
  );
};
