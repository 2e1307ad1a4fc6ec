/**
 * Counts the values and ranges of an inventory: collects the counts of each segment's matches in typed arrays, by composite ids that the dictionary
 * expands to values, and merges them. The engine summarizes numbers meanwhile.
 */
import { forEachInTurns } from "../../base/turns.ts";
import type { Engine } from "../../db/session-pool.ts";
import { ident, join, sql } from "../../db/sql.ts";
import { readSummaries, summariesOf } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import { type RangeChoice, type Ranges, rangesFor } from "../../listing/ranges.ts";
import { attributeOf, type CountedName, categoryNames, listNames, type NumberName } from "../../listing/schema.ts";
import type { CountRequest, CountResult, Summaries, ValueCount } from "../../listing/source.ts";
import { BorrowedArrays } from "./borrowed-arrays.ts";
import { inBlocks } from "./columns.ts";
import { fromMatches, numberOn } from "./conditions.ts";
import type { Dictionary } from "./dictionary.ts";
import { columnName, countIds, inventoryOf, keptOf, type Matched, Matches, matchesIn } from "./positions.ts";
import type { SegmentRows } from "./segment.ts";
import { unknownNumber } from "./tests.ts";
import { type ValueNumbers, valueNumbers } from "./value-numbers.ts";

/** The counts of a segment's matches by value id. */
interface SegmentCounts {
  readonly dictionary: Dictionary;
  readonly counts: Int32Array;
}

/** Returns the number of matches. */
export async function countMatches(parts: readonly SegmentRows[], filters: readonly Filter[]): Promise<number> {
  const counts = await Promise.all(parts.map(async (rows) => (await Matches.of(rows, filters)).count()));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Returns `Listings.countValues`. */
export async function countValues(
  parts: readonly SegmentRows[],
  engine: Engine,
  { filters, attributes, limit, sort, numbers }: CountRequest,
): Promise<CountResult> {
  const names = numbers.map(({ attribute }) => attribute);
  const arrays = new BorrowedArrays();
  const matched = await matchesIn(parts, filters, arrays);
  const total = matched.reduce((sum, { positions }) => sum + positions.length, 0);
  const summarizing = summarize(matched, engine, filters, names);
  // An error is thrown when its turn comes.
  summarizing.catch(() => undefined);
  const counted =
    attributes.length === 0
      ? []
      : await Promise.all(
          matched.map((part) => countCategories(part, attributes, filters.length === 0 ? undefined : arrays)),
        );
  const values = new Map<CountedName, readonly ValueCount[]>();
  await forEachInTurns(attributes, (attribute) =>
    values.set(attribute, chooseValues(counted, attribute, { limit, sort })),
  );
  const summaries = await summarizing;
  const ranges = await Promise.all(rangesOf(numbers, summaries).map((one) => countRanges(matched, one)));
  arrays.release();
  return { total, values, summaries, ranges: new Map(ranges.map((one) => [one.ranges.attribute, one])) };
}

/** Returns the statistics of the numbers of the matches, in one statement over all segments. */
async function summarize(
  matched: readonly Matched[],
  engine: Engine,
  filters: readonly Filter[],
  numbers: readonly NumberName[],
): Promise<Summaries> {
  if (numbers.length === 0 || matched.length === 0) return new Map();
  const parts = matched.map(({ rows }) => rows);
  const [only, ...others] = parts;
  const matches = parts.map((rows) => {
    const columns = numbers.map((number) => sql`${numberOn(number, rows)} AS ${ident(number)}`);
    return sql`SELECT ${join(columns)} ${fromMatches(rows, filters)}`;
  });
  // A single segment needs no subquery, whose planning takes as long as that of the rest.
  const [row] = await engine.rows(
    only !== undefined && others.length === 0
      ? sql`SELECT ${join(summariesOf(numbers, (number) => numberOn(number, only)))} ${fromMatches(only, filters)}`
      : sql`SELECT ${join(summariesOf(numbers, (number) => ident(number)))} FROM (${join(matches, sql` UNION ALL `)})`,
  );
  return readSummaries(row, numbers);
}

/** Returns the column to count for an attribute: its own, or that of a composite id that includes it. */
const columnOf = (attribute: CountedName): string =>
  ({ builds: "build", dealers: "dealer", listings: attribute })[attributeOf(attribute).home];

/** Counts the matches in a segment by value, in borrowed arrays. Those of a whole inventory, without any, are kept, of all attributes. */
async function countCategories(
  matched: Matched,
  attributes: readonly CountedName[],
  arrays: BorrowedArrays | undefined,
): Promise<SegmentCounts> {
  const { rows } = matched;
  const { dictionary } = rows.segment;
  if (arrays !== undefined) return { dictionary, counts: await countsOf(matched, attributes, arrays) };
  const ofAll = async (whole: SegmentRows): Promise<Int32Array> =>
    countsOf({ rows: whole, positions: await inventoryOf(whole) }, [...categoryNames, ...listNames]);
  return { dictionary, counts: await keptOf(rows, "counts", ofAll, (segment) => segment.dictionary.size) };
}

async function countsOf(
  matched: Matched,
  attributes: readonly CountedName[],
  arrays?: BorrowedArrays,
): Promise<Int32Array> {
  const { dictionary } = matched.rows.segment;
  const counts = arrays?.zeros(dictionary.size) ?? new Int32Array(dictionary.size);
  const counted = new Set(attributes);
  for (const column of new Set(attributes.map(columnOf)))
    await dictionary.addCounts(counts, column, await countIds(matched, column, arrays), counted);
  return counts;
}

/** Returns the ranges of the numbers that have statistics. */
const rangesOf = (numbers: readonly RangeChoice[], summaries: Summaries): readonly Ranges[] =>
  numbers.flatMap((number) => {
    const summary = summaries.get(number.attribute);
    return (summary && rangesFor(number, summary)) ?? [];
  });

/** Counts the matches in each range: below the first bucket, in each, and above the last one. */
async function countRanges(matched: readonly Matched[], ranges: Ranges) {
  const { attribute, width, first, last } = ranges;
  const max = last - first + 2;
  const counts: number[] = Array(max + 1).fill(0);
  for (const { rows, positions } of matched) {
    const numbers = await rows.segment.array(columnName(attribute, rows));
    await inBlocks(positions.length, (from, until) => {
      for (let at = from; at < until; at += 1) {
        const number = numbers[positions[at] as number] as number;
        if (number === unknownNumber) continue;
        const range = Math.max(0, Math.min(max, Math.floor(number / width) - first + 1));
        counts[range] = (counts[range] as number) + 1;
      }
    });
  }
  return { ranges, counts };
}

/** Returns the most frequent values of an attribute (or the least frequent) with their counts; ties go by value. */
export function chooseValues(
  parts: readonly SegmentCounts[],
  attribute: CountedName,
  { limit, sort }: Pick<CountRequest, "limit" | "sort">,
): readonly ValueCount[] {
  const direction = sort === "count" ? 1 : -1;
  const numbers = valueNumbers(
    attribute,
    parts.map(({ dictionary }) => dictionary),
  );
  const arrays = new BorrowedArrays();
  const counts = addCounts(parts, attribute, numbers, arrays);
  // Sorting thousands of values, or naming them, takes longer than to find the last count that is shown.
  const ranks = arrays.take(counts.length);
  let length = 0;
  for (const count of counts) if (count > 0) ranks[length++] = direction * count;
  const last = ranks.subarray(0, length).sort()[limit - 1] ?? Number.POSITIVE_INFINITY;
  const shown: ValueCount[] = [];
  for (let index = 0; index < counts.length; index += 1) {
    const count = counts[index] as number;
    if (count > 0 && direction * count <= last)
      shown.push({ value: numbers.textOf(numbers.first + index) ?? "", count });
  }
  arrays.release();
  return shown.sort((one, other) => direction * (one.count - other.count)).slice(0, limit);
}

/** Returns how many matches have each number of a value. Of those that differ in case only, the first one that occurs stands for all. */
function addCounts(
  parts: readonly SegmentCounts[],
  attribute: CountedName,
  { first, count, same, of }: ValueNumbers,
  arrays: BorrowedArrays,
): Int32Array {
  const sums = arrays.zeros(count);
  for (const { dictionary, counts } of parts) {
    const range = dictionary.rangeOf(attribute);
    const numbers = of(dictionary);
    if (numbers === undefined) sums.set(counts.subarray(range.first, range.end));
    else
      for (let n = 0; n < numbers.length; n += 1) {
        const index = (numbers[n] as number) - first;
        sums[index] = (sums[index] as number) + (counts[range.first + n] as number);
      }
  }
  for (const group of same) {
    const indexes = group.map((number) => number - first);
    const shown = indexes.find((index) => (sums[index] ?? 0) > 0);
    const sum = indexes.reduce((total, index) => total + (sums[index] ?? 0), 0);
    for (const index of indexes) sums[index] = index === shown ? sum : 0;
  }
  return sums;
}
