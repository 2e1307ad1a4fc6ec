/** The cars of a search: as cards or as a table, with the links to other pages of results. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import type { PhotoMode } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { Card, Cars } from "../components/card.tsx";
import { DataTable, type Sorting } from "../components/table.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import { count } from "../shell/format.ts";
import { chosenColumns, columnDefinitions, type ShownListing } from "./columns.tsx";
import { KeptFields } from "./filter-form.tsx";
import { photoSources } from "./photos.tsx";
import { listingPath, listOf, orderOf, type ViewParameters, viewPath, withParameters } from "./view.ts";

interface CardListProps {
  /** The view that the pages of the cars lead back to. */
  readonly view: ViewParameters;
  readonly cars: readonly ShownListing[];
  readonly photos: PhotoMode;
  /** `cars` of the results of the page. */
  readonly id?: string;
  readonly isFit?: boolean;
  /** Whether the prices are judged. */
  readonly isJudged?: boolean;
}

export const CardList = ({ view, cars, photos, id, isFit = false, isJudged = true }: CardListProps): JSX.Element => (
  <Cars {...(id === undefined ? {} : { id })} isFit={isFit}>
    {cars.map((car) => (
      <Card
        key={car.id}
        car={car}
        path={listingPath(car.id, view)}
        photo={photoSources(car.photo_urls, photos)[0]}
        isJudged={isJudged}
      />
    ))}
  </Cars>
);

interface ListingTableProps {
  readonly view: ViewParameters;
  readonly listings: readonly ShownListing[];
  /** The names of columns; empty for the default ones. */
  readonly columns?: readonly string[];
  readonly sorting?: Sorting;
}

export const ListingTable = ({ view, listings, columns = [], sorting }: ListingTableProps): JSX.Element => (
  <DataTable
    label="Table of cars"
    hasPictures
    columns={[
      { title: "", cell: (car: ShownListing) => <CarDrawing car={car} look="mini" /> },
      ...chosenColumns(columns).map(({ title, isNumber = false, sort, value }) => ({
        title,
        isNumber,
        ...(sort === undefined ? {} : { sort }),
        cell: (car: ShownListing) => value(car, view),
      })),
    ]}
    rows={listings}
    {...(sorting === undefined ? {} : { sorting })}
  />
);

/** Returns how the table of a view is sorted. */
export const viewSorting = (view: ViewParameters): Sorting => ({
  current: orderOf(view),
  pathOf: (sort) => viewPath(withParameters(view, { sort: sort === "value" ? undefined : sort })),
});

/** The choice of the table's columns. */
export const ColumnFields = ({ view }: { readonly view: ViewParameters }): JSX.Element => {
  const chosen = chosenColumns(listOf(view, "columns"));
  return (
    <details class="choice" id="columns">
      <summary>Columns</summary>
      <form action="/shop" method="get" data-view-form>
        <KeptFields view={view} without={new Set(["columns"])} />
        {columnDefinitions.map((column) => (
          <label key={column.name}>
            <input type="checkbox" name="columns" value={column.name} checked={chosen.includes(column)} />
            {column.title}
          </label>
        ))}
        <Button isSmall>Show these</Button>
      </form>
    </details>
  );
};

interface PagingProps {
  readonly view: ViewParameters;
  readonly pagination: AnswerOf<"searchListings">["pagination"];
  /** The page that shows the results. */
  readonly path?: string;
}

export const Paging = ({ view, pagination, path = "/shop" }: PagingProps): JSX.Element | null => {
  const { limit, offset, total, next_offset: next } = pagination;
  if (offset === 0 && next === null) return null;
  const pathAt = (start: number): string =>
    viewPath(withParameters(view, { offset: start === 0 ? undefined : String(start) }), path);
  return (
    <nav class="paging line" aria-label="Pages">
      <span class="mute">
        {count(Math.min(offset + 1, total))} to {count(Math.min(offset + limit, total))} of {count(total)}
      </span>
      {offset === 0 ? null : (
        <Button href={pathAt(Math.max(0, offset - limit))}>Previous {count(Math.min(limit, offset))}</Button>
      )}
      {next === null ? null : <Button href={pathAt(next)}>Next {count(Math.min(limit, total - next))}</Button>}
    </nav>
  );
};
