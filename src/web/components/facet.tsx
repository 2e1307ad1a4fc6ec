/** Facets: the filters of a form, as checkbox rows with counts and bars, or as a range with its histogram. */
import type { ComponentChildren, JSX } from "preact";
import { count } from "../shell/format.ts";
import { Meter } from "./table.tsx";

export interface FacetRow {
  readonly value: string;
  readonly text: ComponentChildren;
  readonly count?: number | undefined;
  readonly isChecked: boolean;
}

interface FacetProps {
  readonly legend: string;
  /** The parameter that the checkboxes set. */
  readonly name: string;
  readonly rows: readonly FacetRow[];
  /** The number of which the bars show the parts: by default the greatest count. */
  readonly total?: number | undefined;
  /** Rarer values, to unfold. */
  readonly rest?: readonly FacetRow[];
  /** Whether others than these can be typed. */
  readonly isOpenEnded?: boolean;
}

export const Facet = ({ legend, name, rows, total, rest = [], isOpenEnded = false }: FacetProps): JSX.Element => {
  const whole = total ?? Math.max(1, ...rows.map((row) => row.count ?? 0));
  const label = (row: FacetRow): JSX.Element => (
    <label key={row.value}>
      <input type="checkbox" id={`${name}=${row.value}`} name={name} value={row.value} checked={row.isChecked} />
      <span>{row.text}</span>
      {row.count === undefined ? null : <output>{count(row.count)}</output>}
      <Meter look="share" part={row.count ?? 0} whole={whole} />
    </label>
  );
  return (
    <fieldset class="facet">
      <legend>{legend}</legend>
      {rows.map(label)}
      {rest.length === 0 ? null : (
        <details id={`more-${name}`}>
          <summary>{`${rest.length} more`}</summary>
          {rest.map(label)}
          {isOpenEnded ? (
            <input class="in" name={name} placeholder="Another" aria-label={`${legend}, another`} />
          ) : null}
        </details>
      )}
    </fieldset>
  );
};

interface RangeFacetProps {
  readonly legend: string;
  /** The names of the two parameters, without `min_` and `max_`. */
  readonly name: string;
  /** The texts of the two fields, and what they say while they are empty. */
  readonly texts: readonly [min: string, max: string];
  readonly placeholders: readonly [min: string, max: string];
  /** The counts of equal parts of the range, in order, and whether each one is in the selection. */
  readonly bars: readonly { readonly count: number; readonly isIn: boolean }[];
}

/** A range of numbers: a histogram above two fields. */
export const RangeFacet = ({ legend, name, texts, placeholders, bars }: RangeFacetProps): JSX.Element => (
  <fieldset class="facet">
    <legend>{legend}</legend>
    {bars.length === 0 ? null : <Histogram bars={bars} />}
    <div class="pair">
      {(["min", "max"] as const).map((end, index) => (
        <>
          {index === 0 ? null : <span>to</span>}
          <input
            class="in"
            type="text"
            inputMode="numeric"
            id={`${end}_${name}`}
            name={`${end}_${name}`}
            value={texts[index]}
            placeholder={placeholders[index]}
            aria-label={`${legend}, ${end === "min" ? "from" : "to"}`}
          />
        </>
      ))}
    </div>
  </fieldset>
);

const histogramHeight = 44;

const Histogram = ({ bars }: Pick<RangeFacetProps, "bars">): JSX.Element => {
  const highest = Math.max(1, ...bars.map((bar) => bar.count));
  const step = 100 / bars.length;
  return (
    <svg class="histo" viewBox={`0 0 100 ${histogramHeight}`} preserveAspectRatio="none" aria-hidden="true">
      {bars.map(({ count: size, isIn }, index) => {
        const height = Math.max(1, (histogramHeight * size) / highest);
        return (
          <rect
            key={index}
            class={isIn ? "chosen" : undefined}
            x={(index * step).toFixed(2)}
            y={(histogramHeight - height).toFixed(1)}
            width={(step * 0.85).toFixed(2)}
            height={height.toFixed(1)}
          />
        );
      })}
    </svg>
  );
};
