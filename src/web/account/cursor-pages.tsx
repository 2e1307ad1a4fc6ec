/** Pages of rows that are numbered, newest first. */
import type { JSX } from "preact";

/** Returns the number below which the page of an address begins; null for the newest page. */
export function beforeIn(query: URLSearchParams): number | null {
  const text = query.get("before") ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

interface CursorPagesProps {
  readonly label: string;
  readonly path: string;
  /** The parameters that all pages have. */
  readonly query?: URLSearchParams;
  /** Where the rows begin on the page. */
  readonly anchor?: string;
  readonly before: number | null;
  /** The last number of this page if older rows follow. */
  readonly last: number | undefined;
}

/** Links to the newest and the older rows; nothing on the only page. */
export const CursorPages = ({ label, path, query, anchor, before, last }: CursorPagesProps): JSX.Element | null => {
  if (before === null && last === undefined) return null;
  const start = [path, query?.toString()].filter(Boolean).join("?");
  const end = anchor === undefined ? "" : `#${anchor}`;
  return (
    <nav class="line" aria-label={label}>
      {before === null ? null : <a href={`${start}${end}`}>Newest</a>}
      {last === undefined ? null : <a href={`${start}${start.includes("?") ? "&" : "?"}before=${last}${end}`}>Older</a>}
    </nav>
  );
};
