/** A facet of a number: a histogram of the matching listings, with a lower and an upper bound. */
import type { JSX } from "preact";
import { count, decimal } from "../../shell/format.ts";
import type { CountedRange, FacetDefinition } from "../facets.ts";
import type { ViewParameters } from "../view.ts";

interface RangeFacetProps {
  readonly definition: FacetDefinition;
  readonly ranges: readonly CountedRange[];
  readonly view: ViewParameters;
}

export const RangeFacetField = ({ definition, ranges, view }: RangeFacetProps): JSX.Element | null => {
  const { name, title, parameters, step = 1 } = definition;
  const [minName, maxName = ""] = parameters;
  if (ranges.length === 0 && view[minName] === undefined && view[maxName] === undefined) return null;
  const edges = [...ranges.map(({ min }) => min), ...ranges.slice(-1).map(({ max }) => max)];
  return (
    <fieldset class="group range" id={`facet-${name}`} data-edges={edges.join()}>
      <legend class="title">
        <h2>{title}</h2>
        <span>{wordsOf(title, view[minName], view[maxName])}</span>
      </legend>
      <Histogram title={title} ranges={ranges} step={step} min={view[minName]} max={view[maxName]} />
      <Sliders title={title} edges={edges} min={view[minName]} max={view[maxName]} />
      <div class="pair">
        <BoundField
          name={minName}
          label={`Lowest ${title.toLowerCase()}`}
          value={view[minName]}
          hint={edges[0]}
          step={step}
        />
        <span aria-hidden="true">to</span>
        <BoundField
          name={maxName}
          label={`Highest ${title.toLowerCase()}`}
          value={view[maxName]}
          hint={edges.length === 0 ? undefined : below(edges.at(-1) ?? 1, step)}
          step={step}
        />
      </div>
    </fieldset>
  );
};

/** Returns the chosen bounds in words. */
function wordsOf(title: string, min: string | undefined, max: string | undefined): string {
  const text = (value: string): string => (Number.isFinite(Number(value)) ? bound(title, Number(value)) : value);
  if (min !== undefined && max !== undefined) return `${text(min)} to ${text(max)}`;
  if (min !== undefined) return `from ${text(min)}`;
  return max === undefined ? "any" : `to ${text(max)}`;
}

/** Returns the greatest value below the end of a range, without floating-point noise. */
const below = (end: number, step: number): number => Number((end - step).toFixed(9));

const [barWidth, gap, height, dotSize] = [10, 1, 40, 8];

interface BoundsProps {
  readonly min: string | undefined;
  readonly max: string | undefined;
}

/** The most listings that are drawn as dots. */
const sparseMax = 9;

interface HistogramProps extends BoundsProps {
  readonly title: string;
  readonly ranges: readonly CountedRange[];
  readonly step: number;
}

/** The bars of a histogram have equal widths; a few listings are dots. Those within the bounds are emphasized. */
const Histogram = ({ title, ranges, step, min, max }: HistogramProps): JSX.Element => {
  const highest = Math.max(1, ...ranges.map((range) => range.count));
  const isSparse = ranges.reduce((sum, range) => sum + range.count, 0) <= sparseMax;
  const isWithin = (range: CountedRange): boolean =>
    (min === undefined || below(range.max, step) >= Number(min)) && (max === undefined || range.min <= Number(max));
  return (
    <svg
      class="histogram"
      viewBox={`0 0 ${Math.max(1, ranges.length) * barWidth} ${height}`}
      preserveAspectRatio={isSparse ? undefined : "none"}
      role="img"
      aria-label={`${title}: ${summaryOf(ranges, step)}`}
    >
      {ranges.map((range, index) => (
        <g key={range.min} class={isWithin(range) ? "within" : "outside"}>
          {isSparse ? (
            Array.from({ length: range.count }, (_, dot) => (
              <circle key={dot} cx={(index + 0.5) * barWidth} cy={height - (dot + 0.5) * dotSize} r={dotSize / 2} />
            ))
          ) : (
            <Bar index={index} share={range.count / highest} />
          )}
          <title>{`${bound(title, range.min)} to ${bound(title, below(range.max, step))}: ${count(range.count)}`}</title>
        </g>
      ))}
    </svg>
  );
};

const Bar = ({ index, share }: { readonly index: number; readonly share: number }): JSX.Element => {
  const size = share === 0 ? 0 : Math.max(1, share * height);
  return <rect x={index * barWidth} y={height - size} width={barWidth - gap} height={size} />;
};

/** Years are written without separators. */
const bound = (title: string, value: number): string => (title === "Year" ? String(value) : decimal(value));

/** Returns where most listings are, for those who do not see the bars. */
function summaryOf(ranges: readonly CountedRange[], step: number): string {
  const [fullest] = [...ranges].sort((one, other) => other.count - one.count);
  return fullest === undefined ? "no listings" : `most listings from ${fullest.min} to ${below(fullest.max, step)}`;
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
  readonly step: number;
}

const BoundField = ({ name, label, value, hint, step }: BoundFieldProps): JSX.Element => (
  <input
    type="number"
    id={name}
    name={name}
    min={hint !== undefined && hint < 0 ? undefined : 0}
    step={step === 1 ? undefined : step}
    inputMode={step === 1 ? "numeric" : "decimal"}
    aria-label={label}
    value={value ?? ""}
    placeholder={hint === undefined ? "" : String(hint)}
  />
);
