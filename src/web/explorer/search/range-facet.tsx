/** A facet of a number: a histogram of the matching listings, with a lower and an upper bound. */
import type { JSX } from "preact";
import { count } from "../../shell/format.ts";
import type { CountedRange, FacetDefinition } from "../facets.ts";
import type { ViewParameters } from "../view.ts";

interface RangeFacetProps {
  readonly definition: FacetDefinition;
  readonly ranges: readonly CountedRange[];
  readonly view: ViewParameters;
}

export const RangeFacetField = ({ definition, ranges, view }: RangeFacetProps): JSX.Element => {
  const { name, title, parameters } = definition;
  const [minName, maxName = ""] = parameters;
  const edges = [...ranges.map(({ min }) => min), ...ranges.slice(-1).map(({ max }) => max)];
  return (
    <fieldset class="facet range" id={`facet-${name}`} data-edges={edges.join()}>
      <legend>
        <h2>{title}</h2>
      </legend>
      <Histogram title={title} ranges={ranges} min={view[minName]} max={view[maxName]} />
      <Sliders title={title} edges={edges} min={view[minName]} max={view[maxName]} />
      <div class="bounds">
        <BoundField name={minName} label={`Lowest ${title.toLowerCase()}`} value={view[minName]} hint={edges[0]} />
        <span aria-hidden="true">to</span>
        <BoundField
          name={maxName}
          label={`Highest ${title.toLowerCase()}`}
          value={view[maxName]}
          hint={edges.length === 0 ? undefined : (edges.at(-1) ?? 1) - 1}
        />
      </div>
    </fieldset>
  );
};

const [barWidth, gap, height] = [10, 1, 40];

interface BoundsProps {
  readonly min: string | undefined;
  readonly max: string | undefined;
}

/** The bars of a histogram have equal widths. Those within the bounds are emphasized. */
const Histogram = ({
  title,
  ranges,
  min,
  max,
}: BoundsProps & { readonly title: string; readonly ranges: readonly CountedRange[] }) => {
  const highest = Math.max(1, ...ranges.map((range) => range.count));
  const isBounded = min !== undefined || max !== undefined;
  const isWithin = (range: CountedRange): boolean =>
    (min === undefined || range.max - 1 >= Number(min)) && (max === undefined || range.min <= Number(max));
  return (
    <svg
      class="histogram"
      viewBox={`0 0 ${Math.max(1, ranges.length) * barWidth} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${title}: ${summaryOf(ranges)}`}
    >
      {ranges.map((range, index) => {
        const size = range.count === 0 ? 0 : Math.max(1, (range.count / highest) * height);
        return (
          <rect
            key={range.min}
            class={isBounded && isWithin(range) ? "within" : "outside"}
            x={index * barWidth}
            y={height - size}
            width={barWidth - gap}
            height={size}
          >
            <title>{`${bound(title, range.min)} to ${bound(title, range.max - 1)}: ${count(range.count)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
};

/** Years are written without separators. */
const bound = (title: string, value: number): string => (title === "Year" ? String(value) : count(value));

/** Returns where most listings are, for those who do not see the bars. */
function summaryOf(ranges: readonly CountedRange[]): string {
  const [fullest] = [...ranges].sort((one, other) => other.count - one.count);
  return fullest === undefined ? "no listings" : `most listings from ${fullest.min} to ${fullest.max - 1}`;
}

/** Two sliders over the bars, in steps of one bar; a browser module shows them and keeps them equal to the bounds. */
const Sliders = ({
  title,
  edges,
  min,
  max,
}: BoundsProps & { readonly title: string; readonly edges: readonly number[] }) => {
  const bars = Math.max(1, edges.length - 1);
  const from =
    min === undefined
      ? 0
      : Math.max(
          0,
          edges.findLastIndex((edge) => edge <= Number(min)),
        );
  const until = max === undefined ? -1 : edges.findIndex((edge) => edge > Number(max));
  return (
    <div class="sliders js-only">
      <input
        type="range"
        min={0}
        max={bars}
        value={from}
        data-bound="min"
        aria-label={`Lowest ${title.toLowerCase()}`}
      />
      <input
        type="range"
        min={0}
        max={bars}
        value={until < 0 ? bars : until}
        data-bound="max"
        aria-label={`Highest ${title.toLowerCase()}`}
      />
    </div>
  );
};

interface BoundFieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly hint: number | undefined;
}

const BoundField = ({ name, label, value, hint }: BoundFieldProps): JSX.Element => (
  <input
    type="number"
    id={name}
    name={name}
    min={0}
    inputMode="numeric"
    aria-label={label}
    value={value ?? ""}
    placeholder={hint === undefined ? "" : String(hint)}
  />
);
