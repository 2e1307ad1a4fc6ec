/** The figure: its title is the answer, its subtitle the measure, unit and sample; below the chart its numbers as a table, its image, and its statement. */
import type { ComponentChildren, JSX } from "preact";
import { type Numbers, numbersUrl } from "./numbers.tsx";
import { DataTable } from "./table.tsx";

interface FigureProps<Row> {
  /** Distinguishes the figures of a page, and names its files: words joined by hyphens. */
  readonly id: string;
  /** The answer, in words. */
  readonly title: ComponentChildren;
  /** What is measured, in which unit, of how many. */
  readonly of?: ComponentChildren;
  /** A `Chart`, or a sentence for fewer than 10 values. */
  readonly children: ComponentChildren;
  /** The numbers of the chart. */
  readonly numbers?: Numbers<Row> | undefined;
  /** The statement that returns them. */
  readonly sql?: string | undefined;
  /** What stands between the chart and its tools, such as segments. */
  readonly controls?: ComponentChildren;
}

export const Figure = <Row,>(props: FigureProps<Row>): JSX.Element => {
  const { id, title, of, children, numbers, sql, controls } = props;
  return (
    <figure class="fig" id={id}>
      <figcaption>
        <h2>{title}</h2>
        {of === undefined ? null : <p class="of">{of}</p>}
      </figcaption>
      {children}
      {controls}
      <div class="tools">
        {numbers === undefined ? null : (
          <details id={`numbers-${id}`} open={numbers.sorting?.current !== undefined}>
            <summary>Table</summary>
            <DataTable label={`Numbers of ${id.replaceAll("-", " ")}`} {...numbers} />
            <a href={numbersUrl(numbers)} download={`${id}.csv`}>
              CSV
            </a>
          </details>
        )}
        <details class="image js-only">
          <summary>Image</summary>
          {["PNG", "SVG"].map((format) => (
            <button type="button" key={format} data-draw={`${id}.${format.toLowerCase()}`}>
              {format}
            </button>
          ))}
        </details>
        {sql === undefined ? null : <a href={`/sql?${new URLSearchParams({ statement: sql })}`}>SQL</a>}
      </div>
    </figure>
  );
};
