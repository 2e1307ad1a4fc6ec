/** The position of a listing in the search that it was opened from, which the address has: the way back, and the cars before and after it. */
import type { JSX } from "preact";
import { count } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import {
  apiFilters,
  listingPath,
  listText,
  pageSizeOf,
  type ViewParameters,
  viewPath,
  withParameters,
} from "../../shop/view.ts";

/** The view that led to a listing, and the published day. */
export interface ShownView {
  readonly view: ViewParameters;
  readonly asOf: string;
}

interface SearchPosition {
  /** The number of the listing in the search, from 1, and how many there are. */
  readonly number: number;
  readonly total: number;
  /** The paths of the cars beside it. */
  readonly previous: string | undefined;
  readonly next: string | undefined;
}

/**
 * Finds a listing in the page of results that begins at the view's `offset`, and the listings beside it, also on the pages before and after. It asks
 * for results that the visitor has seen, which pages get without another charge. Returns undefined if the listing has left that page.
 */
export async function findPosition(
  requests: PageRequests,
  listing: string,
  { view, asOf }: ShownView,
): Promise<SearchPosition | undefined> {
  const start = Number(view.offset ?? 0);
  const size = pageSizeOf(view);
  const first = Math.max(0, start - 1);
  const shown = { sort: view.sort, fields: "id", offset: String(first), limit: String(start - first + size + 1) };
  const search = withParameters(apiFilters(view, asOf), shown);
  const { data, pagination } = await requests.call("searchListings", search);
  const at = data.findIndex(({ id }) => id === listing);
  if (at === -1) return undefined;
  const pathAt = (index: number): string | undefined => {
    const pages = Math.floor((first + index - start) / size);
    const offset = String(Math.max(0, start + pages * size));
    return data[index] && listingPath(data[index].id, { ...view, offset });
  };
  return { number: first + at + 1, total: pagination.total, previous: pathAt(at - 1), next: pathAt(at + 1) };
}

interface CrumbsProps {
  readonly view: ViewParameters;
  readonly make: string | null;
  readonly model: string | null;
  readonly position: SearchPosition | undefined;
}

/** Links to the search that led here, to the make and model, and to the cars beside this one. */
export const Crumbs = ({ view, make, model, position }: CrumbsProps): JSX.Element => {
  const ofMake = make === null ? undefined : { make: listText("make", make) };
  return (
    <nav class="crumbs" aria-label="Where this listing is found">
      <a href={viewPath(view)}>Search</a>
      {ofMake === undefined ? null : (
        <>
          / <a href={viewPath(ofMake)}>{make}</a>
        </>
      )}
      {ofMake === undefined || model === null ? null : (
        <>
          / <a href={viewPath({ ...ofMake, model: listText("model", model) })}>{model}</a>
        </>
      )}
      {position === undefined ? null : <Position {...position} />}
    </nav>
  );
};

const Position = ({ number, total, previous, next }: SearchPosition): JSX.Element => (
  <span class="ends">
    <span>{`${count(number)} of ${count(total)}`}</span>
    {previous === undefined ? null : (
      <a href={previous} rel="prev">
        Previous<span class="vh"> car</span> <kbd>k</kbd>
      </a>
    )}
    {next === undefined ? null : (
      <a href={next} rel="next">
        Next<span class="vh"> car</span> <kbd>j</kbd>
      </a>
    )}
  </span>
);
