/**
 * Search index: searches, sorts and counts listings in one table of integers.
 *
 * A page takes one short statement, or two at once if there are many matches; facets take one, and statistics another: at once for up to
 * 100,000 matches, else one after the other. A metric takes one. What is known of all listings takes none.
 */
import { bounds } from "../../base/bounds.ts";
import { integerIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import type { Engine } from "../../db/session-pool.ts";
import { fileLiteral, ident, join, type Sql, sql } from "../../db/sql.ts";
import { metricOf, readSummaries, summariesOf } from "../../listing/aggregates.ts";
import { type CategoryName, type CountedName, listNames, type NumberName } from "../../listing/schema.ts";
import { defaultSort } from "../../listing/sorts.ts";
import type {
  CountRequest,
  CountResult,
  ListingSource,
  MeasureRequest,
  MeasureResult,
  PageOrder,
  PageRequest,
  PageResult,
  Summaries,
  ValueCount,
} from "../../listing/source.ts";
import { rankOf, setsOf } from "./build.ts";
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
import { cutFilters } from "./cut.ts";
import { Dealers } from "./dealers.ts";
import { Dictionary, type ValueCounts } from "./dictionary.ts";
import { estimateMatches } from "./estimate.ts";
import { KeptPositions } from "./kept-positions.ts";
import { choosePage, type KeyedPart, pairsIn } from "./page.ts";
import {
  type Condition,
  type IndexContext,
  listingsOf,
  matchesOf,
  type ResolvedFilter,
  resolveFilters,
} from "./where.ts";

/** A page fetches all matches if they are at most this share of those that facets fetch: fewer if the total is known without a statement. */
const pageShares = { counted: 0.2, known: 0.02 } as const;

/** How an index is opened. */
export interface IndexOptions extends Pick<IndexContext, "catalog"> {
  readonly path: string;
  readonly engine: Engine;
  /** See `LakeVersionOptions.fetchedMatches`. */
  readonly fetchedMatches?: number | undefined;
}

/** What all requests to an index share. */
interface SharedIndex {
  readonly count: number;
  readonly context: IndexContext;
  readonly fetchedMatches: number;
  readonly kept: KeptPositions;
}

export class SearchIndex implements ListingSource {
  private constructor(
    private readonly shared: SharedIndex,
    private readonly engine: Engine,
  ) {}

  get count(): number {
    return this.shared.count;
  }

  private get context(): IndexContext {
    return this.shared.context;
  }

  private get fetchedMatches(): number {
    return this.shared.fetchedMatches;
  }

  /** Returns this index with another engine for its statements, such as that of one job. */
  with(engine: Engine): SearchIndex {
    return new SearchIndex(this.shared, engine);
  }

  /** Attaches an index file under the name of a catalog, and reads its dictionary. Needs the table `dealers` of the version. */
  static async attach(
    session: Session,
    { path, catalog, engine, fetchedMatches = bounds.fetchedMatches }: IndexOptions,
  ): Promise<SearchIndex> {
    await session.run(sql`ATTACH ${fileLiteral(path)} AS ${ident(catalog)} (READ_ONLY)`);
    const dictionary = await Dictionary.read(session, catalog);
    const dealers = await Dealers.read(session, catalog);
    const count = integerIn(
      await session.row(sql`SELECT count(*)::INTEGER AS n FROM ${ident(catalog, "listings")}`),
      "n",
    );
    const context = { catalog, dictionary, dealers };
    return new SearchIndex({ count, context, fetchedMatches, kept: new KeptPositions(engine, context) }, engine);
  }

  /** Returns whether a listing of the index has a value. */
  has(attribute: CategoryName, value: string): boolean {
    return this.context.dictionary.idsOf(attribute, value).length > 0;
  }

  async findPage({ filters, order, limit, offset }: PageRequest): Promise<PageResult> {
    const resolved = resolveFilters(filters, this.context);
    const matches = matchesOf(resolved, this.context);
    if (matches === "never") return { total: 0, positions: [] };
    const needed = offset + limit;
    if (matches === "always" && order.by === "sort" && needed <= bounds.firstListings) {
      return {
        total: this.count,
        positions: (await this.shared.kept.firstListingsIn(order.sort)).slice(offset, needed),
      };
    }
    const dealer = onlyDealerOf(resolved);
    if (dealer !== undefined && order.by === "sort" && order.sort === defaultSort)
      return (await this.shared.kept.byDealer()).pageOf(dealer, offset, limit);
    const cut = await this.findInCut(resolved, matches, order, needed);
    const { total, parts } = cut ?? (await this.fetchAll(matches, order));
    return { total, positions: choosePage(parts, offset, limit) };
  }

  /** Returns the total and the first `needed` matches or more; undefined if a cut saves nothing or contains too few. `matches` are the compiled filters. */
  private async findInCut(
    filters: readonly ResolvedFilter[],
    matches: Condition,
    order: PageOrder,
    needed: number,
  ): Promise<FoundKeys | undefined> {
    const { expected, exact } = estimateMatches(filters, this.context, this.count);
    const pageShare = exact === undefined ? pageShares.counted : pageShares.known;
    if (expected <= this.fetchedMatches * pageShare) return undefined;
    const cut = cutFilters(filters, order, needed, { context: this.context, count: this.count, expected });
    if (cut === undefined) return undefined;
    const [total, { total: found, parts }] = await Promise.all([
      exact ?? this.countMatches(matches),
      this.fetchAll(matchesOf(cut, this.context), order),
    ]);
    return found >= Math.min(needed, total) ? { total, parts } : undefined;
  }

  /** Fetches the sort keys and positions of all matches. */
  private async fetchAll(matches: Condition, order: PageOrder): Promise<FoundKeys> {
    if (matches === "never") return { total: 0, parts: [] };
    const key = order.by === "sort" ? rankOf(order.sort) : sql`dealer`;
    const parts = pairsIn(await this.engine.vectors(sql`SELECT ${key}, position ${this.fromOf(matches)}`));
    return {
      total: parts.reduce((sum, [keys]) => sum + keys.length, 0),
      parts: order.by === "sort" ? parts : parts.map(byDistance(this.context.dealers.distancesFrom(order.origin))),
    };
  }

  private async countMatches(matches: Condition): Promise<number> {
    if (matches === "never") return 0;
    return matches === "always" ? this.count : (await this.summarize(matches, [])).total;
  }

  async countValues(request: CountRequest): Promise<CountResult> {
    const { filters, attributes, numbers, limit, sort } = request;
    const { dictionary } = this.context;
    const resolved = resolveFilters(filters, this.context);
    const { most } = estimateMatches(resolved, this.context, this.count);
    const found = await this.countIn(matchesOf(resolved, this.context), request, most);
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

  /** Counts matches by id: fetches a moderate number, lets the engine summarize and group more. The counts of all listings are known. */
  private async countIn(matches: Condition, request: CountRequest, mostMatches: number): Promise<Counted> {
    const { dictionary } = this.context;
    const { attributes, numbers, rangesOf } = request;
    const nothing = { summaries: new Map(), ranges: [] };
    if (matches === "never") return { ...nothing, total: 0, counts: dictionary.count(() => {}) };
    const isOfAll = matches === "always";
    if (isOfAll && numbers.length === 0) return { ...nothing, total: this.count, counts: dictionary.totals };
    const [columns, known] = isOfAll ? [[], dictionary.totals] : [columnsFor(attributes), undefined];
    const from = this.fromOf(matches);
    if (mostMatches <= this.fetchedMatches) return this.countFetched(from, columns, request, known);
    const { total, summaries } = await this.summarize(from, numbers);
    if (total <= this.fetchedMatches) return this.countFetched(from, columns, request, known);
    const ranges = numbered(rangesOf(summaries));
    if (columns.length + ranges.length === 0)
      return { total, summaries, ranges, counts: dictionary.count(() => {}, known) };
    const groups = pairsIn(await this.engine.vectors(groupedStatement(from, columns, ranges)));
    return { total, summaries, ranges, counts: dictionary.count((counter) => countGroups(counter, groups), known) };
  }

  /** Fetches ids and numbers of all matches and counts them in typed arrays, while another statement summarizes the numbers. */
  private async countFetched(
    from: Sql,
    columns: readonly string[],
    { numbers, rangesOf }: CountRequest,
    known: ValueCounts | undefined,
  ): Promise<Counted> {
    const [parts, summaries] = await Promise.all([
      this.engine.vectors(idsStatement(from, columns, numbers)),
      numbers.length === 0 ? new Map() : this.summarize(from, numbers).then((found) => found.summaries),
    ]);
    const fetched = fetchedOf(parts, columns, numbers);
    const ranges = numbered(rangesOf(summaries));
    const counts = this.context.dictionary.count((counter) => countIds(counter, fetched, ranges), known);
    return { total: fetched.total, summaries, ranges, counts };
  }

  private async summarize(
    from: Sql,
    numbers: readonly NumberName[],
  ): Promise<{ readonly total: number; readonly summaries: Summaries }> {
    const summaries = summariesOf(numbers, (attribute) => ident(attribute));
    const [row] = await this.engine.rows(sql`SELECT ${join([sql`count(*)::INTEGER AS total`, ...summaries])} ${from}`);
    return { total: integerIn(row, "total"), summaries: readSummaries(row, numbers) };
  }

  async measureValues(request: MeasureRequest): Promise<MeasureResult> {
    const { filters, attribute, measure, aggregate } = request;
    const { dictionary } = this.context;
    const matches = matchesOf(resolveFilters(filters, this.context), this.context);
    if (matches === "never") return { total: 0, values: [] };
    const list = listNames.find((one) => one === attribute);
    const of = (id: string): Sql =>
      sql`SELECT ${ident(attribute)} AS ${ident(id)}, ${ident(measure)} AS measure ${this.fromOf(matches)}`;
    const groups =
      list === undefined
        ? of("id")
        : sql`SELECT token AS id, measure FROM (${of("set")}) JOIN ${setsOf(this.context.catalog, list)} USING ("set")`;
    const rows = await this.engine.rows(sql`
      SELECT min(id) AS id, count(*)::INTEGER AS listings, count(measure)::INTEGER AS sample, ${metricOf(measure, aggregate, sql`measure`)} AS metric
      FROM   (${groups}) GROUP BY ${dictionary.spelledAlike(attribute, sql`id`)}`);
    const total =
      list !== undefined
        ? await this.countMatches(matches)
        : rows.reduce((sum, row) => sum + integerIn(row, "listings"), 0);
    return { total, values: chooseMeasured(dictionary, rows, request) };
  }

  private fromOf(matches: Exclude<Condition, "never">): Sql {
    return matches === "always" ? sql`FROM ${listingsOf(this.context.catalog)}` : matches;
  }
}

/** Returns the composite id of a dealer if the filters accept all its listings and no others. */
function onlyDealerOf([first, ...others]: readonly ResolvedFilter[]): number | undefined {
  if (others.length > 0 || first?.kind !== "amongIds" || first.column !== "dealer") return undefined;
  return first.among.length === 1 ? first.among[0] : undefined;
}

/** The total, and sort keys and positions of all matches or of the first ones. */
interface FoundKeys {
  readonly total: number;
  readonly parts: readonly KeyedPart[];
}

/** The result of counting, by id. */
interface Counted {
  readonly total: number;
  readonly summaries: Summaries;
  readonly ranges: readonly NumberedRanges[];
  readonly counts: ValueCounts;
}

const byDistance =
  (distanceOf: (dealer: number) => number) =>
  ([dealers, positions]: KeyedPart): KeyedPart => [dealers.map(distanceOf), positions];
