/**
 * Search index of a month: searches, sorts and counts listings in one table of integers.
 *
 * The index of the published month answers for the published day: a page takes one short statement, or two at once if there are many matches.
 * What is known of all listings takes none. Every index answers for the other days of its month (see `past-listings.ts`).
 */
import { bounds } from "../../base/bounds.ts";
import { integerIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import type { Engine } from "../../db/session-pool.ts";
import { fileLiteral, ident, integerLiteral, type Sql, sql } from "../../db/sql.ts";
import type { CategoryName } from "../../listing/schema.ts";
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
} from "../../listing/source.ts";
import { rankOf, stillValid } from "./build.ts";
import { countMatches, countValues, type IndexedDay, measureValues } from "./count-matches.ts";
import { cutFilters } from "./cut.ts";
import { Dealers } from "./dealers.ts";
import { Dictionary } from "./dictionary.ts";
import { estimateMatches } from "./estimate.ts";
import { KeptPositions } from "./kept-positions.ts";
import { choosePage, type KeyedPart, pairsIn } from "./page.ts";
import { PastListings } from "./past-listings.ts";
import { type Condition, matchesOf, overMatches, type ResolvedFilter, resolveFilters } from "./where.ts";

/** A page fetches all matches if they are at most this share of those that facets fetch: fewer if the total is known without a statement. */
const pageShares = { counted: 0.2, known: 0.02 } as const;

/** How an index is opened. */
export interface IndexOptions {
  readonly path: string;
  readonly catalog: string;
  readonly engine: Engine;
  /** See `LakeVersionOptions.fetchedMatches`. */
  readonly fetchedMatches?: number | undefined;
}

export class SearchIndex implements ListingSource {
  private constructor(
    /** The listings of the published day. */
    private readonly today: IndexedDay,
    private readonly kept: KeptPositions,
  ) {}

  get count(): number {
    return this.today.count;
  }

  /** Returns this index with another engine for its statements, such as that of one job. */
  with(engine: Engine): SearchIndex {
    return new SearchIndex({ ...this.today, engine }, this.kept);
  }

  /** Returns the listings of a past day of the month, of which there are `count`. */
  on(day: string, count: number): ListingSource {
    return PastListings.on(day, { ...this.today, count });
  }

  /** Attaches an index file under the name of a catalog, and reads its dictionary. Needs the table `dealers` of the version. */
  static async attach(
    session: Session,
    { path, catalog, engine, fetchedMatches = bounds.fetchedMatches }: IndexOptions,
  ): Promise<SearchIndex> {
    await session.run(sql`ATTACH ${fileLiteral(path)} AS ${ident(catalog)} (READ_ONLY)`);
    const dictionary = await Dictionary.read(session, catalog);
    const dealers = await Dealers.read(session, catalog);
    const counts = await session.row(sql`
      SELECT count(*) FILTER (valid_to = ${integerLiteral(stillValid)})::INTEGER AS today, count(*)::INTEGER AS rows
      FROM   ${ident(catalog, "listings")}`);
    const [count, rows] = [integerIn(counts, "today"), integerIn(counts, "rows")];
    const context = { catalog, dictionary, dealers, hasPast: rows > count };
    return new SearchIndex({ count, context, engine, fetchedMatches }, new KeptPositions(engine, context));
  }

  /** Returns whether a listing of the published day has a value. */
  has(attribute: CategoryName, value: string): boolean {
    const { dictionary } = this.today.context;
    return dictionary.idsOf(attribute, value).some((id) => dictionary.totalOf(id) > 0);
  }

  async findPage({ filters, order, limit, offset }: PageRequest): Promise<PageResult> {
    const { context, count } = this.today;
    const resolved = resolveFilters(filters, context);
    const matches = matchesOf(resolved, context);
    if (matches === "never") return { total: 0, places: [] };
    const needed = offset + limit;
    if (matches === "always" && order.by === "sort" && needed <= bounds.firstListings) {
      return { total: count, places: (await this.kept.firstListingsIn(order.sort)).slice(offset, needed) };
    }
    const dealer = onlyDealerOf(resolved);
    if (dealer !== undefined && order.by === "sort" && order.sort === defaultSort)
      return (await this.kept.byDealer()).pageOf(dealer, offset, limit);
    const cut = await this.findInCut(resolved, matches, order, needed);
    const { total, parts } = cut ?? (await this.fetchAll(matches, order));
    return { total, places: choosePage(parts, offset, limit) };
  }

  /** Returns the total and the first `needed` matches or more; undefined if a cut saves nothing or contains too few. `matches` are the compiled filters. */
  private async findInCut(
    filters: readonly ResolvedFilter[],
    matches: Condition,
    order: PageOrder,
    needed: number,
  ): Promise<FoundKeys | undefined> {
    const { context, count, fetchedMatches } = this.today;
    const { expected, exact } = estimateMatches(filters, context, count);
    const pageShare = exact === undefined ? pageShares.counted : pageShares.known;
    if (expected <= fetchedMatches * pageShare) return undefined;
    const cut = cutFilters(filters, order, needed, { context, count, expected });
    if (cut === undefined) return undefined;
    const [total, { total: found, parts }] = await Promise.all([
      exact ?? countMatches(this.today, matches),
      this.fetchAll(matchesOf(cut, context), order),
    ]);
    return found >= Math.min(needed, total) ? { total, parts } : undefined;
  }

  /** Fetches the sort keys and positions of all matches. */
  private async fetchAll(matches: Condition, order: PageOrder): Promise<FoundKeys> {
    const { context, engine } = this.today;
    if (matches === "never") return { total: 0, parts: [] };
    const key: Sql = order.by === "sort" ? rankOf(order.sort) : sql`dealer`;
    const parts = pairsIn(await engine.vectors(sql`SELECT ${key}, position ${overMatches(matches, context)}`));
    return {
      total: parts.reduce((sum, [keys]) => sum + keys.length, 0),
      parts: order.by === "sort" ? parts : parts.map(byDistance(context.dealers.distancesFrom(order.origin))),
    };
  }

  countValues(request: CountRequest): Promise<CountResult> {
    return countValues(this.today, request);
  }

  measureValues(request: MeasureRequest): Promise<MeasureResult> {
    return measureValues(this.today, request);
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

const byDistance =
  (distanceOf: (dealer: number) => number) =>
  ([dealers, positions]: KeyedPart): KeyedPart => [dealers.map(distanceOf), positions];
