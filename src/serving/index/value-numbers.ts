/**
 * Numbers of the values of an attribute, in their order, by which listings are grouped: the ids of the only index, or numbers that the values have in
 * several, whose ids differ.
 */
import { integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { CountedName } from "../../listing/schema.ts";
import { compareValues } from "../../listing/values.ts";
import { unknownId } from "./build.ts";
import { type Dictionary, spelledAlike } from "./dictionary.ts";

/** The values of an index, and their ids. */
export type IndexValues = Pick<Dictionary, "rangeOf" | "valueOf" | "valuesOf" | "sameValues">;

export interface ValueNumbers {
  /** How many values there are, in every spelling. */
  readonly count: number;
  /** Groups of numbers whose values differ in case only. */
  readonly same: readonly (readonly number[])[];
  /** Returns the value of a number; null for the number of listings without one. */
  readonly textOf: (number: number) => string | null;
  /** Selects rows of an index, given with ids in a column, with numbers instead. */
  readonly in: (rows: Sql, column: Sql, dictionary: IndexValues) => Sql;
}

/** Returns the numbers of the values in some dictionaries. */
export function valueNumbers(attribute: CountedName, dictionaries: Iterable<IndexValues>): ValueNumbers {
  const all = [...new Set(dictionaries)];
  const [only] = all;
  if (only !== undefined && all.length === 1) return idsAsNumbers(attribute, only);
  const lists = new Map(all.map((dictionary) => [dictionary, dictionary.valuesOf(attribute)]));
  const values = [...lists.values()].reduce((one, other) => merged(one, other, compareValues(attribute)), []);
  return {
    count: values.length,
    same: spelledAlike(values, 1),
    textOf: (number) => values[number - 1] ?? null,
    in: (rows, column, dictionary) => {
      const pairs = numbered(lists.get(dictionary) ?? [], values, dictionary.rangeOf(attribute).first);
      return joinNumbers(rows, column, [[unknownId, unknownId], ...pairs]);
    },
  };
}

const idsAsNumbers = (attribute: CountedName, dictionary: IndexValues): ValueNumbers => {
  const { first, end } = dictionary.rangeOf(attribute);
  return {
    count: end - first,
    same: dictionary.sameValues(attribute),
    textOf: (id) => (id === unknownId ? null : dictionary.valueOf(id)),
    in: (rows) => rows,
  };
};

/** Merges two lists of distinct values in order. */
function merged(
  one: readonly string[],
  other: readonly string[],
  compare: (one: string, other: string) => number,
): readonly string[] {
  const values: string[] = [];
  let at = 0;
  let otherAt = 0;
  while (at < one.length || otherAt < other.length) {
    const value = one[at];
    const otherValue = other[otherAt];
    const isEqual = value === otherValue;
    const isFirst = isEqual || otherValue === undefined || (value !== undefined && compare(value, otherValue) < 0);
    values.push((isFirst ? value : otherValue) ?? "");
    if (isFirst) at += 1;
    if (isEqual || !isFirst) otherAt += 1;
  }
  return values;
}

/** An id, and the number that stands for it. */
type Numbered = readonly [id: number, number: number];

/** Numbers values, whose ids follow each other, by their positions among all values. Both are in order. */
function numbered(values: readonly string[], all: readonly string[], firstId: number): readonly Numbered[] {
  let position = 0;
  return values.map((value, index): Numbered => {
    while (all[position] !== value) position += 1;
    return [firstId + index, position + 1];
  });
}

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
