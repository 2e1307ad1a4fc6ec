/**
 * Facet counting over a search index: the statements, and the conversion of their results to counts per value.
 *
 * One statement covers all categories and ranges of a request: it returns composite ids and numbers, row by row for a moderate number of
 * matches, grouped by the engine for more. `Dictionary` expands composite ids to values; the most frequent values are then selected.
 */
import { ident, integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import type { Ranges } from "../../listing/ranges.ts";
import { attributeOf, type CountedName, type NumberName } from "../../listing/schema.ts";
import type { CountSort, ValueCount } from "../../listing/source.ts";
import { compareValues } from "../../listing/values.ts";
import { listingCategories, unknownId } from "./build.ts";
import { type Condition, type IndexContext, numberOn } from "./conditions.ts";
import type { Counter, Dictionary, ValueCounts } from "./dictionary.ts";
import { overMatches } from "./where.ts";

/** Ranges with ids: one below the first bucket, one per bucket, one above the last. */
export interface NumberedRanges extends Ranges {
  readonly firstId: number;
}

/** Returns the column to count for an attribute: its own, or a composite id that includes it. */
function columnOf(attribute: CountedName): string {
  if (listingCategories.some((one) => one === attribute)) return attribute;
  const { home } = attributeOf(attribute);
  return home === "builds" ? "build" : home === "dealers" ? "dealer" : attribute;
}

export const columnsFor = (attributes: readonly CountedName[]): readonly string[] => [
  ...new Set(attributes.map(columnOf)),
];

/** Selects the id of the range that contains a number; 0 where the number is unknown. */
function rangeId({ attribute, width, first, last, firstId }: NumberedRanges, context: IndexContext): Sql {
  const number = numberOn(attribute, context);
  const bucket = sql`(${number}::BIGINT - ${integerLiteral((first - 1) * width)}) // ${integerLiteral(width)}`;
  return sql`CASE WHEN ${number} IS NULL THEN ${integerLiteral(unknownId)}
    ELSE ${integerLiteral(firstId)} + greatest(0, least(${integerLiteral(last - first + 2)}, ${bucket})) END::INTEGER`;
}

/** Stands for an unknown number: vectors have no nulls. */
const unknownNumber = 1 - 2 ** 31;

/** Selects ids and numbers of all matches: one column per entry of `columns`, then one per number. */
export function idsStatement(
  matches: Exclude<Condition, "never">,
  columns: readonly string[],
  numbers: readonly NumberName[],
  context: IndexContext,
): Sql {
  const known = numbers.map((number) => sql`coalesce(${numberOn(number, context)}, ${integerLiteral(unknownNumber)})`);
  const selected = [...columns.map((column) => ident(column)), ...known];
  return sql`SELECT ${join(selected)} ${overMatches(matches, context)}`;
}

/** The result of `idsStatement` for some columns and numbers. */
interface FetchedIds {
  readonly chunks: readonly (readonly Int32Array[])[];
  readonly columns: readonly string[];
  readonly numbers: readonly NumberName[];
}

const none = new Int32Array();

/** Counts the ids of each column and the ranges of numbers. */
export function countIds(
  counter: Counter,
  { chunks, columns, numbers }: FetchedIds,
  ranges: readonly NumberedRanges[],
): void {
  for (const index of columns.keys()) for (const chunk of chunks) counter.addEach(chunk[index] ?? none);
  for (const range of ranges) {
    const index = columns.length + numbers.indexOf(range.attribute);
    for (const chunk of chunks) countRanges(counter, chunk[index] ?? none, range);
  }
}

function countRanges(counter: Counter, numbers: Int32Array, { width, first, last, firstId }: NumberedRanges): void {
  const max = last - first + 2;
  for (let at = 0; at < numbers.length; at += 1) {
    const number = numbers[at] as number;
    if (number !== unknownNumber)
      counter.add(firstId + Math.max(0, Math.min(max, Math.floor(number / width) - first + 1)), 1);
  }
}

/** Counts matches in the engine, with one grouping set per column: rows of an id and its count. */
export function groupedStatement(
  matches: Exclude<Condition, "never">,
  columns: readonly string[],
  ranges: readonly NumberedRanges[],
  context: IndexContext,
): Sql {
  const ids = [...columns.map((column) => ident(column)), ...ranges.map((range) => rangeId(range, context))];
  const names = ids.map((_, index) => ident(`id ${index}`));
  const named = ids.map((id, index) => sql`${id} AS ${ident(`id ${index}`)}`);
  const sets = names.map((one) => sql`(${one})`);
  return sql`SELECT coalesce(${join(names)}), count(*)::INTEGER
    FROM (SELECT ${join(named)} ${overMatches(matches, context)}) GROUP BY GROUPING SETS (${join(sets)})`;
}

export interface IndexCounts {
  readonly dictionary: Dictionary;
  readonly counts: ValueCounts;
}

/** Returns the most frequent values of an attribute (or the least frequent) with their counts; ties go by value. */
export function chooseValues(
  parts: readonly IndexCounts[],
  attribute: CountedName,
  { limit, sort }: { readonly limit: number; readonly sort: CountSort },
): readonly ValueCount[] {
  const direction = sort === "count" ? 1 : -1;
  const [only] = parts;
  if (parts.length > 1 || only === undefined) {
    const order = compareValues(attribute);
    return addCounts(parts.flatMap((part) => valuesIn(part, countedIn(part, attribute))))
      .sort((one, other) => direction * (one.count - other.count) || order(one.value, other.value))
      .slice(0, limit);
  }
  const counted = countedIn(only, attribute);
  counted.sort((one, other) => direction * (one.count - other.count) || one.id - other.id);
  return valuesIn(only, counted.slice(0, limit));
}

interface IdCount {
  readonly id: number;
  readonly count: number;
}

const valuesIn = ({ dictionary }: IndexCounts, counted: readonly IdCount[]): readonly ValueCount[] =>
  counted.map(({ id, count }) => ({ value: dictionary.valueOf(id), count }));

/** Returns the ids of an attribute's values that occur, in order. */
function countedIn({ dictionary, counts }: IndexCounts, attribute: CountedName): IdCount[] {
  const { first, end } = dictionary.rangeOf(attribute);
  const merged = mergeSpellings(dictionary, attribute, counts);
  const found: IdCount[] = [];
  for (let id = first; id < end; id += 1) {
    const count = merged[id] ?? 0;
    if (count > 0) found.push({ id, count });
  }
  return found;
}

/** Adds up the counts of several indexes: of values that differ in case only, the first one in order stands for all. */
function addCounts(counted: readonly ValueCount[]): ValueCount[] {
  const sums = new Map<string, ValueCount>();
  for (const { value, count } of counted) {
    const key = value.toLowerCase();
    const known = sums.get(key) ?? { value, count: 0 };
    const [first = value] = [value, known.value].sort();
    sums.set(key, { value: first, count: known.count + count });
  }
  return [...sums.values()];
}

/** Merges the counts of values that differ in case only, under the first spelling that occurs. */
function mergeSpellings(dictionary: Dictionary, attribute: CountedName, counts: ValueCounts): ValueCounts {
  const groups = dictionary.sameValues(attribute);
  if (groups.length === 0) return counts;
  const merged = counts.slice();
  for (const group of groups) {
    const [shown] = group.filter((id) => (counts[id] ?? 0) > 0);
    for (const id of group) merged[id] = 0;
    if (shown !== undefined) merged[shown] = group.reduce((sum, id) => sum + (counts[id] ?? 0), 0);
  }
  return merged;
}

/** Returns the counts of one attribute's ranges in all indexes: below, each bucket, above. */
export const rangeCounts = (
  parts: readonly IndexCounts[],
  { first, last, firstId }: NumberedRanges,
): readonly number[] =>
  Array.from({ length: last - first + 3 }, (_, index) =>
    parts.reduce((sum, { counts }) => sum + (counts[firstId + index] ?? 0), 0),
  );
