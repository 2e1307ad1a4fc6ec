/** Lines of plots: values along an axis, interrupted where one is unknown. */
import type { JSX } from "preact";
import { type Axis, rounded, timeOfDay } from "./axis.ts";

export interface ValueOfDay {
  readonly day: string;
  readonly value: number | null;
}

export const knownValues = (values: readonly { readonly value: number | null }[]): readonly number[] =>
  values.flatMap(({ value }) => value ?? []);

/** Describes the first and the last known value. */
export function spanText(values: readonly ValueOfDay[], format: (value: number) => string): string {
  const known = knownValues(values).map(format);
  return `from ${known[0] ?? "unknown"} to ${known.at(-1) ?? "unknown"}`;
}

/** Returns the path through points, in percent from the left and the base: by straight lines, or by steps. */
export function pathThrough(points: readonly (readonly [x: number, y: number | null])[], by: "L" | "H" = "L"): string {
  const parts = points.map(([x, y], index) => {
    if (y === null) return "";
    const left = rounded(x);
    const top = rounded(100 - y);
    if ((points[index - 1]?.[1] ?? null) === null) return `M${left},${top}`;
    return by === "H" ? `H${left}V${top}` : `L${left},${top}`;
  });
  return parts.join("");
}

/** Returns the path through the values of days. */
export const pathOverDays = (values: readonly ValueOfDay[], [x, y]: readonly [Axis, Axis], by?: "L" | "H"): string =>
  pathThrough(
    values.map(({ day, value }) => [x.at(timeOfDay(day)), value === null ? null : y.at(value)]),
    by,
  );

interface LinesProps {
  /** The class and the path of each line. */
  readonly paths: readonly (readonly [name: string, path: string])[];
}

/** Lines over the whole area of a plot, which only eyes see. */
export const Lines = ({ paths }: LinesProps): JSX.Element => (
  <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" class="lines" aria-hidden="true">
    {paths.map(([name, path]) => (
      <path key={name} class={`line ${name}`} d={path} />
    ))}
  </svg>
);
