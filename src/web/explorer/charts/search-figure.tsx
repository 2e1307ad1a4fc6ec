/** A chart of what has been loaded for one or several searches: its key and its table name them. */
import type { JSX } from "preact";
import {
  ChartFigure,
  type ChartFigureProps,
  type NumbersCell,
  type NumbersColumn,
} from "../../charts/chart-figure.tsx";
import { count, dollars } from "../../shell/format.ts";

interface SearchFigureProps<Part> extends Omit<ChartFigureProps, "names" | "numbers"> {
  readonly parts: readonly Part[];
  /** What the key has beside the name of a search. */
  readonly keyText?: (part: Part) => string;
  /** Whether the plots have the names of the searches, so that no key is needed. */
  readonly isNamed?: boolean;
  readonly columns: readonly NumbersColumn[];
  readonly rowsOf: (part: Part) => readonly (readonly NumbersCell[])[];
}

export const listingsColumn = { name: "listings", title: "Listings", format: count };
export const medianColumn = { name: "median_price", title: "Median price", format: dollars };

export const SearchFigure = <Part extends { readonly search: { readonly name: string } }>({
  parts,
  keyText = () => "",
  isNamed = false,
  columns,
  rowsOf,
  ...rest
}: SearchFigureProps<Part>): JSX.Element => {
  const isCompared = parts.length > 1;
  return (
    <ChartFigure
      {...rest}
      names={isNamed ? [] : parts.map((part) => `${part.search.name}${keyText(part)}`)}
      numbers={{
        columns: isCompared ? [{ name: "search", title: "Search" }, ...columns] : columns,
        rows: parts.flatMap((part) => rowsOf(part).map((row) => (isCompared ? [part.search.name, ...row] : row))),
      }}
    />
  );
};
