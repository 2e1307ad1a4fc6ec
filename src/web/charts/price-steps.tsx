/** A price over days as steps, each labeled with its change, against another price by day. */
import type { JSX } from "preact";
import { dollars, shortDollars } from "../shell/format.ts";
import { type Axis, dayAxis, roundAxis, timeOfDay } from "./axis.ts";
import { PlotArea } from "./plot-area.tsx";

export interface PriceOfDay {
  readonly day: string;
  readonly value: number | null;
}

interface PriceStepsProps {
  readonly title: string;
  /** The prices, each of which lasts until the next one. */
  readonly steps: readonly PriceOfDay[];
  /** What they are compared with: a value for each day, or one for the last day. */
  readonly others: readonly PriceOfDay[];
  readonly otherName: string;
}

/** The most changes with a label. */
const labelsMax = 6;

export const PriceSteps = ({ title, steps, others, otherName }: PriceStepsProps): JSX.Element => {
  const values = [...steps, ...others].flatMap(({ value }) => (value === null ? [] : [value]));
  const [min, max] = [Math.min(...values), Math.max(...values)];
  // At least 5 % of the price, so that small changes are not drawn large.
  const margin = Math.max(0, (max * 0.05 - (max - min)) / 2);
  const days = steps.map(({ day }) => day).sort();
  const x = dayAxis(days[0] ?? "", days.at(-1) ?? "", 3);
  const y = roundAxis(values.length === 0 ? [0, 1] : [min - margin, max + margin], shortDollars, 4);
  const [end, otherEnd] = [lastKnown(steps), lastKnown(others)];
  return (
    <PlotArea label={`${title}: ${summaryOf(steps)}`} x={x} y={y}>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" class="lines" aria-hidden="true">
        <path class="line other" d={pathOf(others, x, y, "L")} />
        <path class="line subject" d={pathOf(steps, x, y, "H")} />
      </svg>
      {otherEnd === undefined ? null : (
        <EndLabel name="other" at={y.at(otherEnd)} isAbove={end !== undefined && otherEnd > end}>
          {[otherName, dollars(otherEnd)]}
        </EndLabel>
      )}
      {end === undefined ? null : (
        <EndLabel name="subject" at={y.at(end)}>
          {[dollars(end)]}
        </EndLabel>
      )}
      <Changes steps={steps} x={x} y={y} />
    </PlotArea>
  );
};

const lastKnown = (prices: readonly PriceOfDay[]): number | undefined =>
  prices.flatMap(({ value }) => (value === null ? [] : [value])).at(-1);

const summaryOf = (steps: readonly PriceOfDay[]): string => {
  const known = steps.flatMap(({ value }) => (value === null ? [] : [dollars(value)]));
  return `from ${known[0] ?? "unknown"} to ${known.at(-1) ?? "unknown"}`;
};

interface EndLabelProps {
  readonly name: "subject" | "other";
  readonly at: number;
  readonly isAbove?: boolean;
  readonly children: readonly string[];
}

/** A label beside the end of a line; of several words, below each other. */
const EndLabel = ({ name, at, isAbove = false, children }: EndLabelProps): JSX.Element => (
  <g class={`end-label ${name}`}>
    <circle cx="100%" cy={`${100 - at}%`} r="3" />
    {children.map((line, index) => (
      <text key={line} x="100%" dx="8" y={`${100 - at}%`} dy={(isAbove ? index - 1 : index) * 14 + 4}>
        {line}
      </text>
    ))}
  </g>
);

interface ChangesProps {
  readonly steps: readonly PriceOfDay[];
  readonly x: Axis;
  readonly y: Axis;
}

/** Marks where the price changes. */
const Changes = ({ steps, x, y }: ChangesProps): JSX.Element => {
  const changes = steps.slice(1).flatMap(({ day, value }, index) => {
    const before = steps[index]?.value ?? null;
    return value === null || before === null || value === before ? [] : [{ day, value, change: value - before }];
  });
  return (
    <g class="subject">
      {changes.map(({ day, value, change }) => {
        const [left, down] = [`${x.at(timeOfDay(day))}%`, `${100 - y.at(value)}%`];
        return (
          <g key={day}>
            <circle cx={left} cy={down} r="3.5" />
            {changes.length > labelsMax ? null : (
              <text x={left} y={down} dx="-6" dy={change < 0 ? 15 : -8} text-anchor="end">
                {`${change > 0 ? "+" : ""}${dollars(change)}`}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
};

/** Returns the path through the known values: by straight lines, or by steps. */
function pathOf(prices: readonly PriceOfDay[], x: Axis, y: Axis, by: "L" | "H"): string {
  const parts: string[] = [];
  let isInterrupted = true;
  for (const { day, value } of prices) {
    if (value !== null) {
      const [left, down] = [x.at(timeOfDay(day)).toFixed(2), (100 - y.at(value)).toFixed(2)];
      parts.push(isInterrupted ? `M${left},${down}` : by === "H" ? `H${left}V${down}` : `L${left},${down}`);
    }
    isInterrupted = value === null;
  }
  return parts.join("");
}
