/** The results of a search: cards or a table, and the links to other pages. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import type { PhotoMode } from "../../../http/service/photos.ts";
import { count } from "../../shell/format.ts";
import { chosenColumns, type ShownListing } from "../listing-fields.tsx";
import { listOf, type ViewParameters, viewPath, withParameters } from "../view.ts";
import { Cards } from "./cards.tsx";

interface ResultsProps {
  readonly view: ViewParameters;
  readonly answer: AnswerOf<"searchListings">;
  readonly photos: PhotoMode;
}

export const ResultList = ({ view, answer, photos }: ResultsProps): JSX.Element => {
  const placed = { ...view, offset: view.offset ?? "0" };
  return (
    <>
      {view.layout === "table" ? (
        <ListingTable view={placed} listings={answer.data} columns={listOf(view, "columns")} />
      ) : (
        <Cards view={placed} listings={answer.data} photos={photos} />
      )}
      <Paging view={view} pagination={answer.pagination} />
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="sheet scroll" aria-label="Listings" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {shown.map(({ name, title, isNumber }) => (
              <th key={name} scope="col" class={isNumber ? "num" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {listings.map((listing) => (
            <tr key={listing.id}>
              {shown.map(({ name, value, isNumber }) => (
                <td key={name} class={isNumber ? "num" : undefined}>
                  {value(listing, view)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

interface PagingProps {
  readonly view: ViewParameters;
  readonly pagination: AnswerOf<"searchListings">["pagination"];
  /** The page of the explorer that shows the results. */
  readonly path?: string;
}

export const Paging = ({ view, pagination, path = "/" }: PagingProps): JSX.Element => {
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
