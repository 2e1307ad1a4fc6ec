/**
 * The search index of a version: its active listings, searched and counted by one table of integers.
 *
 * A request costs at most one short statement for a page, two for facets and one for a metric; none where the answer is known.
 */
import { bounds } from "../../base/bounds.ts";
import { integerIn, type Row } from "../../base/json.ts";
import { integerLiteral, join, name, Sql, sql } from "../../base/sql.ts";
import type { Session } from "../../lake/duckdb.ts";
import { metricOf, readSummaries, summariesOf } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import { type CountedName, listNames, type NumberName } from "../../listing/schema.ts";
import type { FixedSort } from "../../listing/sorts.ts";
import type {
  CountRequest,
  Counts,
  FoundPage,
  ListingSource,
  Measured,
  MeasureRequest,
  PageRequest,
  Summary,
  ValueCount,
} from "../../listing/source.ts";
import { rankOf, setsOf } from "./build.ts";
import {
  chooseMeasured,
  chooseValues,
  columnsFor,
  countGroups,
  countIds,
  fetchedMatchesMost,
  groupedStatement,
  idsStatement,
  type NumberedRanges,
  numbered,
  rangeCounts,
  totalId,
} from "./counting.ts";
import { Dealers } from "./dealers.ts";
import { Dictionary, type ValueCounts } from "./dictionary.ts";
import { choosePage, type KeyedPart } from "./page.ts";
import { type Condition, conditionOf, type Vocabulary } from "./where.ts";

/** How statements are run. */
export interface Engine {
  rows(query: Sql): Promise<readonly Row[]>;
  vectors(query: Sql): Promise<readonly (readonly Int32Array[])[]>;
}

const catalog = "search_index";

export class SearchIndex implements ListingSource {
  /** The positions of the first listings in a sort, once they have been asked for. */
  private readonly firsts = new Map<FixedSort, Promise<readonly number[]>>();
  private readonly listings = name(catalog, "listings");

  private constructor(
    readonly count: number,
    private readonly engine: Engine,
    private readonly vocabulary: Vocabulary,
  ) {}

  /** Reads what is kept in memory of an index that is attached as `search_index`, beside the table `dealers`. */
  static async open(session: Session, engine: Engine, isKnownValue: Vocabulary["isKnownValue"]): Promise<SearchIndex> {
    const dictionary = await Dictionary.read(session, catalog);
    const dealers = await Dealers.read(session, catalog);
    const count = integerIn(
      await session.row(sql`SELECT count(*)::INTEGER AS n FROM ${name(catalog, "listings")}`),
      "n",
    );
    return new SearchIndex(count, engine, { catalog, dictionary, dealers, isKnownValue });
  }

  async findPage({ filters, order, limit, offset }: PageRequest): Promise<FoundPage> {
    const condition = conditionOf(filters, this.vocabulary);
    if (condition === "never") return { total: 0, positions: [] };
    const isOfAll = condition === "always";
    if (isOfAll && order.by === "sort" && offset + limit <= bounds.firsts) {
      return { total: this.count, positions: (await this.firstsIn(order.sort)).slice(offset, offset + limit) };
    }
    const key = order.by === "sort" ? rankOf(order.sort) : sql`dealer`;
    const parts = pairsIn(await this.engine.vectors(sql`SELECT ${key}, position ${this.matches(condition)}`));
    const keyed =
      order.by === "sort" ? parts : parts.map(byDistance(this.vocabulary.dealers.distancesFrom(order.origin)));
    return { total: parts.reduce((sum, [keys]) => sum + keys.length, 0), positions: choosePage(keyed, offset, limit) };
  }

  async summarize(filters: readonly Filter[], numbers: readonly NumberName[]): Promise<Summary> {
    const condition = conditionOf(filters, this.vocabulary);
    if (condition === "never") return { total: 0, numbers: new Map() };
    const summaries = summariesOf(numbers, (attribute) => name(attribute));
    const [row] = await this.engine.rows(
      sql`SELECT ${join([sql`count(*)::INTEGER AS total`, ...summaries])} ${this.matches(condition)}`,
    );
    return { total: integerIn(row, "total"), numbers: readSummaries(row, numbers) };
  }

  async countValues({
    filters,
    attributes,
    ranges,
    limit,
    sort,
    matches = this.estimate(filters),
  }: CountRequest): Promise<Counts> {
    const { dictionary } = this.vocabulary;
    const condition = conditionOf(filters, this.vocabulary);
    const numberedRanges = numbered(ranges);
    const counts = await this.countsOf(condition, columnsFor(attributes), numberedRanges, matches);
    const values = attributes.map((attribute): readonly [CountedName, readonly ValueCount[]] => [
      attribute,
      chooseValues(dictionary, attribute, counts, { limit, sort }),
    ]);
    return {
      total: condition === "always" ? this.count : (counts[totalId] ?? 0),
      values: new Map(values),
      ranges: new Map(numberedRanges.map((one) => [one.attribute, rangeCounts(counts, one)])),
    };
  }

  /** How many matches have which value, and lie in which range, by id. The values of all listings are known. */
  private async countsOf(
    condition: Condition,
    columns: readonly string[],
    ranges: readonly NumberedRanges[],
    estimate: number,
  ): Promise<ValueCounts> {
    const { dictionary } = this.vocabulary;
    if (condition === "never") return dictionary.count(() => {});
    const [asked, known] = condition === "always" ? [[], dictionary.totals] : [columns, undefined];
    if (asked.length + ranges.length === 0) return dictionary.totals;
    const matches = this.matches(condition);
    if (estimate > fetchedMatchesMost) {
      const groups = pairsIn(await this.engine.vectors(groupedStatement(matches, asked, ranges)));
      return dictionary.count((counter) => countGroups(counter, groups), known);
    }
    const parts = await this.engine.vectors(idsStatement(matches, asked, ranges));
    return dictionary.count((counter) => countIds(counter, parts, asked, ranges), known);
  }

  async measureValues(request: MeasureRequest): Promise<Measured> {
    const { filters, attribute, measure, aggregate } = request;
    const { dictionary } = this.vocabulary;
    const condition = conditionOf(filters, this.vocabulary);
    if (condition === "never") return { total: 0, values: [] };
    const list = listNames.find((one) => one === attribute);
    const of = (id: string): Sql =>
      sql`SELECT ${name(attribute)} AS ${name(id)}, ${name(measure)} AS measure ${this.matches(condition)}`;
    const groups =
      list === undefined
        ? of("id")
        : sql`SELECT token AS id, measure FROM (${of("set")}) JOIN ${setsOf(catalog, list)} USING ("set")`;
    const rows = await this.engine.rows(sql`
      SELECT min(id) AS id, count(*)::INTEGER AS listings, count(measure)::INTEGER AS sample, ${metricOf(measure, aggregate, sql`measure`)} AS metric
      FROM   (${groups}) GROUP BY ${dictionary.spelledAlike(attribute, sql`id`)}`);
    const total =
      list !== undefined
        ? (await this.summarize(filters, [])).total
        : rows.reduce((sum, row) => sum + integerIn(row, "listings"), 0);
    return { total, values: chooseMeasured(dictionary, rows, request) };
  }

  private matches(condition: Exclude<Condition, "never">): Sql {
    return condition instanceof Sql ? sql`FROM ${this.listings} WHERE ${condition}` : sql`FROM ${this.listings}`;
  }

  private firstsIn(sort: FixedSort): Promise<readonly number[]> {
    const known = this.firsts.get(sort);
    if (known !== undefined) return known;
    const rank = rankOf(sort);
    const found = this.engine
      .vectors(sql`SELECT ${rank}, position FROM ${this.listings} WHERE ${rank} < ${integerLiteral(bounds.firsts)}`)
      .then((parts) => choosePage(pairsIn(parts), 0, bounds.firsts));
    this.firsts.set(sort, found);
    found.catch(() => this.firsts.delete(sort));
    return found;
  }

  /** At most so many listings match, as far as counts of single values tell. */
  private estimate(filters: readonly Filter[]): number {
    const { dictionary } = this.vocabulary;
    return Math.min(
      this.count,
      ...filters.map((filter) =>
        filter.kind === "anyOf" && filter.attribute !== "dealer_id"
          ? filter.values
              .flatMap((value) => dictionary.idsOf(filter.attribute, value))
              .reduce((sum, id) => sum + (dictionary.totals[id] ?? 0), 0)
          : this.count,
      ),
    );
  }
}

/** The two columns of each part of an answer. */
const pairsIn = (parts: readonly (readonly Int32Array[])[]): readonly KeyedPart[] =>
  parts.map(([keys = new Int32Array(), positions = new Int32Array()]) => [keys, positions]);

const byDistance =
  (distanceOf: (dealer: number) => number) =>
  ([dealers, positions]: KeyedPart): KeyedPart => [dealers.map(distanceOf), positions];
