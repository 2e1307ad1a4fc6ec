/** Tables: headings that sort are links, "you" is a gold row, the first column may hold a drawing, and wide ones scroll in their sheet. */
import type { ComponentChildren, JSX } from "preact";

type Value = number | string | null | undefined;

export interface TableColumn<Row> {
  /** Its title; empty for a column of drawings. */
  readonly title: ComponentChildren;
  /** Its name where addresses sort by it, and in files. Other columns do not sort. */
  readonly sort?: string | undefined;
  readonly isNumber?: boolean;
  /** The value of a row, by which the table sorts; without it, rows have the order of the page. An unknown one is a dash, and last. */
  readonly value?: (row: Row) => Value;
  /** Formats the values of a column of numbers. */
  readonly format?: (value: number) => string;
  /** The page that a value leads to. */
  readonly path?: (row: Row) => string | undefined;
  /** What a row shows, if it is not its value. */
  readonly cell?: (row: Row) => ComponentChildren;
}

/** How the rows are sorted, and the address of the page with another order. */
export interface Sorting {
  /** The sorted column's `sort`, after `-` if it descends. */
  readonly current: string | undefined;
  readonly pathOf: (sort: string) => string;
}

export interface TableProps<Row> {
  /** What the table is, for readers who do not see it. */
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** The most rows that are shown, in their order, besides the reader's; all by default. */
  readonly rowsMax?: number | undefined;
  readonly sorting?: Sorting | undefined;
  /** Whether a row is the reader's, which is gold. */
  readonly isMine?: ((row: Row) => boolean) | undefined;
  /** Whether the first column holds drawings, which phones leave out. */
  readonly hasPictures?: boolean | undefined;
  /** What is said without rows. */
  readonly empty?: string | undefined;
}

export function DataTable<Row>({ label, columns, rows, empty = "None.", ...props }: TableProps<Row>): JSX.Element {
  const { sorting, isMine, hasPictures = false, rowsMax = rows.length } = props;
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
          {sortedRows(rows, columns, sorting?.current)
            .filter((row, index) => index < rowsMax || isMine?.(row) === true)
            .map((row, index) => (
              <tr key={index} class={isMine?.(row) === true ? "me" : undefined}>
                {columns.map((column, at) => (
                  <td key={at} class={lookOf(column)}>
                    {cellIn(row, column)}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  );
}

const lookOf = <Row,>({ format, isNumber = format !== undefined }: TableColumn<Row>): string | undefined =>
  isNumber ? "num" : undefined;

/** Returns what a column shows of a row. */
export function cellIn<Row>(row: Row, { cell, value, format = String, path }: TableColumn<Row>): ComponentChildren {
  if (cell !== undefined) return cell(row);
  const known = value?.(row) ?? null;
  if (known === null || known === "") return "–";
  const text = typeof known === "number" ? format(known) : known;
  const href = path?.(row);
  return href === undefined ? text : <a href={href}>{text}</a>;
}

/** Returns rows in the order of a column, after `-` if it descends; unknown values are last. */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  order: string | undefined,
): readonly Row[] {
  const value = columns.find(({ sort }) => sort !== undefined && sort === order?.replace(/^-/, ""))?.value;
  if (order === undefined || value === undefined) return rows;
  const sign = order.startsWith("-") ? -1 : 1;
  return [...rows].sort((one, other) => {
    const first = value(one) ?? null;
    const second = value(other) ?? null;
    if (first === null || second === null) return Number(first === null) - Number(second === null);
    if (typeof first === "number" && typeof second === "number") return sign * (first - second);
    return sign * `${first}`.localeCompare(`${second}`);
  });
}

interface HeadingProps<Row> {
  readonly column: TableColumn<Row>;
  readonly sorting: Sorting | undefined;
}

/** A heading. Its link turns the order of the sorted column; others start with the greatest number, or the first word. */
function Heading<Row>({ column, sorting }: HeadingProps<Row>): JSX.Element {
  const { title, sort } = column;
  const look = lookOf(column);
  if (title === "") return <td class={look} />;
  const isAscending = sort !== undefined && sorting?.current === sort;
  const isSorted = isAscending || (sort !== undefined && sorting?.current === `-${sort}`);
  const next = isSorted ? !isAscending : look === undefined;
  return (
    <th scope="col" class={look} aria-sort={isSorted ? (isAscending ? "ascending" : "descending") : undefined}>
      {sort === undefined || sorting === undefined ? (
        title
      ) : (
        <a href={sorting.pathOf(next ? sort : `-${sort}`)}>
          {title}
          {isSorted ? <span aria-hidden="true">{isAscending ? "↑" : "↓"}</span> : null}
        </a>
      )}
    </th>
  );
}

interface MeterProps {
  readonly part: number;
  readonly whole: number;
  /** `share` is thin, below the row of a facet. */
  readonly look?: "meter" | "share";
}

/** A bar in a cell, before its number: the part of a whole. */
export const Meter = ({ part, whole, look = "meter" }: MeterProps): JSX.Element => (
  <svg class={look} aria-hidden="true">
    <rect
      width={`${Math.round(Math.min(1, part / (whole || 1)) * 100)}%`}
      height="100%"
      rx={look === "meter" ? 4 : 1}
    />
  </svg>
);
