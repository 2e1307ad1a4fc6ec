/** Tables: headings that sort are links, "you" is a gold row, the first column may hold a drawing, and wide ones scroll in their sheet. */
import type { ComponentChildren, JSX } from "preact";

export interface TableColumn<Row> {
  /** Its title; empty for a column of drawings. */
  readonly title: ComponentChildren;
  /** How the rows sort by it: the value of the page's `sort`, without a sign. Other columns do not sort. */
  readonly sort?: string;
  readonly isNumber?: boolean;
  /** What a row shows in it. */
  readonly cell: (row: Row) => ComponentChildren;
}

/** How the rows are sorted, and the address of the page with another order. */
export interface Sorting {
  /** The sorted column's `sort`, after `-` if it descends. */
  readonly current: string | undefined;
  readonly pathOf: (sort: string) => string;
}

interface TableProps<Row> {
  /** What the table is, for readers who do not see it. */
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly sorting?: Sorting;
  /** Whether a row is the reader's, which is gold. */
  readonly isMine?: (row: Row) => boolean;
  /** Whether the first column holds drawings, which phones leave out. */
  readonly hasPictures?: boolean;
  /** What is said without rows. */
  readonly empty?: string;
}

export function DataTable<Row>({ label, columns, rows, empty = "None.", ...props }: TableProps<Row>): JSX.Element {
  const { sorting, isMine, hasPictures = false } = props;
  if (rows.length === 0) return <p class="mute">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={label}>
      <table class={hasPictures ? "pics" : undefined}>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <Heading key={index} column={column} sorting={sorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index} class={isMine?.(row) === true ? "me" : undefined}>
              {columns.map(({ isNumber = false, cell }, at) => (
                <td key={at} class={isNumber ? "num" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface HeadingProps<Row> {
  readonly column: TableColumn<Row>;
  readonly sorting: Sorting | undefined;
}

/** A heading. Its link turns the order of the sorted column; others start with the greatest number, or the first word. */
function Heading<Row>({ column: { title, sort, isNumber = false }, sorting }: HeadingProps<Row>): JSX.Element {
  const look = isNumber ? "num" : undefined;
  if (title === "") return <td class={look} />;
  if (sort === undefined || sorting === undefined)
    return (
      <th scope="col" class={look}>
        {title}
      </th>
    );
  const { current, pathOf } = sorting;
  const isAscending = current === sort;
  const isSorted = isAscending || current === `-${sort}`;
  const next = isSorted ? (isAscending ? `-${sort}` : sort) : isNumber ? `-${sort}` : sort;
  return (
    <th scope="col" class={look} aria-sort={isSorted ? (isAscending ? "ascending" : "descending") : undefined}>
      <a href={pathOf(next)}>
        {title}
        {isSorted ? <span aria-hidden="true">{isAscending ? "↑" : "↓"}</span> : null}
      </a>
    </th>
  );
}

/** A bar in a cell, before its number: the part of a whole. */
export const Meter = ({ part, whole }: { readonly part: number; readonly whole: number }): JSX.Element => (
  <svg class="meter" aria-hidden="true">
    <rect width={`${Math.round(Math.min(1, part / (whole || 1)) * 100)}%`} height="8" rx="4" />
  </svg>
);
