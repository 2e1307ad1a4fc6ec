/** Compares an answer with Carquet's before either is timed: a peer that returns something else must not be compared. */
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../src/base/json.ts";
import { UserError } from "../../src/base/user-error.ts";

/** Throws a `UserError` that names the first difference. */
export function assertSameAnswer(path: string, ours: unknown, server: string, theirs: unknown): void {
  if (isDeepStrictEqual(ours, theirs)) return;
  const difference = firstDifference(ours, theirs, "");
  const where = difference.path === "" ? "" : ` at ${difference.path}`;
  throw new UserError(
    `${path}: ${server} returned ${excerpt(difference.theirs)}${where}: expected Carquet's ${excerpt(difference.ours)}.`,
  );
}

const excerpt = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 300);

interface Difference {
  /** Keys and indexes joined by dots; empty for the whole value. */
  readonly path: string;
  readonly ours: unknown;
  readonly theirs: unknown;
}

function firstDifference(ours: unknown, theirs: unknown, path: string): Difference {
  const ourEntries = entriesOf(ours);
  const theirEntries = entriesOf(theirs);
  if (ourEntries === undefined || theirEntries === undefined) return { path, ours, theirs };
  for (const key of new Set([...ourEntries.keys(), ...theirEntries.keys()])) {
    const ourEntry = ourEntries.get(key);
    const theirEntry = theirEntries.get(key);
    if (!isDeepStrictEqual(ourEntry, theirEntry))
      return firstDifference(ourEntry, theirEntry, path === "" ? key : `${path}.${key}`);
  }
  return { path, ours, theirs };
}

function entriesOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (Array.isArray(value)) return new Map(value.map((item, index) => [String(index), item]));
  return isObject(value) ? new Map(Object.entries(value)) : undefined;
}
