/** Finds the first difference between two answers. */
import { isDeepStrictEqual } from "node:util";

/** Relative tolerance of numbers computed from long sums. */
const tolerance = 1e-9;
const computedNumbers = new Set(["mean", "median", "stddev", "value"]);

/** Returns the first difference with its path, or undefined if the values are equal. */
export function differenceIn(path: string, served: unknown, expected: unknown): string | undefined {
  if (isDeepStrictEqual(served, expected) || areClose(path, served, expected)) return undefined;
  if (!isContainer(served) || !isContainer(expected) || Array.isArray(served) !== Array.isArray(expected)) {
    return `${path}: served ${JSON.stringify(served)}, expected ${JSON.stringify(expected)}`;
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(served)]);
  for (const key of keys) {
    const difference = differenceIn(`${path}.${key}`, served[key], expected[key]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function areClose(path: string, served: unknown, expected: unknown): boolean {
  if (!computedNumbers.has(path.split(".").at(-1) ?? "")) return false;
  if (typeof served !== "number" || typeof expected !== "number") return false;
  return Math.abs(served - expected) <= tolerance * Math.abs(expected);
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
