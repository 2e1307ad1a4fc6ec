/** A chart with its title, its key, its numbers as a table and as CSV, and its drawing as PNG and SVG. */
import type { ComponentChildren, JSX } from "preact";
import { csvLines, escapeFormula } from "../../formats/csv.ts";
import { SeriesName } from "./plot-area.tsx";

/** A number, a text, or a text with a link to a page. */
export type NumbersCell = string | number | null | { readonly text: string; readonly path: string };

export interface NumbersColumn {
  /** The name of the column in CSV. */
  readonly name: string;
  readonly title: string;
  /** Formats the numbers of the table; without it, the column has texts. */
  readonly format?: (value: number) => string;
}

export interface Numbers {
  readonly columns: readonly NumbersColumn[];
  readonly rows: readonly (readonly NumbersCell[])[];
}

interface ChartFigureProps {
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
  return (
    <figure class={isWide ? "graph wide" : "graph"}>
      <figcaption>
        <div class="head">
          <h2>{title}</h2>
          {numbers.rows.length === 0 ? null : <ChartFiles id={id} title={title} numbers={numbers} />}
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
      {numbers.rows.length === 0 ? <p class="empty">{empty}</p> : children}
      {numbers.rows.length === 0 ? null : <NumbersTable id={id} title={title} isOpen={isOpen} numbers={numbers} />}
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

type NumbersTableProps = Pick<ChartFigureProps, "id" | "title" | "isOpen" | "numbers">;

const NumbersTable = ({ id, title, isOpen, numbers }: NumbersTableProps): JSX.Element => {
  const { columns, rows } = numbers;
  return (
    <details class="numbers" id={`numbers-${id}`} open={isOpen}>
      <summary>
        Table<span class="vh"> of {title}</span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="scroll" aria-label={`Numbers of ${title}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.name} scope="col" class={column.format === undefined ? undefined : "num"}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {columns.map((column, at) => (
                  <td key={column.name} class={column.format === undefined ? undefined : "num"}>
                    {cellContent(row[at] ?? null, column)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
};

function cellContent(cell: NumbersCell, { format = String }: NumbersColumn): ComponentChildren {
  if (cell === null) return "–";
  if (typeof cell === "number") return format(cell);
  return typeof cell === "string" ? cell : <a href={cell.path}>{cell.text}</a>;
}

/** Returns a data URL of a CSV file. */
export function csvUrl({ columns, rows }: Numbers): string {
  const cells = rows.map((row) => row.map(csvCellOf));
  return `data:text/csv;charset=utf-8,${encodeURIComponent(csvLines([columns.map(({ name }) => name), ...cells]))}`;
}

function csvCellOf(cell: NumbersCell): string | undefined {
  if (cell === null || typeof cell === "number") return cell?.toString();
  return escapeFormula(typeof cell === "string" ? cell : cell.text);
}
