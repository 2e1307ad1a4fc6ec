/**
 * A search index: one table of integers, in which listings are searched, sorted and counted.
 *
 * The index of today answers for the published day by the ranks of its listings; totals over all of them take no statement. It and the other
 * indexes have the rows of past days and of sold listings (see `index-source.ts`).
 */
import { epochDay } from "../../base/day.ts";
import { integerIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import type { Engine } from "../../db/session-pool.ts";
import { all, ident, integerLiteral, type Sql, sql } from "../../db/sql.ts";
import type { CategoryName } from "../../listing/schema.ts";
import { gone, isNewest, isToday } from "./build.ts";
import { holdsBetween, type IndexContext, isSold } from "./conditions.ts";
import { Dealers } from "./dealers.ts";
import { Dictionary } from "./dictionary.ts";
import { type IndexSource, ranksStatement } from "./index-source.ts";
import { RankedPositions, TodaySource } from "./today.ts";

/** What is known of the rows of an index without a statement. */
interface KnownRows {
  readonly all: number;
  readonly today: number;
  readonly sold: number;
  /** The first day on which a row holds, as days since 1970. */
  readonly since: number;
  /** How many have ended before the published day. */
  readonly ended: number;
}

/** The condition on rows that hold on some day. */
const hasHeld = sql`valid_to > ${integerLiteral(gone.sold)}`;

export class SearchIndex {
  private constructor(
    private readonly base: Pick<IndexContext, "catalog" | "dictionary" | "dealers">,
    private readonly rows: KnownRows,
    private readonly positions: RankedPositions,
  ) {}

  /** Reads the dictionary of an index that is attached as a catalog. Needs the tables `dealers` and `build_ranks` of the version. */
  static async open(session: Session, catalog: string, engine: Engine): Promise<SearchIndex> {
    await session.run(ranksStatement(catalog));
    const dictionary = await Dictionary.read(session, catalog);
    const dealers = await Dealers.read(session, catalog);
    const row = await session.row(sql`
      SELECT count(*)::INTEGER AS "all", (count(*) FILTER (${isToday}))::INTEGER AS today, (count(*) FILTER (${isSold}))::INTEGER AS sold,
             coalesce(min(valid_from) FILTER (${hasHeld}), 0)::INTEGER AS since, (count(*) FILTER (${hasHeld} AND NOT ${isToday}))::INTEGER AS ended
      FROM   ${ident(catalog, "listings")}`);
    const rows = {
      all: integerIn(row, "all"),
      today: integerIn(row, "today"),
      sold: integerIn(row, "sold"),
      since: integerIn(row, "since"),
      ended: integerIn(row, "ended"),
    };
    return new SearchIndex({ catalog, dictionary, dealers }, rows, new RankedPositions(engine, catalog));
  }

  get catalog(): string {
    return this.base.catalog;
  }

  get dictionary(): Dictionary {
    return this.base.dictionary;
  }

  /** Whether all rows that hold on a day hold on the published day too. */
  get isOpenEnded(): boolean {
    return this.rows.ended === 0;
  }

  get since(): number {
    return this.rows.since;
  }

  has(attribute: CategoryName, value: string): boolean {
    const { dictionary } = this.base;
    return dictionary.idsOf(attribute, value).some((id) => dictionary.totalOf(id) > 0);
  }

  /** Returns the listings of the published day. */
  today(engine: Engine, fetchedMatches: number): IndexSource {
    const { all: rows, today } = this.rows;
    const context = { ...this.base, ...(rows === today ? {} : { condition: isToday }), rows: today, isToday: true };
    return new TodaySource({ contexts: [context], engine, count: today, fetchedMatches }, this.positions);
  }

  on(day: string): IndexContext {
    return { ...this.between(day, day), day: integerLiteral(epochDay(day)) };
  }

  between(first: string, last: string): IndexContext {
    const from = integerLiteral(epochDay(first));
    const to = integerLiteral(epochDay(last));
    return { ...this.base, condition: holdsBetween(from, to), rows: this.rows.all, isToday: false };
  }

  /** Returns the listings that satisfy all conditions as they were last observed. */
  newest(conditions: readonly Sql[]): IndexContext {
    return { ...this.base, condition: all([isNewest, ...conditions]), rows: this.rows.all, isToday: false };
  }

  get sold(): IndexContext {
    const { sold, all: rows } = this.rows;
    return { ...this.base, ...(rows === sold ? {} : { condition: isSold }), rows: sold, isToday: false };
  }
}
