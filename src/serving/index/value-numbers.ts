/**
 * Numbers of the values of an attribute, in their order, by which listings are counted and grouped: the ids of the only index, or numbers that the values
 * have in several, whose ids differ.
 */
import { LRUCache } from "lru-cache";
import { integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { CountedName } from "../../listing/schema.ts";
import { compareValues } from "../../listing/values.ts";
import { unknownId } from "./build.ts";
import { type Dictionary, spelledAlike } from "./dictionary.ts";

/** The values of an index, and their ids. */
export type IndexValues = Pick<Dictionary, "rangeOf" | "valueOf" | "valuesOf" | "sameValues">;

export interface ValueNumbers {
  /** The least number of a value. */
  readonly first: number;
  /** How many values there are, in every spelling. */
  readonly count: number;
  /** Groups of numbers whose values differ in case only. */
  readonly same: readonly (readonly number[])[];
  /** Returns the value of a number; null for the number of listings without one. */
  readonly textOf: (number: number) => string | null;
  /** Returns the numbers of the ids of an index, in their order; undefined if they are the ids. */
  readonly of: (dictionary: IndexValues) => Int32Array | undefined;
  /** Selects rows of an index, given with ids in a column, with numbers instead. */
  readonly in: (rows: Sql, column: Sql, dictionary: IndexValues) => Sql;
}

/** How many numberings are kept for each index that is the first one of several: of all attributes, for some sets of further indexes. */
const keptMax = 256;

/** Numbering thousands of values takes as long as to count listings. */
const kept = new WeakMap<IndexValues, LRUCache<string, ValueNumbers>>();
/** Distinguishes indexes. */
const serials = new WeakMap<IndexValues, number>();
let serial = 0;

/** Returns the numbers of the values in some dictionaries. */
export function valueNumbers(attribute: CountedName, dictionaries: Iterable<IndexValues>): ValueNumbers {
  const [first, ...others] = new Set(dictionaries);
  if (first === undefined) return numberAll(attribute, []);
  if (others.length === 0) return idsAsNumbers(attribute, first);
  const ofFirst = kept.get(first) ?? new LRUCache({ max: keptMax });
  kept.set(first, ofFirst);
  const key = `${attribute} ${others.map(serialOf)}`;
  const known = ofFirst.get(key) ?? numberAll(attribute, [first, ...others]);
  ofFirst.set(key, known);
  return known;
}

function serialOf(dictionary: IndexValues): number {
  const known = serials.get(dictionary) ?? ++serial;
  serials.set(dictionary, known);
  return known;
}

function numberAll(attribute: CountedName, dictionaries: readonly IndexValues[]): ValueNumbers {
  const lists = dictionaries.map((dictionary) => dictionary.valuesOf(attribute));
  const values = [...new Set(lists.flat())].sort(compareValues(attribute));
  const numberOf = new Map(values.map((value, index) => [value, index + 1]));
  const numbersIn = (list: readonly string[]): Int32Array =>
    Int32Array.from(list, (one) => numberOf.get(one) ?? unknownId);
  const numbers = new WeakMap(dictionaries.map((one, index) => [one, numbersIn(lists[index] ?? [])]));
  return {
    first: 1,
    count: values.length,
    same: spelledAlike(values, 1),
    textOf: (number) => values[number - 1] ?? null,
    of: (dictionary) => numbers.get(dictionary),
    in: (rows, column, dictionary) => {
      const { first } = dictionary.rangeOf(attribute);
      const pairs = Array.from(numbers.get(dictionary) ?? [], (number, index): Numbered => [first + index, number]);
      return joinNumbers(rows, column, [[unknownId, unknownId], ...pairs]);
    },
  };
}

const idsAsNumbers = (attribute: CountedName, dictionary: IndexValues): ValueNumbers => {
  const { first, end } = dictionary.rangeOf(attribute);
  return {
    first,
    count: end - first,
    same: dictionary.sameValues(attribute),
    textOf: (id) => (id === unknownId ? null : dictionary.valueOf(id)),
    of: () => undefined,
    in: (rows) => rows,
  };
};

/** An id, and the number that stands for it. */
type Numbered = readonly [id: number, number: number];

/** Returns a number of each group instead of the others, whose values differ in case only. */
export function groupOf(number: Sql, same: ValueNumbers["same"]): Sql {
  const cases = same.flatMap(([shown = 0, ...others]) =>
    others.map((other) => sql`WHEN ${integerLiteral(other)} THEN ${integerLiteral(shown)}`),
  );
  return cases.length === 0 ? number : sql`CASE ${number} ${join(cases, sql` `)} ELSE ${number} END`;
}

/** Selects the rows with one of some ids in a column, with their numbers instead. */
export function joinNumbers(rows: Sql, column: Sql, numbers: readonly Numbered[]): Sql {
  const list = (integers: readonly number[]): Sql => sql`unnest(${literal(`[${integers.join()}]`)}::INTEGER[])`;
  const ids = numbers.map(([id]) => id);
  const others = numbers.map(([, number]) => number);
  return sql`
    SELECT found.* REPLACE (numbers.number AS ${column})
    FROM   (${rows}) AS found JOIN (SELECT ${list(ids)} AS id, ${list(others)} AS number) AS numbers ON numbers.id = found.${column}`;
}
