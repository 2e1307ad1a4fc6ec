/** The numbers of a chart: a table whose headings sort, and a CSV file. */
import type { JSX } from "preact";
import { csvLines, escapeFormula } from "../../formats/table-formats.ts";
import { changedPath } from "../shell/address.ts";
import { DataTable, type Sorting } from "./table.tsx";

/** A number, a text, or one with a link to a page; null if it is unknown. */
type Cell = string | number | null | { readonly text: string | number; readonly path: string };

export interface ChartTable {
  readonly columns: readonly {
    /** Its name in CSV, and in the address of a sorted table. */
    readonly name: string;
    readonly title: string;
    /** Formats its numbers; without it, it has texts. */
    readonly format?: (value: number) => string;
  }[];
  readonly rows: readonly (readonly Cell[])[];
  /** How the page sorts the table, from `sortingOf`. Without it, the headings do not sort. */
  readonly sorting?: Sorting | undefined;
}

/** Returns how a table is sorted by the address of its page: `numbers=price-over-time.-median`. By default it is that of a figure. */
export function sortingOf(id: string, path: string, query: URLSearchParams, anchor = `numbers-${id}`): Sorting {
  const [table, sort] = (query.get("numbers") ?? "").split(".");
  return {
    current: table === id ? sort : undefined,
    pathOf: (next) => `${changedPath(path, query, { numbers: `${id}.${next}` })}#${anchor}`,
  };
}

export const NumbersTable = ({ id, columns, rows, sorting }: ChartTable & { readonly id: string }): JSX.Element => (
  <DataTable
    label={`Numbers of ${id.replaceAll("-", " ")}`}
    columns={columns.map(({ name, ...column }, at) => ({
      ...column,
      sort: name,
      value: (row: readonly Cell[]) => plainOf(row[at]),
      path: (row: readonly Cell[]) => pathOf(row[at]),
    }))}
    rows={rows}
    sorting={sorting}
  />
);

const plainOf = (cell: Cell | undefined): string | number | null =>
  cell === undefined ? null : typeof cell === "object" && cell !== null ? cell.text : cell;

const pathOf = (cell: Cell | undefined): string | undefined =>
  typeof cell === "object" && cell !== null ? cell.path : undefined;

/** Returns a data URL of the numbers as a CSV file. */
export function numbersUrl({ columns, rows }: ChartTable): string {
  const lines = csvLines([columns.map(({ name }) => name), ...rows.map((row) => row.map(csvCell))]);
  return `data:text/csv;charset=utf-8,${encodeURIComponent(lines)}`;
}

function csvCell(cell: Cell): string | undefined {
  const plain = plainOf(cell);
  return typeof plain === "number" ? String(plain) : plain === null ? undefined : escapeFormula(plain);
}
