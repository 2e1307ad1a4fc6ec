/** A sheet with a table, whose headings sort by the address of its page. */
import { sortingOf } from "./numbers.tsx";
import { Sheet, type SheetProps } from "./sheet.tsx";
import { DataTable, type TableProps } from "./table.tsx";

interface TableSheetProps<Row> extends SheetProps, Omit<TableProps<Row>, "label" | "sorting"> {
  /** What the table is; by default, the title of the sheet. */
  readonly label?: string;
  /** The address of a page whose table sorts by its columns with values. */
  readonly sorts?: { readonly path: string; readonly query: URLSearchParams };
  /** The order of the rows that the page has: the sort of a column, after `-` if it descends. */
  readonly first?: string;
}

/** A sheet with a table below what else it has. */
export function TableSheet<Row>(given: TableSheetProps<Row>) {
  const { rows, rowsMax, columns, sorts, first, isMine, hasPictures, empty, label, children, ...sheet } = given;
  const { id = "", title } = sheet;
  const sorting = sorts && sortingOf(id, sorts.path, sorts.query, id);
  return (
    <Sheet {...sheet}>
      {children}
      <DataTable
        label={label ?? String(title)}
        rows={rows}
        rowsMax={rowsMax}
        columns={columns.map((column) => ({
          ...column,
          sort: column.value === undefined ? undefined : (column.sort ?? sortOf(String(column.title))),
        }))}
        empty={empty}
        hasPictures={hasPictures}
        isMine={isMine}
        sorting={sorting && { ...sorting, current: sorting.current ?? first }}
      />
    </Sheet>
  );
}

const sortOf = (title: string): string => title.toLowerCase().replaceAll(" ", "-");
