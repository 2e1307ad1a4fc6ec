/**
 * Counting over a search index: the counts of values and ranges, the statistics of numbers, and metrics, of the published day or of a past one.
 *
 * Facets take one statement, and statistics another: at once for up to `fetchedMatches` matches, else one after the other. A metric takes one.
 */
import { integerIn } from "../../base/json.ts";
import type { Engine } from "../../db/session-pool.ts";
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import { metricOf, readSummaries, summariesOf } from "../../listing/aggregates.ts";
import { type CountedName, listNames, type NumberName } from "../../listing/schema.ts";
import type {
  CountRequest,
  CountResult,
  MeasureRequest,
  MeasureResult,
  Summaries,
  ValueCount,
} from "../../listing/source.ts";
import { setsOf } from "./build.ts";
import {
  chooseMeasured,
  chooseValues,
  columnsFor,
  countGroups,
  countIds,
  fetchedOf,
  groupedStatement,
  idsStatement,
  type NumberedRanges,
  numbered,
  rangeCounts,
} from "./counting.ts";
import type { ValueCounts } from "./dictionary.ts";
import { estimateMatches } from "./estimate.ts";
import { pairsIn } from "./page.ts";
import { type Condition, type IndexContext, matchesOf, numberOn, overMatches, resolveFilters } from "./where.ts";

/** The listings of a day in an index. */
export interface IndexedDay {
  readonly context: IndexContext;
  readonly engine: Engine;
  /** The number of listings. */
  readonly count: number;
  /** See `LakeVersionOptions.fetchedMatches`. */
  readonly fetchedMatches: number;
}

/** Compiled filters that some listings may pass. */
type Matches = Exclude<Condition, "never">;

/** The result of counting, by id. */
interface Counted {
  readonly total: number;
  readonly summaries: Summaries;
  readonly ranges: readonly NumberedRanges[];
  readonly counts: ValueCounts;
}

/** Returns `ListingSource.countValues` of a day. */
export async function countValues(indexed: IndexedDay, request: CountRequest): Promise<CountResult> {
  const { attributes, numbers, limit, sort } = request;
  const { dictionary } = indexed.context;
  const found = await countIn(indexed, request);
  const values = attributes.map((attribute): readonly [CountedName, readonly ValueCount[]] => [
    attribute,
    chooseValues(dictionary, attribute, found.counts, { limit, sort }),
  ]);
  const known = numbers.filter((number) => found.summaries.has(number));
  const ranges = known.flatMap((number) => found.ranges.filter(({ attribute }) => attribute === number));
  return {
    ...{ total: found.total, summaries: found.summaries, values: new Map(values) },
    ranges: new Map(ranges.map((one) => [one.attribute, { ranges: one, counts: rangeCounts(found.counts, one) }])),
  };
}

/** Counts matches by id: fetches a moderate number, lets the engine summarize and group more. The counts of all listings of the published day are known. */
async function countIn(indexed: IndexedDay, request: CountRequest): Promise<Counted> {
  const { context, count, engine, fetchedMatches } = indexed;
  const { dictionary } = context;
  const { filters, attributes, numbers, rangesOf } = request;
  const resolved = resolveFilters(filters, context);
  const matches = matchesOf(resolved, context);
  const nothing = { summaries: new Map(), ranges: [] };
  if (matches === "never") return { ...nothing, total: 0, counts: dictionary.count(() => {}) };
  const isKnown = matches === "always" && context.day === undefined;
  if (isKnown && numbers.length === 0) return { ...nothing, total: count, counts: dictionary.totals };
  const [columns, known] = isKnown ? [[], dictionary.totals] : [columnsFor(attributes), undefined];
  const order: FetchOrder = { matches, columns, known };
  if (estimateMatches(resolved, context, count).most <= fetchedMatches) return countFetched(indexed, order, request);
  const { total, summaries } = await summarize(indexed, matches, numbers);
  if (total <= fetchedMatches) return countFetched(indexed, order, request);
  const ranges = numbered(rangesOf(summaries));
  if (columns.length + ranges.length === 0)
    return { total, summaries, ranges, counts: dictionary.count(() => {}, known) };
  const groups = pairsIn(await engine.vectors(groupedStatement(matches, columns, ranges, context)));
  return { total, summaries, ranges, counts: dictionary.count((counter) => countGroups(counter, groups), known) };
}

/** What to fetch of the matches: columns of ids, to be added to counts that are known. */
interface FetchOrder {
  readonly matches: Matches;
  readonly columns: readonly string[];
  readonly known: ValueCounts | undefined;
}

/** Fetches ids and numbers of all matches and counts them in typed arrays, while another statement summarizes the numbers. */
async function countFetched(
  indexed: IndexedDay,
  { matches, columns, known }: FetchOrder,
  { numbers, rangesOf }: CountRequest,
): Promise<Counted> {
  const { context, engine } = indexed;
  const [parts, summaries] = await Promise.all([
    engine.vectors(idsStatement(matches, columns, numbers, context)),
    numbers.length === 0 ? new Map() : summarize(indexed, matches, numbers).then((found) => found.summaries),
  ]);
  const fetched = fetchedOf(parts, columns, numbers);
  const ranges = numbered(rangesOf(summaries));
  const counts = context.dictionary.count((counter) => countIds(counter, fetched, ranges), known);
  return { total: fetched.total, summaries, ranges, counts };
}

/** Returns the number of matches. */
export async function countMatches(indexed: IndexedDay, matches: Condition): Promise<number> {
  if (matches === "never") return 0;
  return matches === "always" ? indexed.count : (await summarize(indexed, matches, [])).total;
}

async function summarize(
  { context, engine }: IndexedDay,
  matches: Matches,
  numbers: readonly NumberName[],
): Promise<{ readonly total: number; readonly summaries: Summaries }> {
  const summaries = summariesOf(numbers, (attribute) => numberOn(attribute, context));
  const selected = join([sql`count(*)::INTEGER AS total`, ...summaries]);
  const [row] = await engine.rows(sql`SELECT ${selected} ${overMatches(matches, context)}`);
  return { total: integerIn(row, "total"), summaries: readSummaries(row, numbers) };
}

/** Returns `ListingSource.measureValues` of a day. */
export async function measureValues(indexed: IndexedDay, request: MeasureRequest): Promise<MeasureResult> {
  const { context, engine } = indexed;
  const { filters, attribute, measure, aggregate } = request;
  const { dictionary } = context;
  const matches = matchesOf(resolveFilters(filters, context), context);
  if (matches === "never") return { total: 0, values: [] };
  const list = listNames.find((one) => one === attribute);
  const of = (id: string): Sql =>
    sql`SELECT ${ident(attribute)} AS ${ident(id)}, ${numberOn(measure, context)} AS measure ${overMatches(matches, context)}`;
  const groups =
    list === undefined
      ? of("id")
      : sql`SELECT token AS id, measure FROM (${of("set")}) JOIN ${setsOf(context.catalog, list)} USING ("set")`;
  const rows = await engine.rows(sql`
    SELECT min(id) AS id, count(*)::INTEGER AS listings, count(measure)::INTEGER AS sample, ${metricOf(measure, aggregate, sql`measure`)} AS metric
    FROM   (${groups}) GROUP BY ${dictionary.spelledAlike(attribute, sql`id`)}`);
  const total =
    list !== undefined
      ? await countMatches(indexed, matches)
      : rows.reduce((sum, row) => sum + integerIn(row, "listings"), 0);
  return { total, values: chooseMeasured(dictionary, rows, request) };
}
