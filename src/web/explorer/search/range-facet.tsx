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

/** One of the two bounds of a facet: a typed field, and a slider over the bars. */
interface Bound {
  readonly kind: "min" | "max";
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  /** The bound of all counted values. */
  readonly hint: number | undefined;
  /** The edge of a bar at which its slider stands. */
  readonly at: number;
}

export const RangeFacetField = ({ definition, ranges, view }: RangeFacetProps): JSX.Element | null => {
  const { name, title, parameters, step = 1 } = definition;
  const [minName, maxName = ""] = parameters;
  const { [minName]: min, [maxName]: max } = view;
  if (ranges.length === 0 && min === undefined && max === undefined) return null;
  const edges = [...ranges.map((range) => range.min), ...ranges.slice(-1).map((range) => range.max)];
  const bars = Math.max(1, edges.length - 1);
  const from = min === undefined ? 0 : edges.findLastIndex((edge) => edge <= Number(min));
  const until = max === undefined ? -1 : edges.findIndex((edge) => edge > Number(max));
  const lowest = edges[0];
  const highest = edges.at(-1);
  const lowestName = `Lowest ${title.toLowerCase()}`;
  const highestName = `Highest ${title.toLowerCase()}`;
  const lower: Bound = {
    kind: "min",
    name: minName,
    label: lowestName,
    value: min,
    hint: lowest,
    at: Math.max(0, from),
  };
  const upper: Bound = {
    kind: "max",
    name: maxName,
    label: highestName,
    value: max,
    hint: highest === undefined ? undefined : below(highest, step),
    at: until < 0 ? bars : until,
  };
  return (
    <fieldset class="group range" id={`facet-${name}`} data-edges={edges.join()}>
      <legend class="title">
        <h2>{title}</h2>
        <span>{wordsOf(title, min, max)}</span>
      </legend>
      <Histogram title={title} ranges={ranges} step={step} min={min} max={max} />
      <div class="sliders js-only">
        {[lower, upper].map(({ kind, label, at }) => (
          <input key={kind} type="range" min={0} max={bars} value={at} data-bound={kind} aria-label={label} />
        ))}
      </div>
      <div class="pair">
        <BoundField {...lower} step={step} />
        <span aria-hidden="true">to</span>
        <BoundField {...upper} step={step} />
      </div>
    </fieldset>
  );
};

const BoundField = ({ name, label, value = "", hint, step }: Bound & { readonly step: number }): JSX.Element => (
  <input
    type="number"
    id={name}
    name={name}
    value={value}
    aria-label={label}
    placeholder={String(hint ?? "")}
    min={hint !== undefined && hint < 0 ? undefined : 0}
    step={step === 1 ? undefined : step}
    inputMode={step === 1 ? "numeric" : "decimal"}
  />
);

/** Returns the chosen bounds in words. */
function wordsOf(title: string, min: string | undefined, max: string | undefined): string {
  const text = (value: string): string => (Number.isFinite(Number(value)) ? bound(title, Number(value)) : value);
  if (min !== undefined && max !== undefined) return `${text(min)} to ${text(max)}`;
  if (min !== undefined) return `from ${text(min)}`;
  return max === undefined ? "any" : `to ${text(max)}`;
}

/** Returns the greatest value below the end of a range, without floating-point noise. */
const below = (end: number, step: number): number => Number((end - step).toFixed(9));

/** Years are written without separators. */
const bound = (title: string, value: number): string => (title === "Year" ? String(value) : decimal(value));

const barWidth = 10;
const gap = 1;
const height = 40;
const dotSize = 8;

/** The most listings that are drawn as dots. */
const sparseMax = 9;

interface HistogramProps {
  readonly title: string;
  readonly ranges: readonly CountedRange[];
  readonly step: number;
  readonly min: string | undefined;
  readonly max: string | undefined;
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

/** Returns where most listings are, for those who do not see the bars. */
function summaryOf(ranges: readonly CountedRange[], step: number): string {
  const [fullest] = [...ranges].sort((one, other) => other.count - one.count);
  return fullest === undefined ? "no listings" : `most listings from ${fullest.min} to ${below(fullest.max, step)}`;
}
