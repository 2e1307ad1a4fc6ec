/** The controls of the results: sort, layout, columns, and the place to measure distances from. */
import type { JSX } from "preact";
import { chosenColumns, columnDefinitions } from "../listing-fields.tsx";
import { inventoryOf, listOf, type ViewParameters, viewPath, withParameters } from "../view.ts";
import { KeptFields } from "./applied-filters.tsx";

interface ControlProps {
  readonly view: ViewParameters;
}

const sorts: readonly (readonly [value: string, text: string])[] = [
  ["", "Newest first"],
  ["-days_on_market", "Longest listed first"],
  ["price", "Lowest price first"],
  ["-price", "Highest price first"],
  ["-price_drop", "Largest price drop first"],
  ["all_in_price", "Lowest price with fees first"],
  ["miles", "Fewest miles first"],
  ["-miles", "Most miles first"],
  ["discount", "Most below MSRP first"],
  ["-discount", "Most above MSRP first"],
  ["msrp", "Lowest MSRP first"],
  ["-msrp", "Highest MSRP first"],
  ["-listed_at", "Last observed first"],
  ["listed_at", "First observed first"],
];

/** The sort of the listings. Charts have none, and keep it. */
export const SortField = ({ view }: ControlProps): JSX.Element => {
  if (view.layout === "charts") return <input type="hidden" name="sort" form="view" value={view.sort ?? ""} />;
  const offered = [
    ...sorts,
    ...(inventoryOf(view) === "active" ? [["value", "Best value first"] as const] : []),
    ...(view.postal_code === undefined ? [] : [["distance", "Nearest first"] as const]),
  ];
  return (
    <label class="pick">
      <span class="vh">Sort</span>
      <select id="sort" name="sort" form="view">
        {offered.map(([value, text]) => (
          <option key={value} value={value} selected={value === (view.sort ?? "")}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
};

export const LayoutFields = ({ view }: ControlProps): JSX.Element => {
  const shown = layouts.some(([layout]) => layout === view.layout) ? view.layout : undefined;
  return (
    <>
      <nav class="seg" aria-label="Layout">
        {layouts.map(([layout, text]) => (
          <a
            key={text}
            href={viewPath(withParameters(view, { layout }))}
            aria-current={layout === shown ? "true" : undefined}
          >
            {text}
          </a>
        ))}
      </nav>
      {shown === "table" ? <ColumnFields view={view} /> : null}
    </>
  );
};

const layouts: readonly (readonly [layout: string | undefined, text: string])[] = [
  [undefined, "Cards"],
  ["table", "Table"],
  ["charts", "Charts"],
];

const ColumnFields = ({ view }: ControlProps): JSX.Element => {
  const chosen = chosenColumns(listOf(view, "columns"));
  return (
    <details class="columns" id="columns">
      <summary class="btn">Columns</summary>
      <form action="/shop" method="get" data-view-form>
        <KeptFields view={view} without={new Set(["columns"])} />
        <fieldset>
          <legend class="vh">Columns</legend>
          {columnDefinitions.map((column) => (
            <label key={column.name}>
              <input
                type="checkbox"
                id={`column-${column.name}`}
                name="columns"
                value={column.name}
                checked={chosen.includes(column)}
              />
              {column.title}
            </label>
          ))}
        </fieldset>
        <button type="submit" class="apply">
          Apply
        </button>
      </form>
    </details>
  );
};

const radii = ["10", "25", "50", "100", "250", "500"];

export const PlaceFields = ({ view }: ControlProps): JSX.Element => (
  <fieldset class="group">
    <legend class="title">
      <h2>Near</h2>
    </legend>
    <div class="near">
      <input
        type="text"
        id="postal_code"
        name="postal_code"
        inputMode="numeric"
        autocomplete="postal-code"
        aria-label="ZIP code"
        placeholder="ZIP code"
        value={view.postal_code ?? ""}
      />
      <select id="radius" name="radius" aria-label="Distance">
        <option value="">Any distance</option>
        {[...new Set([...radii, ...(view.radius === undefined ? [] : [view.radius])])].map((miles) => (
          <option key={miles} value={miles} selected={miles === view.radius}>
            {miles} miles
          </option>
        ))}
      </select>
    </div>
  </fieldset>
);
