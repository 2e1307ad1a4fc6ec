/** Pages of rows that are numbered, newest first. */
import type { JSX } from "preact";

interface CursorPage<Row> {
  readonly path: string;
  /** Where the rows begin on the page. */
  readonly id: string;
  /** The address of the page, which says where its rows begin. */
  readonly query: URLSearchParams;
  readonly rowsMax: number;
  readonly numberOf: (row: Row) => number;
}

/** Reads a page of rows below a number, null for the newest. Returns them with links to the newest and older ones, null on the only page. */
export async function cursorPage<Row>(
  { path, id, query, rowsMax, numberOf }: CursorPage<Row>,
  read: (page: { readonly before: number | null; readonly limit: number }) => Promise<readonly Row[]>,
) {
  const text = query.get("before");
  const before = text === null ? null : Number(text);
  const found = await read({ before, limit: rowsMax + 1 });
  const rows = found.slice(0, rowsMax);
  const last = found.length > rowsMax ? rows.at(-1) : undefined;
  const links: JSX.Element | null =
    before === null && last === undefined ? null : (
      <nav class="line" aria-label={`Pages of ${id}`}>
        {before === null ? null : <a href={`${path}#${id}`}>Newest</a>}
        {last === undefined ? null : <a href={`${path}?before=${numberOf(last)}#${id}`}>Older</a>}
      </nav>
    );
  return { rows, isNewest: before === null, links };
}
