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
import { attributeOf, type CountedName, type NumberName } from "../../listing/schema.ts";
import type { CountRequest, CountResult, Summaries, ValueCount } from "../../listing/source.ts";
import { compareValues } from "../../listing/values.ts";
import { countedColumns, listingCategories } from "./build.ts";
import { inBlocks } from "./columns.ts";
import { fromMatches, numberOn } from "./conditions.ts";
import type { Dictionary, ValueCounts } from "./dictionary.ts";
import { columnName, countIds, inventoryOf, keptOf, type Matched, Matches, matchesIn, totalOf } from "./positions.ts";
import type { SegmentRows } from "./segment.ts";
import { unknownNumber } from "./tests.ts";

/** The counts of a segment's matches by value id. */
interface SegmentCounts {
  readonly dictionary: Dictionary;
  readonly counts: ValueCounts;
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
  const matched = await matchesIn(parts, filters);
  const total = totalOf(matched);
  const summarizing = summarize(
    matched.map(({ rows }) => rows),
    engine,
    filters,
    names,
  );
  // An error is thrown when its turn comes.
  summarizing.catch(() => undefined);
  const counted =
    attributes.length === 0
      ? []
      : await Promise.all(matched.map((part) => countCategories(part, attributes, filters.length === 0)));
  const values = new Map<CountedName, readonly ValueCount[]>();
  await forEachInTurns(attributes, (attribute) =>
    values.set(attribute, chooseValues(counted, attribute, { limit, sort })),
  );
  const summaries = await summarizing;
  const ranges = await Promise.all(rangesOf(numbers, summaries).map((one) => countRanges(matched, one)));
  return { total, values, summaries, ranges: new Map(ranges.map((one) => [one.ranges.attribute, one])) };
}

/** Returns the statistics of the numbers of the matches, in one statement over all segments. */
async function summarize(
  parts: readonly SegmentRows[],
  engine: Engine,
  filters: readonly Filter[],
  numbers: readonly NumberName[],
): Promise<Summaries> {
  if (numbers.length === 0 || parts.length === 0) return new Map();
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
function columnOf(attribute: CountedName): string {
  if (listingCategories.some((one) => one === attribute)) return attribute;
  const { home } = attributeOf(attribute);
  return home === "builds" ? "build" : home === "dealers" ? "dealer" : attribute;
}

/** Counts the matches in a segment by value. Those of a whole inventory are kept, of all attributes. */
async function countCategories(
  matched: Matched,
  attributes: readonly CountedName[],
  isWhole: boolean,
): Promise<SegmentCounts> {
  const { rows } = matched;
  const { dictionary } = rows.segment;
  if (!isWhole) return { dictionary, counts: await countsOf(matched, new Set(attributes.map(columnOf))) };
  const ofAll = async (whole: SegmentRows): Promise<ValueCounts> =>
    countsOf({ rows: whole, positions: await inventoryOf(whole) }, countedColumns);
  return { dictionary, counts: await keptOf(rows, "counts", ofAll, (segment) => segment.dictionary.size) };
}

async function countsOf(matched: Matched, columns: Iterable<string>): Promise<ValueCounts> {
  const { dictionary } = matched.rows.segment;
  const counts = dictionary.zeros();
  for (const column of columns) await dictionary.addCounts(counts, column, await countIds(matched, column));
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
  const inOrder = (shown: ValueCount[]): readonly ValueCount[] =>
    shown.sort((one, other) => direction * (one.count - other.count)).slice(0, limit);
  // Sorting thousands of values, or naming them, takes longer than to find the last count that is shown.
  const amongFirst = (counts: ArrayLike<number>): ((count: number) => boolean) => {
    const last = Int32Array.from(counts, (count) => direction * count).sort()[limit - 1] ?? Number.POSITIVE_INFINITY;
    return (count) => direction * count <= last;
  };
  const inParts = parts.map((part) => countedIn(part, attribute));
  const [only] = inParts;
  // The values of one segment are in order.
  if (only !== undefined && inParts.length === 1) {
    const isShown = amongFirst(only.counts.filter((count) => count > 0));
    return inOrder(valuesOf(only, isShown));
  }
  const sums = addCounts(inParts.flatMap((part) => valuesOf(part)));
  const isShown = amongFirst(sums.map(({ count }) => count));
  const order = compareValues(attribute);
  return inOrder(sums.filter(({ count }) => isShown(count)).sort((one, other) => order(one.value, other.value)));
}

/** The counts of an attribute's values, from the first id on. */
interface AttributeCounts extends SegmentCounts {
  readonly first: number;
}

/** Returns the counts of an attribute's values. Of those that differ in case only, the first one that occurs stands for all. */
function countedIn({ dictionary, counts }: SegmentCounts, attribute: CountedName): AttributeCounts {
  const { first, end } = dictionary.rangeOf(attribute);
  const merged = counts.slice(first, end);
  for (const group of dictionary.sameValues(attribute)) {
    const shown = group.find((id) => (counts[id] ?? 0) > 0);
    const sum = group.reduce((total, id) => total + (counts[id] ?? 0), 0);
    for (const id of group) merged[id - first] = id === shown ? sum : 0;
  }
  return { dictionary, counts: merged, first };
}

/** Returns the values that occur and whose counts are shown, in order. */
function valuesOf(
  { dictionary, counts, first }: AttributeCounts,
  isShown: (count: number) => boolean = () => true,
): ValueCount[] {
  const values: ValueCount[] = [];
  counts.forEach((count, n) => {
    if (count > 0 && isShown(count)) values.push({ value: dictionary.valueOf(first + n), count });
  });
  return values;
}

/** Adds up the counts of several segments: of values that differ in case only, the first one in order stands for all. */
function addCounts(counted: readonly ValueCount[]): ValueCount[] {
  const sums = new Map<string, { value: string; count: number }>();
  for (const { value, count } of counted) {
    const key = value.toLowerCase();
    const known = sums.get(key);
    if (known === undefined) sums.set(key, { value, count });
    else {
      known.count += count;
      if (value < known.value) known.value = value;
    }
  }
  return [...sums.values()];
}
