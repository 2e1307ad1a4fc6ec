/**
 * Counting over search indexes: the counts of values and ranges, the statistics of numbers, and metrics, of an inventory that lies in one index or in
 * several.
 *
 * Statistics and metrics take one statement over all indexes. Values are counted by one statement for each index: their ids differ.
 */
import { forEachInTurns, inOwnTurn } from "../../base/concurrency.ts";
import { integerIn } from "../../base/json.ts";
import type { Engine } from "../../db/session-pool.ts";
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import { readSummaries, summariesOf } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import { type RangeChoice, rangesFor } from "../../listing/ranges.ts";
import type { CountedName, NumberName } from "../../listing/schema.ts";
import type { CountRequest, CountResult, Summaries, ValueCount } from "../../listing/source.ts";
import { type Condition, type IndexContext, numberOn } from "./conditions.ts";
import {
  chooseValues,
  columnsFor,
  countIds,
  groupedStatement,
  type IndexCounts,
  idsStatement,
  type NumberedRanges,
  rangeCounts,
} from "./counting.ts";
import type { Counter, Dictionary } from "./dictionary.ts";
import { type Compiled, compileFilters, overMatches } from "./where.ts";

/** Listings in search indexes: those of a day, or those that were sold in some months. */
export interface IndexedListings {
  readonly contexts: readonly IndexContext[];
  readonly engine: Engine;
  readonly count: number;
  /** See `LakeVersionOptions.fetchedMatches`. */
  readonly fetchedMatches: number;
}

/** The matches in one index: compiled filters that some listings may pass. */
export interface IndexMatches extends Compiled {
  readonly context: IndexContext;
  readonly matches: Exclude<Condition, "never">;
}

/** Compiles filters for each index; omits indexes without a match. */
export const matchesIn = (contexts: readonly IndexContext[], filters: readonly Filter[]): readonly IndexMatches[] =>
  contexts.flatMap((context) => {
    const { matches, ...bound } = compileFilters(filters, context);
    return matches === "never" ? [] : [{ context, matches, ...bound }];
  });

/** The number of matches and the statistics of their numbers. */
interface Summarized {
  readonly total: number;
  readonly summaries: Summaries;
}

/** Returns `ListingSource.countValues`. */
export async function countValues(indexed: IndexedListings, request: CountRequest): Promise<CountResult> {
  const { attributes, limit, sort, filters } = request;
  const parts = matchesIn(indexed.contexts, filters);
  const { total, summaries, ranges, counts } = await countParts(indexed, parts, request);
  const values = new Map<CountedName, readonly ValueCount[]>();
  await forEachInTurns(attributes, (attribute) =>
    values.set(attribute, chooseValues(counts, attribute, { limit, sort })),
  );
  return {
    total,
    summaries,
    values,
    ranges: new Map(ranges.map((one) => [one.attribute, { ranges: one, counts: rangeCounts(counts, one) }])),
  };
}

/** The result of counting, by id of each index. */
interface Counted extends Summarized {
  readonly ranges: readonly NumberedRanges[];
  readonly counts: readonly IndexCounts[];
}

/**
 * Counts matches by id: fetches a moderate number and counts them in typed arrays, lets the engine group more. The counts of all listings of the
 * published day are known.
 */
async function countParts(
  indexed: IndexedListings,
  parts: readonly IndexMatches[],
  request: CountRequest,
): Promise<Counted> {
  const { attributes, numbers } = request;
  if (attributes.length + numbers.length === 0)
    return { total: await countMatches(indexed, parts), summaries: new Map(), ranges: [], counts: [] };
  if (parts.length === 0) return { total: 0, summaries: new Map(), ranges: [], counts: [] };
  const isKnown = parts.every(({ context, matches }) => context.isToday && matches === "always");
  if (isKnown && numbers.length === 0) {
    const counts = parts.map(({ context: { dictionary } }) => ({ dictionary, counts: dictionary.totals }));
    return { total: indexed.count, summaries: new Map(), ranges: [], counts };
  }
  const columns = isKnown ? [] : columnsFor(attributes);
  const max = parts.reduce((sum, part) => sum + part.max, 0);
  const summarized = max <= indexed.fetchedMatches ? undefined : await summarize(indexed, parts, namesOf(numbers));
  return summarized !== undefined && summarized.total > indexed.fetchedMatches
    ? groupEach(indexed, parts, columns, { numbers, summarized, isKnown })
    : fetchEach(indexed, parts, columns, { numbers, summarized, isKnown });
}

/** The numbers to count, with their summaries, and whether the totals of all values are added to the counts. */
interface CountOrder<Known> extends Pick<CountRequest, "numbers"> {
  readonly summarized: Known;
  readonly isKnown: boolean;
}

/** Fetches ids and numbers of all matches and counts them in typed arrays, while another statement summarizes the numbers. */
async function fetchEach(
  indexed: IndexedListings,
  parts: readonly IndexMatches[],
  columns: readonly string[],
  { numbers, summarized, isKnown }: CountOrder<Summarized | undefined>,
): Promise<Counted> {
  const names = namesOf(numbers);
  const [fetched, { summaries }] = await Promise.all([
    Promise.all(
      parts.map(async ({ matches, context }) => {
        const chunks = await indexed.engine.vectors(idsStatement(matches, columns, names, context));
        return { dictionary: context.dictionary, found: { chunks, columns, numbers: names } };
      }),
    ),
    summarized ?? (numbers.length === 0 ? { summaries: new Map() } : summarize(indexed, parts, names)),
  ]);
  const ranges = numberedRanges(numbers, summaries);
  const counts = await Promise.all(
    fetched.map(({ dictionary, found }) => countIn(dictionary, isKnown, (counter) => countIds(counter, found, ranges))),
  );
  const total = fetched.flatMap(({ found }) => found.chunks).reduce((sum, [first]) => sum + (first?.length ?? 0), 0);
  return { total, summaries, ranges, counts };
}

/** Lets the engine count ids and ranges. */
async function groupEach(
  { engine }: IndexedListings,
  parts: readonly IndexMatches[],
  columns: readonly string[],
  { numbers, isKnown, summarized }: CountOrder<Summarized>,
): Promise<Counted> {
  const ranges = numberedRanges(numbers, summarized.summaries);
  const isNeeded = columns.length + ranges.length > 0;
  const counts = await Promise.all(
    parts.map(async ({ matches, context }) => {
      const groups = isNeeded ? await engine.vectors(groupedStatement(matches, columns, ranges, context)) : [];
      return countIn(context.dictionary, isKnown, (counter) => counter.addCounts(groups));
    }),
  );
  return { ...summarized, ranges, counts };
}

/** Counts ids in a dictionary, added to the totals of all values if these are known. */
const countIn = (dictionary: Dictionary, isKnown: boolean, work: (counter: Counter) => void): Promise<IndexCounts> =>
  inOwnTurn(() => ({ dictionary, counts: dictionary.count(work, isKnown ? dictionary.totals : undefined) }));

const namesOf = (numbers: readonly RangeChoice[]): readonly NumberName[] => numbers.map(({ attribute }) => attribute);

/** Returns the ranges of the numbers that have statistics. Their buckets have consecutive ids, from 1 on. */
function numberedRanges(numbers: readonly RangeChoice[], summaries: Summaries): readonly NumberedRanges[] {
  let firstId = 1;
  return numbers.flatMap((number) => {
    const summary = summaries.get(number.attribute);
    const ranges = summary && rangesFor(number, summary);
    if (ranges === undefined) return [];
    const numbered = { ...ranges, firstId };
    firstId += ranges.last - ranges.first + 3;
    return numbered;
  });
}

/**
 * Returns the number of matches. It is known without a statement if they are all listings, or those of the published day with some values of one
 * column.
 */
export async function countMatches(indexed: IndexedListings, parts: readonly IndexMatches[]): Promise<number> {
  if (parts.every(({ isExact }) => isExact)) return parts.reduce((sum, { max }) => sum + max, 0);
  const isWhole = parts.length === indexed.contexts.length && parts.every(({ matches }) => matches === "always");
  return isWhole ? indexed.count : (await summarize(indexed, parts, [])).total;
}

async function summarize(
  { engine }: IndexedListings,
  parts: readonly IndexMatches[],
  numbers: readonly NumberName[],
): Promise<Summarized> {
  const [only] = parts;
  const selected = (unitsOf: (attribute: NumberName) => Sql): Sql =>
    join([sql`count(*)::INTEGER AS total`, ...summariesOf(numbers, unitsOf)]);
  const matched = parts.map(({ context, matches }) => {
    const columns = numbers.map((number) => sql`${numberOn(number, context)} AS ${ident(number)}`);
    return sql`SELECT ${join([sql`position`, ...columns])} ${overMatches(matches, context)}`;
  });
  // A single index needs no subquery, whose planning takes as long as that of the rest.
  const statement =
    parts.length === 1 && only !== undefined
      ? sql`SELECT ${selected((number) => numberOn(number, only.context))} ${overMatches(only.matches, only.context)}`
      : sql`SELECT ${selected((number) => ident(number))} FROM (${join(matched, sql` UNION ALL `)})`;
  const [row] = await engine.rows(statement);
  return { total: integerIn(row, "total"), summaries: readSummaries(row, numbers) };
}
