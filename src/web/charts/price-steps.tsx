/** A price over days as steps, each labeled with its change, against another price by day. */
import type { JSX } from "preact";
import { dollars, shortPrice } from "../shell/format.ts";
import { type Axis, circleAt, dayAxis, percentText, roundAxis, steadyExtent, timeOfDay } from "./axis.ts";
import { knownValues, Lines, type ValueOfDay as PriceOfDay, pathOverDays, spanText } from "./lines.tsx";
import { PlotArea } from "./plot-area.tsx";

export type { ValueOfDay as PriceOfDay } from "./lines.tsx";

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
  const prices = knownValues(steps);
  const otherPrices = knownValues(others);
  const x = dayAxis(
    steps.map(({ day }) => day),
    3,
  );
  const y = roundAxis(steadyExtent([...prices, ...otherPrices]), shortPrice);
  const end = prices.at(-1);
  const otherEnd = otherPrices.at(-1);
  return (
    <PlotArea label={`${title}: ${spanText(steps, dollars)}`} x={x} y={y}>
      <Lines
        paths={[
          ["other", pathOverDays(others, [x, y])],
          ["subject", pathOverDays(steps, [x, y], "H")],
        ]}
      />
      {otherEnd === undefined ? null : (
        <EndLabel
          name="other"
          at={y.at(otherEnd)}
          lines={[otherName, dollars(otherEnd)]}
          isAbove={end !== undefined && otherEnd > end}
        />
      )}
      {end === undefined ? null : <EndLabel name="subject" at={y.at(end)} lines={[dollars(end)]} />}
      <Changes steps={steps} x={x} y={y} />
    </PlotArea>
  );
};

interface EndLabelProps {
  readonly name: "subject" | "other";
  readonly at: number;
  readonly isAbove?: boolean;
  readonly lines: readonly string[];
}

/** A label beside the end of a line; of several words, below each other. */
const EndLabel = ({ name, at, isAbove = false, lines }: EndLabelProps): JSX.Element => (
  <g class={`end-label ${name}`}>
    <circle {...circleAt(100, at)} r="3" />
    {lines.map((line, index) => (
      <text key={line} x="100%" dx="8" y={percentText(100 - at)} dy={(isAbove ? index - 1 : index) * 14 + 4}>
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
        const circle = circleAt(x.at(timeOfDay(day)), y.at(value));
        return (
          <g key={day}>
            <circle {...circle} r="3.5" />
            {changes.length > labelsMax ? null : (
              <text x={circle.cx} y={circle.cy} dx="-6" dy={change < 0 ? 15 : -8} text-anchor="end">
                {`${change > 0 ? "+" : ""}${dollars(change)}`}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
};
