/** Whether two answers are the same, before either is timed: a peer that answers another question is no peer. */
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../src/base/json.ts";
import { UserError } from "../../src/base/user-error.ts";

/** Fails with the first difference between what two say to the same question. */
export function assertSameAnswer(path: string, ours: unknown, peer: string, theirs: unknown): void {
  if (isDeepStrictEqual(ours, theirs)) return;
  const { where, one, other } = difference(ours, theirs, "");
  throw new UserError(
    `${path}: ${peer} answers otherwise at ${where || "the top"}: ${told(other)} where Carquet has ${told(one)}.`,
  );
}

const told = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 300);

interface Difference {
  readonly where: string;
  readonly one: unknown;
  readonly other: unknown;
}

function difference(one: unknown, other: unknown, where: string): Difference {
  const [parts, others] = [partsOf(one), partsOf(other)];
  if (parts === undefined || others === undefined) return { where, one, other };
  for (const key of new Set([...parts.keys(), ...others.keys()])) {
    const [part, otherPart] = [parts.get(key), others.get(key)];
    if (!isDeepStrictEqual(part, otherPart)) return difference(part, otherPart, where === "" ? key : `${where}.${key}`);
  }
  return { where, one, other };
}

function partsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (Array.isArray(value)) return new Map(value.map((item, index) => [String(index), item]));
  return isObject(value) ? new Map(Object.entries(value)) : undefined;
}
