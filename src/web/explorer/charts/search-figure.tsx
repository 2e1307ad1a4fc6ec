/** A chart of what has been loaded for one or several searches: its key and its table name them. */
import type { ComponentChildren, JSX } from "preact";
import { ChartFigure, type NumbersCell, type NumbersColumn } from "../../charts/chart-figure.tsx";

interface SearchFigureProps<Part> {
  readonly id: string;
  readonly title: string;
  readonly note: ComponentChildren;
  readonly isWide?: boolean;
  readonly empty?: string;
  readonly parts: readonly Part[];
  /** What the key has beside the name of a search. */
  readonly keyText?: (part: Part) => string;
  readonly columns: readonly NumbersColumn[];
  readonly rowsOf: (part: Part) => readonly (readonly NumbersCell[])[];
  readonly children: ComponentChildren;
}

export const SearchFigure = <Part extends { readonly search: { readonly name: string } }>({
  parts,
  keyText = () => "",
  columns,
  rowsOf,
  ...rest
}: SearchFigureProps<Part>): JSX.Element => {
  const isCompared = parts.length > 1;
  return (
    <ChartFigure
      {...rest}
      names={parts.map((part) => `${part.search.name}${keyText(part)}`)}
      numbers={{
        columns: isCompared ? [{ name: "search", title: "Search" }, ...columns] : columns,
        rows: parts.flatMap((part) => rowsOf(part).map((row) => (isCompared ? [part.search.name, ...row] : row))),
      }}
    />
  );
};
