/** The results of a search: cards or a table, and the links to other pages. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import type { PhotoMode } from "../../../http/service/service-state.ts";
import { DataTable } from "../../shell/blocks.tsx";
import { count } from "../../shell/format.ts";
import { chosenColumns, type ShownListing } from "../listing-fields.tsx";
import { listOf, type ViewParameters, viewPath, withParameters } from "../view.ts";
import { Card } from "./cards.tsx";

interface ResultsProps {
  readonly view: ViewParameters;
  readonly answer: AnswerOf<"searchListings">;
  readonly photos: PhotoMode;
}

export const ResultList = ({ view, answer: { data, pagination }, photos }: ResultsProps): JSX.Element => {
  const paged = { ...view, offset: view.offset ?? "0" };
  return (
    <>
      {view.layout === "table" ? (
        <ListingTable view={paged} listings={data} columns={listOf(view, "columns")} />
      ) : (
        <ul class="cars">
          {data.map((listing) => (
            <Card key={listing.id} view={paged} listing={listing} photos={photos} />
          ))}
        </ul>
      )}
      <Paging view={view} pagination={pagination} />
    </>
  );
};

interface ListingTableProps {
  readonly view: ViewParameters;
  readonly listings: readonly ShownListing[];
  /** The names of columns; empty for the default ones. */
  readonly columns?: readonly string[];
}

export const ListingTable = ({ view, listings, columns = [] }: ListingTableProps): JSX.Element => {
  const shown = chosenColumns(columns);
  return (
    <DataTable
      label="Listings"
      columns={shown.map(({ title, isNumber }) => (isNumber ? `#${title}` : title))}
      rows={listings.map((listing) => shown.map(({ value }) => value(listing, view)))}
      isSheet
    />
  );
};

interface PagingProps {
  readonly view: ViewParameters;
  readonly pagination: AnswerOf<"searchListings">["pagination"];
  /** The page of the explorer that shows the results. */
  readonly path?: string;
}

export const Paging = ({ view, pagination, path = "/shop" }: PagingProps): JSX.Element => {
  const { limit, offset, total, next_offset: next } = pagination;
  const pathAt = (start: number): string =>
    viewPath(withParameters(view, { offset: start === 0 ? undefined : String(start) }), path);
  return (
    <nav class="paging" aria-label="Pages">
      <span>
        {count(offset + 1)} to {count(Math.min(offset + limit, total))} of {count(total)}
      </span>
      {offset === 0 ? null : (
        <a class="btn" href={pathAt(Math.max(0, offset - limit))}>
          Previous {count(limit)}
        </a>
      )}
      {next === null ? null : (
        <a class="btn" href={pathAt(next)}>
          Next {count(Math.min(limit, total - next))}
        </a>
      )}
      <a href="#api">As API request</a>
    </nav>
  );
};
