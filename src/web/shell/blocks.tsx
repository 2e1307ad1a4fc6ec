/** Parts of pages that are not divided into sheets yet: tables of rows, and texts to copy. */
import type { ComponentChildren, JSX } from "preact";

/** A column whose name is a link that sorts, and the order of the rows by it. */
interface SortedColumn {
  readonly name: string;
  readonly path?: string;
  readonly direction?: "ascending" | "descending";
}

interface DataTableProps {
  readonly label: string;
  /** The names of the columns: those of numbers after `#`, of times and ids, which do not wrap, after `@`, of what phones leave out after `~`. */
  readonly columns: readonly (string | SortedColumn)[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  /** What is shown without rows. */
  readonly empty?: string;
  /** The index of the row that is marked. */
  readonly current?: number;
  /** The class of the table. */
  readonly look?: string;
  /** Whether it is a sheet, and not on one. */
  readonly isSheet?: boolean;
}

const columnClasses: Readonly<Record<string, string>> = { "#": "num", "@": "nowrap", "~": "nowrap col-opt" };

/** A table that scrolls sideways where it is too wide. */
export const DataTable = ({ label, columns, rows, empty = "None.", ...props }: DataTableProps): JSX.Element => {
  const heads = columns.map((column): SortedColumn => (typeof column === "string" ? { name: column } : column));
  const classes = heads.map(({ name }) => classOf(name));
  if (rows.length === 0) return <p class="muted">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class={props.isSheet ? "sheet scroll" : "scroll"} tabIndex={0} aria-label={`${label}, table`}>
      <table class={props.look}>
        <thead>
          <tr>
            {heads.map(({ name, path, direction }, index) => (
              <th key={name} scope="col" class={classes[index]} aria-sort={direction}>
                {path === undefined ? titleOf(name) : <a href={path}>{titleOf(name)}</a>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row} aria-current={row === props.current ? "true" : undefined}>
              {cells.map((cell, index) => (
                <td key={heads[index]?.name} class={classes[index]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

const titleOf = (column: string): string => column.replace(/^[#@~]+/, "");

/** Returns the class of a column's cells by the signs before its name. */
const classOf = (column: string): string | undefined =>
  [...column.slice(0, -titleOf(column).length)].map((sign) => columnClasses[sign]).join(" ") || undefined;

/** A text to copy: a key, a link or a request. */
export const Code = ({ label, text }: { readonly label: string; readonly text: string }): JSX.Element => (
  <figure class="code">
    <figcaption>{label}</figcaption>
    <button type="button" class="btn s copy js-only" data-copy>
      Copy
    </button>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  </figure>
);
