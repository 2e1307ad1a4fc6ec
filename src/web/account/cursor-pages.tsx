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
  readonly before: number | null;
  /** The last number of this page if older rows follow. */
  readonly last: number | undefined;
}

export const CursorPages = ({ label, path, query, before, last }: CursorPagesProps): JSX.Element => {
  const start = [path, query?.toString()].filter(Boolean).join("?");
  return (
    <nav class="head" aria-label={label}>
      {before === null ? null : <a href={start}>Newest</a>}
      {last === undefined ? null : <a href={`${start}${start.includes("?") ? "&" : "?"}before=${last}`}>Older</a>}
    </nav>
  );
};
