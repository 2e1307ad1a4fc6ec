/** Where two answers differ, in words. */
import { isDeepStrictEqual } from "node:util";

/** Numbers that come of a long sum: equal within this share of them. */
const closeness = 1e-9;
const calculated = new Set(["mean", "median", "stddev", "metric.value"]);

/** The first place in which two values differ; undefined when they are the same. */
export function differenceIn(place: string, served: unknown, expected: unknown): string | undefined {
  if (isDeepStrictEqual(served, expected) || areClose(place, served, expected)) return undefined;
  if (!isKeyed(served) || !isKeyed(expected) || Array.isArray(served) !== Array.isArray(expected)) {
    return `${place}: served ${JSON.stringify(served)}, expected ${JSON.stringify(expected)}`;
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(served)]);
  for (const key of keys) {
    const difference = differenceIn(`${place}.${key}`, served[key], expected[key]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function areClose(place: string, served: unknown, expected: unknown): boolean {
  const words = place.split(".");
  if (!calculated.has(words.slice(-1).join()) && !calculated.has(words.slice(-2).join("."))) return false;
  if (typeof served !== "number" || typeof expected !== "number") return false;
  return Math.abs(served - expected) <= closeness * Math.abs(expected);
}

/** Whether a value has parts: a list or an object. */
function isKeyed(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
