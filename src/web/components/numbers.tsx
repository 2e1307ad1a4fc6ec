/** The numbers of a chart: a table whose headings sort, and a CSV file. */
import type { ComponentChildren, JSX } from "preact";
import { csvLines, escapeFormula } from "../../formats/table-formats.ts";
import { DataTable, type Sorting } from "./table.tsx";

/** A number, a text, or one with a link to a page; null if it is unknown. */
export type Cell = string | number | null | { readonly text: string | number; readonly path: string };

export interface NumbersColumn {
  /** Its name in CSV, and in the address of a sorted table. */
  readonly name: string;
  readonly title: string;
  /** Formats its numbers; without it, it has texts. */
  readonly format?: (value: number) => string;
}

export interface ChartTable {
  readonly columns: readonly NumbersColumn[];
  readonly rows: readonly (readonly Cell[])[];
  /** How the page sorts the table, from `sortingOf`. Without it, a browser module sorts alone. */
  readonly sorting?: Sorting | undefined;
}

/** Returns how a table is sorted by the address of its page: `numbers=price-over-time.-median`. By default it is that of a figure. */
export function sortingOf(id: string, path: string, query: URLSearchParams, anchor = `numbers-${id}`): Sorting {
  const [table, sort] = (query.get("numbers") ?? "").split(".");
  return {
    current: table === id ? sort : undefined,
    pathOf: (next) => {
      const changed = new URLSearchParams(query);
      changed.set("numbers", `${id}.${next}`);
      return `${path}?${changed}#${anchor}`;
    },
  };
}

export const NumbersTable = ({ id, ...table }: ChartTable & { readonly id: string }): JSX.Element => (
  <DataTable
    label={`Numbers of ${id.replaceAll("-", " ")}`}
    columns={table.columns.map((column, at) => ({
      title: column.title,
      sort: column.name,
      isNumber: column.format !== undefined,
      cell: (row: readonly Cell[]) => contentOf(row[at] ?? null, column),
    }))}
    rows={sorted(table)}
    {...(table.sorting === undefined ? {} : { sorting: table.sorting })}
  />
);

/** Returns rows in the order of a column; unknown values are last. */
function sorted({ columns, rows, sorting }: ChartTable): ChartTable["rows"] {
  const sort = sorting?.current ?? "";
  const at = columns.findIndex(({ name }) => name === sort.replace(/^-/, ""));
  return at < 0 ? rows : ordered(rows, (row) => plainOf(row[at]), sort.startsWith("-"));
}

/** Returns rows in the order of a value, by default ascending; unknown values are last. */
export function ordered<Row>(
  rows: readonly Row[],
  sortValue: (row: Row) => string | number | null,
  isDescending = false,
): readonly Row[] {
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const value = sortValue(one);
    const next = sortValue(other);
    if (value === null || next === null) return Number(value === null) - Number(next === null);
    return (
      sign *
      (typeof value === "number" && typeof next === "number" ? value - next : `${value}`.localeCompare(`${next}`))
    );
  });
}

const plainOf = (cell: Cell | undefined): string | number | null =>
  cell === undefined ? null : typeof cell === "object" && cell !== null ? cell.text : cell;

function contentOf(cell: Cell, column: NumbersColumn): ComponentChildren {
  if (cell === null) return "–";
  if (typeof cell === "object") return <a href={cell.path}>{contentOf(cell.text, column)}</a>;
  return typeof cell === "number" ? (column.format ?? String)(cell) : cell;
}

/** Returns a data URL of the numbers as a CSV file. */
export function numbersUrl({ columns, rows }: ChartTable): string {
  const lines = csvLines([columns.map(({ name }) => name), ...rows.map((row) => row.map(csvCell))]);
  return `data:text/csv;charset=utf-8,${encodeURIComponent(lines)}`;
}

function csvCell(cell: Cell): string | undefined {
  const plain = plainOf(cell);
  if (plain === null) return undefined;
  return typeof plain === "number" ? String(plain) : escapeFormula(plain);
}
