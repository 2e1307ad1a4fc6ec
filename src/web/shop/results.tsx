/** The cars of a search: as cards or as a table, with the links to other pages of results. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import type { PhotoMode } from "../../http/service/service-state.ts";
import { PriceBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Card, type CardListing, carName } from "../components/card.tsx";
import { DataTable, type TableColumn } from "../components/table.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import { cardDifference, historyParts } from "../sentences/car.ts";
import { count, dollars, plainWords, text } from "../shell/format.ts";
import { photoSources } from "./photos.ts";
import { listingPath, orderOf, type ViewParameters, viewPath, withParameters } from "./view.ts";

interface CardListProps {
  /** The view that the pages of the cars lead back to. */
  readonly view: ViewParameters;
  readonly cars: readonly CardListing[];
  readonly photos: PhotoMode;
  /** `cars` of the results of the page, to which a skip link leads. */
  readonly id?: string;
  /** Whether few cards fill the width. */
  readonly isFit?: boolean;
}

export const CardList = ({ view, cars, photos, id, isFit }: CardListProps): JSX.Element => (
  <ul class={isFit ? "cars fit" : "cars"} id={id} tabIndex={id === undefined ? undefined : -1}>
    {cars.map((car) => {
      const [photo] = photoSources(car.photo_urls, photos);
      return <Card key={car.id} car={car} path={listingPath(car.id, view)} photo={photo} />;
    })}
  </ul>
);

/** What tables say of a car besides its name. */
export const carColumns = ({ postal_code: zip }: ViewParameters): readonly TableColumn<CardListing>[] => [
  { title: "Price", sort: "price", value: ({ price }) => price, format: dollars },
  { title: "Price judged", sort: "value", cell: (car) => <PriceBadge car={car} /> },
  { title: "Than similar cars", cell: (car) => text(cardDifference(car)) },
  { title: "Miles", sort: "miles", value: ({ miles }) => miles, format: count },
  { title: "Days", sort: "days_on_market", value: ({ days_on_market: days }) => days, format: count },
  { title: "History", cell: ({ keywords }) => historyParts(keywords).join(" · ") },
  {
    title: "Dealer",
    cell: ({ dealer_id: id, dealer_name: name }) => (id == null ? text(name) : <a href={`/dealers/${id}`}>{name}</a>),
  },
  {
    title: "Place",
    sort: zip === undefined ? undefined : "distance",
    cell: ({ city, state, distance_miles: miles }) =>
      text(plainWords(city, state, miles == null ? "" : count(miles, " mi"))),
  },
];

/** The cars of a view as a table, whose headings order the view. */
export const ListingTable = ({ view, cars }: Pick<CardListProps, "view" | "cars">): JSX.Element => (
  <DataTable
    label="Table of cars"
    hasPictures
    columns={[
      { title: "", cell: (car) => <CarDrawing car={car} look="mini" /> },
      {
        title: "Vehicle",
        cell: (car) => (
          <>
            <a href={listingPath(car.id, view)}>{carName(car)}</a> <span class="mute">{car.trim ?? ""}</span>
          </>
        ),
      },
      ...carColumns(view),
    ]}
    rows={cars}
    sorting={{
      current: orderOf(view),
      pathOf: (sort) => viewPath(withParameters(view, { sort: sort === "value" ? undefined : sort })),
    }}
  />
);

interface PagingProps {
  readonly view: ViewParameters;
  readonly pagination: AnswerOf<"searchListings">["pagination"];
}

export const Paging = ({ view, pagination }: PagingProps): JSX.Element | null => {
  const { limit, offset, total, next_offset: next } = pagination;
  if (offset === 0 && next === null) return null;
  const pathAt = (start: number): string =>
    viewPath(withParameters(view, { offset: start === 0 ? undefined : String(start) }));
  return (
    <nav class="paging line" aria-label="Pages">
      <span class="mute">
        {count(Math.min(offset + 1, total))} to {count(Math.min(offset + limit, total))} of {count(total)}
      </span>
      {offset === 0 ? null : (
        <Button href={pathAt(Math.max(0, Math.min(offset, total) - limit))}>
          Previous {count(Math.min(limit, offset))}
        </Button>
      )}
      {next === null ? null : <Button href={pathAt(next)}>Next {count(Math.min(limit, total - next))}</Button>}
    </nav>
  );
};
