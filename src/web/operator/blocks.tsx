/** Parts of the operator's pages: sections, tables of rows, and commands. */
import type { ComponentChildren, JSX } from "preact";
import { ScrollingTable } from "../account/dashboard-page.tsx";

interface BlockProps {
  readonly id: string;
  readonly title: ComponentChildren;
  /** `block` by default. */
  readonly class?: string;
  readonly children: ComponentChildren;
}

export const Block = ({ id, title, class: className = "block", children }: BlockProps): JSX.Element => (
  <section class={className} aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

interface DataTableProps {
  readonly label: string;
  /** The names of the columns, those of numbers after `#`. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}

export const DataTable = ({ label, columns, rows }: DataTableProps): JSX.Element => {
  const classes = columns.map((column) => (column.startsWith("#") ? "num" : undefined));
  if (rows.length === 0) return <p class="muted">None.</p>;
  return (
    <ScrollingTable label={label}>
      <thead>
        <tr>
          {columns.map((column, index) => (
            <th key={column} class={classes[index]}>
              {column.replace("#", "")}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, row) => (
          <tr key={row}>
            {cells.map((cell, index) => (
              <td key={columns[index]} class={classes[index]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </ScrollingTable>
  );
};

export const AccountLink = ({ id }: { readonly id: string | null }): JSX.Element | null =>
  id === null ? null : <a href={`/operator/accounts/${id}`}>{id}</a>;
