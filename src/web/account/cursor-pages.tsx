/** Pages of rows that are numbered, newest first. */
import type { JSX } from "preact";

/** Returns the number below which the page of an address begins; null for the newest page. */
export function beforeIn(query: URLSearchParams): number | null {
  const text = query.get("before") ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

interface CursorPagesProps {
  readonly path: string;
  /** Where the rows begin on the page. */
  readonly id: string;
  readonly before: number | null;
  /** The last number of this page if older rows follow. */
  readonly last: number | undefined;
}

/** Links to the newest and the older rows; nothing on the only page. */
export const CursorPages = ({ path, id, before, last }: CursorPagesProps): JSX.Element | null =>
  before === null && last === undefined ? null : (
    <nav class="line" aria-label={`Pages of ${id}`}>
      {before === null ? null : <a href={`${path}#${id}`}>Newest</a>}
      {last === undefined ? null : <a href={`${path}?before=${last}#${id}`}>Older</a>}
    </nav>
  );
