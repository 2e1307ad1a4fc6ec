/** The numbers of a chart: a table whose headings sort, and a CSV file. */
import { csvLines, escapeFormula } from "../../formats/table-formats.ts";
import { changedPath } from "../shell/address.ts";
import type { Sorting, TableColumn } from "./table.tsx";

export interface Numbers<Row> {
  /** Each with a value, and the name by which addresses sort and the file has it. */
  readonly columns: readonly (TableColumn<Row> & Required<Pick<TableColumn<Row>, "sort" | "value">>)[];
  readonly rows: readonly Row[];
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

/** Returns a data URL of the numbers as a CSV file. */
export function numbersUrl<Row>({ columns, rows }: Numbers<Row>): string {
  const cells = rows.map((row) => columns.map(({ value }) => value(row) ?? undefined));
  const texts = cells.map((row) =>
    row.map((cell) => (typeof cell === "string" ? escapeFormula(cell) : cell?.toString())),
  );
  return `data:text/csv;charset=utf-8,${encodeURIComponent(csvLines([columns.map(({ sort }) => sort), ...texts]))}`;
}
