/** A chart with its title, its key, its numbers as a table and as CSV, and its drawing as PNG and SVG. */
import type { ComponentChildren, JSX } from "preact";
import { csvLines, escapeFormula } from "../../formats/table-formats.ts";
import { SeriesName } from "./plot-area.tsx";

/** A number, a text, or one with a link to a page. */
export type NumbersCell = string | number | null | { readonly text: string | number; readonly path: string };

export interface NumbersColumn {
  /** The name of the column in CSV. */
  readonly name: string;
  readonly title: string;
  /** Formats the numbers of the table; without it, the column has texts. */
  readonly format?: (value: number) => string;
}

interface Numbers {
  readonly columns: readonly NumbersColumn[];
  readonly rows: readonly (readonly NumbersCell[])[];
}

export interface ChartFigureProps {
  /** Distinguishes the charts of a page, and names the CSV file. */
  readonly id: string;
  readonly title: string;
  /** A description of the chart, with units. */
  readonly note: ComponentChildren;
  /** The names of several series in one plot. */
  readonly names?: readonly string[];
  readonly isWide?: boolean;
  /** Whether the table is open at first. */
  readonly isOpen?: boolean;
  readonly numbers: Numbers;
  /** The text for a chart without numbers. */
  readonly empty?: string;
  readonly children: ComponentChildren;
}

export const ChartFigure = (props: ChartFigureProps): JSX.Element => {
  const { id, title, note, names = [], isWide = false, isOpen = false, numbers, children } = props;
  const { empty = "No listing has these values." } = props;
  const isEmpty = numbers.rows.length === 0;
  return (
    <figure class={isWide ? "graph wide" : "graph"}>
      <figcaption>
        <div class="head">
          <h2>{title}</h2>
          {isEmpty ? null : <ChartFiles id={id} title={title} numbers={numbers} />}
        </div>
        <p class="sub">{note}</p>
      </figcaption>
      {names.length < 2 ? null : (
        <ul class="graph-key">
          {names.map((name, index) => (
            <li key={index}>
              <SeriesName series={index + 1} name={name} />
            </li>
          ))}
        </ul>
      )}
      {isEmpty ? <p class="empty">{empty}</p> : children}
      {isEmpty ? null : (
        <details class="numbers" id={`numbers-${id}`} open={isOpen}>
          <summary>
            Table<span class="vh"> of {title}</span>
          </summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <section class="scroll" aria-label={`Numbers of ${title}`} tabIndex={0}>
            <NumbersTable {...numbers} />
          </section>
        </details>
      )}
    </figure>
  );
};

/** The numbers as a file, and the drawing as one, which a browser module writes (`client/drawings.ts`). */
export const ChartFiles = ({ id, title, numbers }: Pick<ChartFigureProps, "id" | "title" | "numbers">): JSX.Element => (
  <span class="end">
    <a href={csvUrl(numbers)} download={`${id}.csv`}>
      CSV<span class="vh"> of {title}</span>
    </a>
    {["PNG", "SVG"].map((format) => (
      <button type="button" class="plain js-only" key={format} data-draw={`${id}.${format.toLowerCase()}`}>
        {format}
        <span class="vh"> of {title}</span>
      </button>
    ))}
  </span>
);

const NumbersTable = ({ columns, rows }: Numbers): JSX.Element => {
  const classOf = ({ format }: NumbersColumn): string | undefined => (format === undefined ? undefined : "num");
  return (
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} scope="col" class={classOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {columns.map((column, at) => (
              <td key={column.name} class={classOf(column)}>
                {cellContent(row[at] ?? null, column)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
};

function cellContent(cell: NumbersCell, column: NumbersColumn): ComponentChildren {
  if (cell === null) return "–";
  if (typeof cell === "object") return <a href={cell.path}>{cellContent(cell.text, column)}</a>;
  return typeof cell === "number" ? (column.format ?? String)(cell) : cell;
}

/** Returns a data URL of a CSV file. */
function csvUrl({ columns, rows }: Numbers): string {
  const lines = csvLines([columns.map(({ name }) => name), ...rows.map((row) => row.map(csvCellOf))]);
  return `data:text/csv;charset=utf-8,${encodeURIComponent(lines)}`;
}

function csvCellOf(cell: NumbersCell): string | undefined {
  if (cell === null) return undefined;
  if (typeof cell === "object") return csvCellOf(cell.text);
  return typeof cell === "number" ? String(cell) : escapeFormula(cell);
}
