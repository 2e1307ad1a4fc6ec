/** The results of a search: cards or a table, and the links to other pages. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { count, day, dollars, text } from "../../shell/format.ts";
import { chosenColumns, nameOf, type ShownListing } from "../listing-fields.tsx";
import { listingPath, listOf, type ViewParameters, viewPath, withParameters } from "../view.ts";

interface ResultsProps {
  readonly view: ViewParameters;
  readonly answer: AnswerOf<"searchListings">;
}

export const ResultList = ({ view, answer }: ResultsProps): JSX.Element => {
  if (answer.data.length === 0) return <p class="empty">No listing matches all filters.</p>;
  return (
    <>
      {view.layout === "table" ? (
        <ListingTable view={view} listings={answer.data} columns={listOf(view, "columns")} />
      ) : (
        <ul class="cards">
          {answer.data.map((listing) => (
            <Card key={listing.id} view={view} listing={listing} />
          ))}
        </ul>
      )}
      <Paging view={view} pagination={answer.pagination} />
    </>
  );
};

interface CardProps {
  readonly view: ViewParameters;
  readonly listing: ShownListing;
}

const Card = ({ view, listing }: CardProps): JSX.Element => {
  const { id, trim, price, discount_from_msrp: discount, sold_date: sold } = listing;
  const { exterior_color: color } = listing;
  return (
    <li class="card">
      <h2>
        <a href={listingPath(id, view)}>{nameOf(listing)}</a>
      </h2>
      <p class="trim">{[trim, color].filter(Boolean).join(" · ") || "–"}</p>
      <p class="price">
        <strong>{dollars(price)}</strong>
        {discount === null || discount === undefined ? null : <span>{besideMsrp(discount)}</span>}
      </p>
      <p class="facts">{factsOf(listing)}</p>
      <p class="dealer">
        {text(listing.dealer_name)}
        <br />
        {text([listing.city, listing.state].filter(Boolean).join(", "))}
        {typeof listing.distance_miles === "number" ? ` · ${count(listing.distance_miles, " mi")}` : ""}
      </p>
      <p class="age">{typeof sold === "string" ? `Sold ${day(sold)}` : ageOf(listing)}</p>
    </li>
  );
};

const besideMsrp = (discount: number): string =>
  discount === 0 ? "at MSRP" : `${(Math.abs(discount) * 100).toFixed(1)}% ${discount < 0 ? "below" : "above"} MSRP`;

function ageOf({ days_on_market: days }: ShownListing): string {
  if (days === 0) return "Listed today";
  return days === 1 ? "Listed for 1 day" : `Listed for ${count(days)} days`;
}

/** Returns the known facts of a listing in one line. */
const factsOf = ({ inventory_type, miles, drivetrain, fuel_type }: ShownListing): string =>
  [inventory_type, typeof miles === "number" ? count(miles, " mi") : null, drivetrain, fuel_type]
    .filter((fact) => fact !== null && fact !== undefined)
    .join(" · ");

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
    <section class="scroll" aria-label="Listings" tabIndex={0}>
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
      {offset === 0 ? <span /> : <a href={pathAt(Math.max(0, offset - limit))}>Previous</a>}
      <span class="muted">
        {count(offset + 1)} to {count(Math.min(offset + limit, total))} of {count(total)}
      </span>
      {next === null ? <span /> : <a href={pathAt(next)}>Next</a>}
    </nav>
  );
};
